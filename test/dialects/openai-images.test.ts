/** OpenAI's image generation as of 2025: a prompt in, pictures out. */
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { dialects, operationAt } from '../../src/dialects/index.js'
import { names } from '../../src/dialects/openai/names.js'
import { dialectSuite, noTarget } from './dialect-suite.js'
import { bytes } from './published/combine.js'

const [generate] = dialects['openai-images']
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(bytes, 'base64')]).toString('base64')

dialectSuite(t, {
  operation: generate,
  names,
  request: (hole) => ({ model: 'gpt-image-1', prompt: 'A red boat', size: hole(0), user: hole(1), other: hole(2) }),
  answer: (hole) => ({
    created: 5,
    data: [{ revised_prompt: hole(0), more: hole(1) }, { url: hole(2) }],
    other: hole(3)
  })
})

t.test(
  'a picture is media, what it says of itself is text, and what only claims to be a picture is text too',
  async (t) => {
    const read = (body: JsonObject) => {
      const { parts, media } = generate.readReply(body)!
      return {
        texts: parts.filter(({ isKey }) => !isKey).map(({ role, text, pointer }) => `${role} ${pointer} ${text}`),
        media: media.map(({ kind, pointer }) => `${kind} ${pointer}`)
      }
    }
    t.same(read({ created: 5, data: [{ b64_json: png, revised_prompt: 'A red boat at sea' }] }), {
      texts: ['assistant /data/0/revised_prompt A red boat at sea'],
      media: ['image /data/0']
    })
    t.same(read({ data: [{ url: 'https://pictures.example/a.png' }] }), {
      texts: ['assistant /data/0/url https://pictures.example/a.png'],
      media: ['image /data/0']
    })
    const spoken = Buffer.from('These words are no picture at all, whatever they claim.').toString('base64')
    t.ok(read({ data: [{ b64_json: spoken }] }).texts.some((text) => text.endsWith('whatever they claim.')))
    t.equal(generate.readReply({ data: ['x'] }), undefined)
    t.equal(generate.readReply({ created: 5 }), undefined)
    t.equal(operationAt('openai-images', '/v1/images/generations'), generate)
  }
)

t.test('requests of another shape are refused, and the field is named; the answer will bring pictures', async (t) => {
  for (const [body, field] of [
    [{}, 'prompt'],
    [{ prompt: ['x'] }, 'prompt'],
    [{ prompt: 'x', model: 5 }, 'model'],
    [{ prompt: 'x', stream: true }, 'stream'],
    [{ prompt: 'x', stream: 'true' }, 'stream']
  ] as [JsonObject, string][]) {
    t.throws(
      () => generate.readRequest(body, noTarget),
      { code: 'validation_error', fields: { details: { field } } },
      field
    )
  }
  t.match(generate.readRequest({ prompt: 'A red boat', stream: false }, noTarget), {
    brings: { kind: 'image' },
    media: [],
    stream: false,
    parts: [{ role: 'user', text: 'A red boat', pointer: '/prompt' }]
  })
})
