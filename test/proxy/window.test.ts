import t from 'tap'
import { piecesOf } from '../contracts/window-suite.js'
import { evaluatorFor, relayed, shippedEntry } from './stream-cuts.js'

const evaluator = evaluatorFor(await shippedEntry())
t.teardown(() => evaluator.close())

const prose =
  'Roses like the sun. Dig a hole that is twice as wide as the root, fill it with water, and wait until it has drained. ' +
  'Then set the plant in, "firmly" but gently; press the soil down with your hands. In spring, cut the dead wood out and ' +
  'feed the bed with compost, once a month, until the first buds open in June.'

const route = { dialect: 'openai-chat', path: '/v1/chat/completions' } as const
const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' }

function wireOf(pieces: readonly string[]): Buffer[] {
  const frame = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const frames = [...pieces.map((content) => frame({ content })), frame({}, 'stop'), 'data: [DONE]\n\n']
  return frames.map((each) => Buffer.from(each))
}

const outputs = ['window', 'full'] as const
const shown = (wire: string) =>
  [...wire.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!).choices[0].delta.content ?? '').join('')

t.test('what was redacted is redacted over any cut', async (t) => {
  const text = `Write to ada.lovelace@example.org or call the desk. ${prose}`
  const expected = text.replace('ada.lovelace@example.org', '<PERSONAL_DATA>')
  for (const output of outputs) {
    for (const pieces of piecesOf(text.slice(0, 200), 100)) {
      const masked = { ...route, output, redact: ['personal_data'] as const }
      const { text: wire, exchange } = await relayed(evaluator, masked, wireOf(pieces))
      if (shown(wire) !== expected.slice(0, 200 - 24 + 15)) t.fail(`${output}: ${JSON.stringify(pieces)}`)
      if (exchange.redacted !== 1) t.fail(`${output}: redacted ${exchange.redacted} times`)
    }
    t.pass(output)
  }
})

t.test('window: text leaves while the model still writes', async (t) => {
  const seen: number[] = []
  const pieces = [...prose.matchAll(/\S+\s*/g)].map(([piece]) => piece)
  const settled = evaluator.settled.bind(evaluator)
  const counting = {
    ...evaluator,
    settled(...args: Parameters<typeof settled>) {
      const length = settled(...args)
      seen.push(args[0].length - length)
      return length
    }
  }
  await relayed(counting, { ...route, output: 'window' }, wireOf(pieces))
  const most = Math.max(...seen)
  t.ok(most < 300, `at most ${most} characters were held`)
})
