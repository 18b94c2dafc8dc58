/** Reading a request takes time in proportion to its size, whatever its shape, and no more of it than its budget. */
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import type { DialectId } from '../../src/base/settings.js'
import { dialects } from '../../src/dialects/index.js'
import { readingCaller } from '../../src/dialects/walk.js'
import { noTarget } from './dialect-suite.js'

t.setTimeout(240_000)

const many = <T extends Json>(unit: T, n: number): T[] => Array.from({ length: n }, () => unit)
const user = (content: Json): JsonObject => ({ model: 'm', messages: [{ role: 'user', content }] })

/** Shapes whose readers once looked at all that was read before, for each of their parts. */
const shapes: [name: string, id: DialectId, body: (n: number) => JsonObject][] = [
  ['parts of no type', 'openai-chat', (n) => user(many({ text: 'a' }, n))],
  ['parts of a type', 'openai-chat', (n) => user(many({ type: 'text', text: 'a' }, n))],
  ['prompts before a suffix', 'openai-completions', (n) => ({ model: 'm', prompt: many('a', n), suffix: 'b' })],
  [
    'parts of an output',
    'openai-responses',
    (n) => ({ input: [{ type: 'function_call_output', output: many({ type: 'input_text', text: 'a' }, n) }] })
  ],
  ['blocks', 'anthropic', (n) => ({ messages: [{ role: 'user', content: many({ type: 'text', text: 'a' }, n) }] })],
  [
    'function responses',
    'gemini',
    (n) => ({ contents: [{ parts: many({ functionResponse: { name: 'f', response: { a: 'b' } } }, n) }] })
  ],
  [
    'blocks of a result',
    'bedrock',
    (n) => ({ messages: [{ role: 'user', content: [{ toolResult: { content: many({ text: 'a' }, n) } }] }] })
  ],
  ['tools', 'openai-chat', (n) => ({ ...user('a'), tools: many({ function: { name: 'f', description: 'd' } }, n) })],
  [
    'documents of tools',
    'cohere',
    (n) => ({
      messages: [{ role: 'tool', content: many({ type: 'document', document: { data: { a: 'b' } } }, n) }]
    })
  ],
  [
    'turns of two roles',
    'ollama',
    (n) => ({
      messages: many(
        [
          { role: 'user', content: 'a' },
          { role: 'tool', content: 'b' }
        ],
        n / 2
      ).flat()
    })
  ]
]

/** ms of CPU of the quickest of a few runs. */
function cost(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 4; run++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

t.test('reading is linear', async (t) => {
  for (const [name, id, body] of shapes) {
    const [operation] = dialects[id]
    const read = (n: number) => {
      const given = body(n)
      return cost(() => operation.readRequest(given, noTarget))
    }
    read(2_000)
    const [small, large] = [read(4_000), read(32_000)]
    // Eight times as much: quadratic reading took 64 times as long, and seconds of it.
    t.ok(large < 24 * Math.max(small, 4), `${id}, ${name}: ${small.toFixed(1)} and ${large.toFixed(1)} ms`)
  }
})

t.test('a run is noted once, however it comes about', async (t) => {
  const runs = (body: JsonObject) =>
    dialects['openai-chat'][0].readRequest(body, noTarget).joined.map((run) => run.join(','))
  const said = runs(
    user([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' }
    ])
  )
  t.same(said, [...new Set(said)])
  t.equal(said.length, 1)
})

t.test('a name above many leaves does not make each of them as long', async (t) => {
  const long = 'k'.repeat(400_000)
  const bodies: [DialectId, JsonObject][] = [
    ['openai-chat', { ...user('a'), more: { [long]: many('a', 20_000) } }],
    ['anthropic', { messages: [{ role: 'user', content: [{ type: 'tool_result', [long]: many('a', 20_000) }] }] }],
    ['gemini', { contents: [{ parts: [{ functionResponse: { response: { [long]: many('a', 20_000) } } }] }] }]
  ]
  for (const [id, body] of bodies) {
    const began = process.memoryUsage().heapUsed
    t.throws(() => dialects[id][0].readRequest(body, noTarget), {
      code: 'too_complex',
      fields: { details: { field: 'paths' } }
    })
    t.ok(process.memoryUsage().heapUsed - began < 200e6, id)
  }
  t.doesNotThrow(() => dialects['openai-chat'][0].readRequest({ ...user('a'), [long]: 'a' }, noTarget), 'one is fine')
})

t.test('what holds too many texts is not read to its end', async (t) => {
  const body = user(many({ type: 'text', text: 'a' }, 1_000))
  const read = () => dialects['openai-chat'][0].readRequest(body, noTarget)
  t.throws(() => readingCaller(500, read), {
    code: 'too_complex',
    fields: { details: { field: 'parts', limit: 500, actual: 501, setting: 'limits.request.parts' } }
  })
  t.equal(read().parts.length, 1_001, 'the bound is that of one reading')
})
