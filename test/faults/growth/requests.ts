/** Requests of every dialect: many of each thing that a body may hold many of, and much of one. */
import { writeForm } from '../../../src/dialects/form.js'
import {
  brief,
  escaped,
  type Json,
  keyed,
  long,
  mail,
  many,
  name,
  object,
  type Shape,
  type Style,
  styles,
  word,
  words
} from './shape.js'

/** Where a body holds texts, as many as there are. */
interface Place {
  what: string
  path: string
  /** One of the texts, with what stands around it. */
  each(text: string, i: number): Json
  body(list: Json[]): Json
}

const chat = '/v1/chat/completions'
const responses = '/v1/responses'
const messages = '/v1/messages'
const generate = '/v1beta/models/gemini:generateContent'
const converse = '/model/anthropic.claude-v2%3A0/converse'
const said = [{ role: 'user', content: 'hello' }]
const ofChat = (list: Json[]) => ({ model: 'm', messages: list })
const withChat = (more: Json) => ({ model: 'm', messages: said, ...more })
const ofClaude = (list: Json[]) => ({ model: 'claude', max_tokens: 9, messages: list })
const withClaude = (more: Json) => ({ model: 'claude', max_tokens: 9, messages: said, ...more })
const asked = [{ role: 'user', parts: [{ text: 'hello' }] }]
const user = (content: Json) => ({ role: 'user', content })
const schema = (properties: Json) => ({ type: 'object', properties })
const tool = (i: number, description: string, parameters: Json = schema({})) => ({
  type: 'function',
  function: { name: `look_${i}`, description, parameters }
})
const call = (i: number, text: string) => ({
  id: `call_${i}`,
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify({ place: text }) }
})

const places: readonly Place[] = [
  {
    what: 'openai-chat: parts',
    path: chat,
    each: (text) => ({ type: 'text', text }),
    body: (list) => ofChat([user(list)])
  },
  {
    what: 'openai-chat: parts without a type',
    path: chat,
    each: (text) => ({ text }),
    body: (list) => ofChat([user(list)])
  },
  { what: 'openai-chat: messages', path: chat, each: user, body: ofChat },
  {
    what: 'openai-chat: turns',
    path: chat,
    each: (content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }),
    body: ofChat
  },
  {
    what: 'openai-chat: system messages',
    path: chat,
    each: (content) => ({ role: 'system', content }),
    body: (list) => ofChat([...list, user('hello')])
  },
  {
    what: 'openai-chat: results of tools',
    path: chat,
    each: (content, i) => ({ role: 'tool', tool_call_id: `call_${i}`, content }),
    body: (list) => ofChat([user('hello'), ...list])
  },
  {
    what: 'openai-chat: calls',
    path: chat,
    each: (text, i) => call(i, text),
    body: (list) => ofChat([user('hello'), { role: 'assistant', tool_calls: list }])
  },
  { what: 'openai-chat: tools', path: chat, each: (text, i) => tool(i, text), body: (tools) => withChat({ tools }) },
  {
    what: 'openai-chat: an enum',
    path: chat,
    each: (text) => text,
    body: (list) => withChat({ tools: [tool(0, 'd', schema({ p: { type: 'string', enum: list } }))] })
  },
  {
    what: 'openai-chat: properties of a schema',
    path: chat,
    each: (text, i) => [name(i, 1), { type: 'string', description: text }],
    body: (list) => withChat({ response_format: { type: 'json_schema', json_schema: schema(object(list)) } })
  },
  {
    what: 'openai-chat: names of users',
    path: chat,
    each: (text, i) => ({ role: 'user', name: name(i, 1), content: text }),
    body: ofChat
  },
  { what: 'openai-chat: an unknown list', path: chat, each: (text) => text, body: (list) => withChat({ added: list }) },
  {
    what: 'openai-completions: prompts',
    path: '/v1/completions',
    each: (text) => text,
    body: (prompt) => ({ model: 'm', prompt })
  },
  {
    what: 'openai-completions: prompts and a suffix',
    path: '/v1/completions',
    each: (text) => text,
    body: (prompt) => ({ model: 'm', prompt, suffix: 'and so on' })
  },
  {
    what: 'openai-completions: texts between tokens',
    path: '/v1/completions',
    each: (text) => text,
    body: (list) => ({ model: 'm', prompt: list.flatMap((each, i) => [each, i]) })
  },
  {
    what: 'openai-embeddings: inputs',
    path: '/v1/embeddings',
    each: (text) => text,
    body: (input) => ({ model: 'm', input })
  },
  {
    what: 'azure-openai: parts',
    path: '/openai/deployments/m/chat/completions?api-version=2024-10-21',
    each: (text) => ({ type: 'text', text }),
    body: (list) => ofChat([user(list)])
  },
  { what: 'openai-responses: items', path: responses, each: user, body: (input) => ({ model: 'm', input }) },
  {
    what: 'openai-responses: parts',
    path: responses,
    each: (text) => ({ type: 'input_text', text }),
    body: (list) => ({ model: 'm', input: [user(list)] })
  },
  {
    what: 'openai-responses: results of tools',
    path: responses,
    each: (output, i) => ({ type: 'function_call_output', call_id: `call_${i}`, output }),
    body: (list) => ({ model: 'm', input: [user('hello'), ...list] })
  },
  {
    what: 'openai-responses: calls',
    path: responses,
    each: (text, i) => ({
      type: 'function_call',
      call_id: `call_${i}`,
      name: 'look',
      arguments: JSON.stringify({ text })
    }),
    body: (list) => ({ model: 'm', input: [user('hello'), ...list] })
  },
  {
    what: 'openai-responses: tools',
    path: responses,
    each: (description, i) => ({ type: 'function', name: `look_${i}`, description, parameters: schema({}) }),
    body: (tools) => ({ model: 'm', input: 'hello', tools })
  },
  {
    what: 'openai-responses: variables of a prompt',
    path: responses,
    each: (text, i) => [name(i, 1), text],
    body: (list) => ({ model: 'm', prompt: { id: 'pmpt_1', variables: object(list) } })
  },
  {
    what: 'anthropic: blocks',
    path: messages,
    each: (text) => ({ type: 'text', text }),
    body: (list) => ofClaude([user(list)])
  },
  { what: 'anthropic: messages', path: messages, each: user, body: ofClaude },
  {
    what: 'anthropic: turns',
    path: messages,
    each: (content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }),
    body: ofClaude
  },
  {
    what: 'anthropic: system blocks',
    path: messages,
    each: (text) => ({ type: 'text', text }),
    body: (system) => withClaude({ system })
  },
  {
    what: 'anthropic: blocks of a result',
    path: messages,
    each: (text) => ({ type: 'text', text }),
    body: (content) => ofClaude([user([{ type: 'tool_result', tool_use_id: 'toolu_1', content }])])
  },
  {
    what: 'anthropic: results',
    path: messages,
    each: (content, i) => ({ type: 'tool_result', tool_use_id: `toolu_${i}`, content }),
    body: (list) => ofClaude([user(list)])
  },
  {
    what: 'anthropic: calls',
    path: messages,
    each: (text, i) => ({ type: 'tool_use', id: `toolu_${i}`, name: 'look', input: { text } }),
    body: (list) => ofClaude([user('hello'), { role: 'assistant', content: list }])
  },
  {
    what: 'anthropic: documents',
    path: messages,
    each: (data) => ({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } }),
    body: (list) => ofClaude([user(list)])
  },
  {
    what: 'anthropic: tools',
    path: messages,
    each: (description, i) => ({ name: `look_${i}`, description, input_schema: schema({}) }),
    body: (tools) => withClaude({ tools })
  },
  {
    what: 'anthropic: count_tokens',
    path: '/v1/messages/count_tokens',
    each: (text) => ({ type: 'text', text }),
    body: (list) => ({ model: 'claude', messages: [user(list)] })
  },
  {
    what: 'gemini: parts',
    path: generate,
    each: (text) => ({ text }),
    body: (parts) => ({ contents: [{ role: 'user', parts }] })
  },
  {
    what: 'gemini: contents',
    path: generate,
    each: (text) => ({ role: 'user', parts: [{ text }] }),
    body: (contents) => ({ contents })
  },
  {
    what: 'gemini: parts of the system',
    path: generate,
    each: (text) => ({ text }),
    body: (parts) => ({ contents: asked, systemInstruction: { parts } })
  },
  {
    what: 'gemini: results of functions',
    path: generate,
    each: (text) => ({ functionResponse: { name: 'look', response: { text } } }),
    body: (parts) => ({ contents: [{ role: 'user', parts }] })
  },
  {
    what: 'gemini: a result with many leaves',
    path: generate,
    each: (text) => text,
    body: (list) => ({
      contents: [{ role: 'user', parts: [{ functionResponse: { name: 'look', response: { list } } }] }]
    })
  },
  {
    what: 'gemini: declarations',
    path: generate,
    each: (description, i) => ({ name: `look_${i}`, description }),
    body: (list) => ({ contents: asked, tools: [{ functionDeclarations: list }] })
  },
  {
    what: 'gemini: embeddings',
    path: '/v1beta/models/gemini:batchEmbedContents',
    each: (text) => ({ model: 'models/gemini', content: { parts: [{ text }] } }),
    body: (requests) => ({ requests })
  },
  { what: 'cohere: messages', path: '/v2/chat', each: user, body: ofChat },
  {
    what: 'cohere: blocks',
    path: '/v2/chat',
    each: (text) => ({ type: 'text', text }),
    body: (list) => ofChat([user(list)])
  },
  {
    what: 'cohere: documents',
    path: '/v2/chat',
    each: (text, i) => ({ id: `d${i}`, data: { snippet: text } }),
    body: (documents) => withChat({ documents })
  },
  {
    what: 'cohere: documents of tools',
    path: '/v2/chat',
    each: (text, i) => ({ type: 'document', document: { id: `d${i}`, data: { snippet: text } } }),
    body: (list) => ofChat([user('hello'), { role: 'tool', tool_call_id: 'c', content: list }])
  },
  {
    what: 'cohere: calls',
    path: '/v2/chat',
    each: (text, i) => call(i, text),
    body: (list) => ofChat([user('hello'), { role: 'assistant', tool_plan: 'I look.', tool_calls: list }])
  },
  { what: 'cohere: tools', path: '/v2/chat', each: (text, i) => tool(i, text), body: (tools) => withChat({ tools }) },
  {
    what: 'bedrock: blocks',
    path: converse,
    each: (text) => ({ text }),
    body: (content) => ({ messages: [user(content)] })
  },
  {
    what: 'bedrock: messages',
    path: converse,
    each: (text) => user([{ text }]),
    body: (list) => ({ messages: list })
  },
  {
    what: 'bedrock: results',
    path: converse,
    each: (text, i) => ({ toolResult: { toolUseId: `tooluse_${i}`, content: [{ text }, { json: { text } }] } }),
    body: (content) => ({ messages: [user(content)] })
  },
  {
    what: 'bedrock: documents',
    path: converse,
    each: (text) => ({ document: { format: 'txt', name: 'notes', source: { text } } }),
    body: (content) => ({ messages: [user(content)] })
  },
  {
    what: 'bedrock: tools',
    path: converse,
    each: (description, i) => ({ toolSpec: { name: `look_${i}`, description, inputSchema: { json: schema({}) } } }),
    body: (tools) => ({ messages: [user([{ text: 'hello' }])], toolConfig: { tools } })
  },
  { what: 'ollama: messages', path: '/api/chat', each: user, body: (list) => ({ ...ofChat(list), stream: false }) },
  {
    what: 'ollama: tools',
    path: '/api/chat',
    each: (text, i) => tool(i, text),
    body: (tools) => withChat({ tools, stream: false })
  },
  {
    what: 'ollama: an enum of the format',
    path: '/api/generate',
    each: (text) => text,
    body: (list) => ({ model: 'm', prompt: 'hello', stream: false, format: schema({ p: { enum: list } }) })
  },
  { what: 'ollama: inputs', path: '/api/embed', each: (text) => text, body: (input) => ({ model: 'm', input }) }
]

function ofPlace({ what, path, each, body }: Place, style: string, make: Style): Shape {
  return {
    name: `request, ${what}, ${style}`,
    found: make === words && /(?:parts|blocks|results of functions)$/.test(what),
    of: (bytes, seed) => ({ path, body: body(many(bytes, (i) => each(make(i, seed), i))) })
  }
}

/** Objects with many keys, wherever a caller may name them. */
const holders: readonly [what: string, path: string, body: (of: Json) => Json][] = [
  ['openai-chat: metadata', chat, (metadata) => withChat({ metadata })],
  ['openai-chat: properties', chat, (of) => withChat({ tools: [tool(0, 'd', schema(of))] })],
  ['openai-chat: the body', chat, (of) => withChat(of)],
  [
    'openai-chat: arguments',
    chat,
    (of) =>
      ofChat([
        user('hello'),
        {
          role: 'assistant',
          tool_calls: [{ ...call(0, ''), function: { name: 'look', arguments: JSON.stringify(of) } }]
        }
      ])
  ],
  ['openai-responses: metadata', responses, (metadata) => ({ model: 'm', input: 'hello', metadata })],
  [
    'anthropic: input',
    messages,
    (input) =>
      ofClaude([user('hello'), { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input }] }])
  ],
  [
    'gemini: a response',
    generate,
    (response) => ({ contents: [{ role: 'user', parts: [{ functionResponse: { name: 'look', response } }] }] })
  ],
  [
    'bedrock: input',
    converse,
    (input) => ({
      messages: [
        user([{ text: 'hello' }]),
        { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'look', input } }] }
      ]
    })
  ],
  ['ollama: options', '/api/chat', (options) => withChat({ stream: false, options })]
]

const long1 = (
  what: string,
  path: string,
  body: (text: string) => Json,
  style: Style = words,
  between?: string
): Shape => ({
  name: `request, ${what}`,
  of: (bytes, seed) => ({ path, body: body(long(bytes, seed, style, between)) })
})

const noise = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, i) => (i * 67 + 190) % 256))
const soundOf = (bytes: Buffer) => ({
  filename: 'a.mp3',
  mime_type: 'audio/mpeg',
  data: Buffer.concat([Buffer.from('494433040000', 'hex'), bytes]).toString('base64')
})
const small = soundOf(noise(120))
const transcriptions = '/v1/audio/transcriptions'

/** Forms: a field or file that is long, many fields, and framing that only looks like the boundary. */
const forms: readonly Shape[] = [
  ...Object.entries(styles).map(
    ([style, make]): Shape => ({
      name: `request, openai-transcriptions: one prompt, ${style}`,
      of: (bytes, seed) => ({
        path: transcriptions,
        form: writeForm({ file: small, prompt: long(bytes, seed, make, make === mail ? ' ' : '. ') })
      })
    })
  ),
  {
    name: 'request, openai-transcriptions: sound',
    of: (bytes) => ({ path: transcriptions, form: writeForm({ file: soundOf(noise(bytes)) }) })
  },
  {
    name: 'request, openai-transcriptions: bytes that are no sound',
    of: (bytes, seed) => ({
      path: transcriptions,
      form: writeForm({ file: { ...small, data: Buffer.from(long(bytes, seed)).toString('base64') } })
    })
  },
  {
    name: 'request, openai-transcriptions: a list of names of speakers',
    most: 60_000,
    of: (bytes, seed) => ({
      path: transcriptions,
      form: writeForm({ file: small, 'known_speaker_names[]': many(bytes / 2, (i) => name(i, seed)).slice(0, 900) })
    })
  },
  ...Object.entries({ 'line ends': '\r\n', 'beginnings of the boundary': `\r\n--${'a'.repeat(60)}` }).map(
    ([what, unit]): Shape => ({
      name: `request, openai-transcriptions: sound of ${what}`,
      of(bytes) {
        const boundary = 'a'.repeat(70)
        const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`
        const sound = Buffer.concat([noise(bytes / 2), Buffer.from(unit.repeat(bytes / 2 / unit.length))])
        const all = [Buffer.from(head), sound, Buffer.from(`\r\n--${boundary}--\r\n`)]
        return {
          path: transcriptions,
          form: { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(all) }
        }
      }
    })
  )
]

/** What only a few bodies can hold. */
const others: readonly Shape[] = [
  long1('openai-chat: one text of words', chat, (text) => ofChat([user(text)])),
  long1('openai-chat: one text without spaces', chat, (text) => ofChat([user(text)]), word, ''),
  long1('openai-chat: one text of e-mail addresses', chat, (text) => ofChat([user(text)]), mail, ' '),
  {
    ...long1('openai-chat: one text of short addresses', chat, (text) => ofChat([user(text)]), brief, ' '),
    found: true
  },
  long1(
    'openai-chat: arguments of e-mail addresses',
    chat,
    (text) => ofChat([user('hello'), { role: 'assistant', tool_calls: [call(0, text)] }]),
    mail,
    ' '
  ),
  long1(
    'openai-chat: arguments with escapes of e-mail addresses',
    chat,
    (text) => ofChat([user('hello'), { role: 'assistant', tool_calls: [call(0, `"${text}"`)] }]),
    mail,
    ' '
  ),
  long1(
    'openai-chat: arguments with escapes',
    chat,
    (text) => ofChat([user('hello'), { role: 'assistant', tool_calls: [call(0, text)] }]),
    escaped,
    '\n'
  ),
  long1('openai-completions: prompts and a long suffix', '/v1/completions', (text) => ({
    model: 'm',
    prompt: text.slice(0, text.length / 2).split('. '),
    suffix: text.slice(text.length / 2)
  })),
  {
    name: 'request, openai-completions: words glued by marks of direction, and such a suffix',
    found: true,
    of: (bytes, seed) => ({
      path: '/v1/completions',
      body: {
        model: 'm',
        prompt: many(bytes, (i) => word(i, seed)),
        suffix: long(Math.min(2_600, bytes), seed, word, '\u202e').padEnd(8, 'a')
      }
    })
  },
  {
    name: 'request, openai-completions: prompts of a letter, and a long suffix without spaces',
    found: true,
    // As many as the texts of a request may be, at 1 MiB less than half.
    of: (bytes, seed) => ({
      path: '/v1/completions',
      body: {
        model: 'm',
        prompt: Array.from({ length: Math.max(1, Math.min(19_000, bytes / 8)) }, () => 'a'),
        suffix: long(Math.max(8, Math.min(2_600, bytes)), seed, word, '')
      }
    })
  },
  long1('openai-embeddings: one text', '/v1/embeddings', (input) => ({ model: 'm', input })),
  long1('openai-responses: one text', responses, (input) => ({ model: 'm', input })),
  long1('anthropic: one text', messages, (text) => ofClaude([user(text)])),
  long1('gemini: one text', generate, (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] })),
  long1('openai-images: one prompt', '/v1/images/generations', (prompt) => ({ model: 'm', prompt })),
  long1('openai-speech: one text', '/v1/audio/speech', (input) => ({ model: 'm', voice: 'alloy', input })),
  long1('bedrock: one text of InvokeModel', '/model/anthropic.claude-v2%3A0/invoke', (text) => ({
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 9,
    messages: [user(text)]
  })),
  long1('bedrock: one text', converse, (text) => ({ messages: [user([{ text }])] })),
  long1('ollama: one prompt', '/api/generate', (prompt) => ({ model: 'm', prompt, stream: false })),
  {
    name: 'request, openai-chat: arguments of many e-mail addresses, escaped, in many leaves',
    of: (bytes, seed) => {
      const list = many(bytes, (i) => `"${mail(i, seed)}"`)
      const made = { ...call(0, ''), function: { name: 'look', arguments: JSON.stringify({ list }) } }
      return { path: chat, body: ofChat([user('hello'), { role: 'assistant', tool_calls: [made] }]) }
    }
  },
  {
    name: 'request, openai-chat: nested lists',
    of: (bytes, seed) => {
      const nested = (depth: number, i: number): Json => (depth === 0 ? word(i, seed) : [nested(depth - 1, i)])
      return { path: chat, body: withChat({ added: many(bytes, (i) => nested(20, i)) }) }
    }
  },
  {
    name: 'request, openai-chat: keys of objects in objects that look like e-mail addresses',
    of: (bytes, seed) => {
      const nested = (depth: number, i: number): Json =>
        depth === 0 ? 1 : { [mail(i + depth, seed)]: nested(depth - 1, i + 50) }
      return { path: chat, body: withChat({ added: many(bytes, (i) => nested(20, i * 100)) }) }
    }
  },
  {
    // A rule that asks, at each match, whose words the joined text is.
    name: 'request, openai-chat: system messages that a rule matches in',
    found: true,
    of: (bytes, seed) => {
      const list = many(bytes, (i) => ({ role: 'system', content: `how to make a bomb ${mail(i, seed)}` }))
      return { path: chat, body: ofChat([...list, user('hello')]) }
    }
  },
  {
    name: 'request, openai-chat: system messages that forbid a subject each, and questions about all of them',
    found: true,
    of: (bytes, seed) => {
      const subject = (i: number) => name(i, seed).replaceAll('_', '')
      const list = many(Math.min(bytes / 2, 65_536), (i) => ({
        role: 'system',
        content: `Never talk about ${subject(i)}.`
      }))
      const questions = many(bytes / 2, (i) => `Tell me about ${subject(i % list.length)}?`).join(' ')
      return { path: chat, body: ofChat([...list, user(questions)]) }
    }
  },
  {
    name: 'request, openai-chat: context in a header',
    most: 8_192,
    of: (bytes, seed) => ({
      path: chat,
      body: ofChat(said),
      headers: { 'x-safety-context': JSON.stringify(keyed(Math.min(bytes, 6_000), seed, name, 'x')) }
    })
  }
]

export const requests: readonly Shape[] = [
  ...places.flatMap((place) => Object.entries(styles).map(([style, make]) => ofPlace(place, style, make))),
  ...holders.flatMap(([what, path, body]) =>
    Object.entries({ names: name, 'e-mail addresses': mail, 'short addresses': brief }).map(
      ([style, make]): Shape => ({
        name: `request, ${what}, keys that are ${style}`,
        of: (bytes, seed) => ({ path, body: body(keyed(bytes, seed, make, 'x')) }),
        found: make !== name && what.startsWith('openai-chat')
      })
    )
  ),
  ...others,
  ...forms
]
