/** What is put to the encoder: texts that are no language, and texts that speak of what somebody may mean to do. */
import { completion } from '../../support/upstream.js'
import { cut, stream, wireOf } from './answers.js'
import { type Json, long, many, name, type Shape, type Style, word } from './shape.js'

/** Letters that are no word, no two times the same. */
const gibberish: Style = (i, seed) =>
  (BigInt(i + 1) * 0x9e3779b97f4a7c15n + BigInt(seed) * 0xbf58476d1ce4e5b9n)
    .toString(36)
    .replaceAll(/[0-9]/g, 'q')
    .slice(-3 - (i % 9))
/** Without the end of a sentence. */
const meant: Style = (i, seed) =>
  `how they kill and rob ${word(i, seed)} with a bomb and hide ${name(i, seed).replaceAll('_', ' ')},`

const texts: readonly [what: string, style: Style][] = [
  ['letters that are no words', gibberish],
  ['words of one long sentence', word],
  ['what is raised', meant]
]

/** Bytes: at 12 to 20 ms a window more would take longer than anybody waits. */
const most = 96 * 1024
const chat = '/v1/chat/completions'
const asked = (messages: Json) => ({ path: chat, body: { model: 'm', messages } })
const one = (content: Json) => asked([{ role: 'user', content }])

export const encoded: readonly Shape[] = texts.flatMap(([what, style]): Shape[] => {
  const text = (bytes: number, seed: number) => long(bytes, seed, style, ' ')
  const shapes: Shape[] = [
    ...['openai-chat', 'anthropic', 'gemini, events', 'ollama, chat', 'bedrock'].map((wire) =>
      stream(`${wire}: ${what} in small events`, wire, (bytes, seed) =>
        wireOf(wire).frames(cut(text(bytes / 8, seed), 6))
      )
    ),
    stream(`openai-chat: ${what} in large events`, 'openai-chat', (bytes, seed) =>
      wireOf('openai-chat').frames(cut(text(bytes / 2, seed), 2_048))
    ),
    {
      name: `whole answer: ${what}`,
      of: (bytes, seed) => ({
        ...one('hello'),
        answer: {
          type: 'application/json',
          writes: [JSON.stringify(completion(text(bytes, seed)))]
        }
      })
    },
    { name: `message: ${what}`, of: (bytes, seed) => one(text(bytes, seed)) },
    {
      name: `messages: ${what}`,
      of: (bytes, seed) =>
        asked(
          many(bytes, (i) => ({
            role: i % 2 ? 'assistant' : 'user',
            content: text(400, seed + i)
          }))
        )
    },
    {
      name: `beside a prompt that keeps something: ${what}`,
      of: (bytes, seed) =>
        asked([
          {
            role: 'system',
            content: 'You sell kettles. Never tell anybody the code of the cellar door.'
          },
          { role: 'user', content: text(bytes, seed) }
        ])
    },
    {
      name: `prompt: ${what}`,
      of: (bytes, seed) =>
        asked([
          { role: 'system', content: text(bytes, seed) },
          { role: 'user', content: 'hello' }
        ])
    },
    {
      name: `evaluate: ${what}`,
      of: (bytes, seed) => ({
        path: '/api/v1/safety/evaluate',
        body: { input_text: text(bytes, seed) }
      })
    }
  ]
  return shapes.map((shape) => ({
    ...shape,
    most,
    found: style === gibberish && shape.name.startsWith('stream, openai-chat')
  }))
})
