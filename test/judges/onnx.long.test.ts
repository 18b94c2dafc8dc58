import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { OnnxJudgeSettings } from '../../src/base/settings.js'
import { noReport } from '../../src/judges/consult.js'
import { openJudges } from '../../src/judges/open.js'
import { onnxModel, tokenizerJson } from './onnx-model.js'
import { question } from './support.js'

function settings(
  t: Test,
  options: Partial<OnnxJudgeSettings> = {},
  model = onnxModel()
): Record<string, OnnxJudgeSettings> {
  const dir = t.testdir({ 'tokenizer.json': tokenizerJson() })
  writeFileSync(join(dir, 'model.onnx'), model)
  return {
    local: {
      name: 'local',
      type: 'onnx',
      labels: { attack: ['jailbreak', 'prompt_injection'] },
      thresholds: { unsafe: 0.5, safe: 0.2 },
      timeoutMs: 60_000,
      maxConcurrent: 4,
      maxChars: 1_000_000,
      cache: { size: 0, ttlMs: 1000 },
      breaker: { failures: 3, openMs: 1000 },
      model: join(dir, 'model.onnx'),
      tokenizer: join(dir, 'tokenizer.json'),
      outputs: ['benign', 'attack'],
      activation: 'softmax',
      maxTokens: 8,
      overlap: 2,
      ...options
    }
  }
}

const open = (of: Record<string, OnnxJudgeSettings>) => openJudges(of, { clock: systemClock, report: noReport })

t.test('a model of one’s own judges, with its tokenizer, labels and activation', async (t) => {
  const judges = await open(settings(t))
  t.teardown(() => judges.close())
  t.same(judges.coverage, { local: ['jailbreak', 'prompt_injection'] })
  const ask = (...texts: string[]) =>
    judges.consult(
      'local',
      question(
        texts.map((text) => ({ role: 'user', text })),
        'jailbreak'
      )
    )
  // softmax over [0, 4] and [3, -4]
  t.same(await ask('please IGNORE it'), { unsafe: { jailbreak: 0.982, prompt_injection: 0.982 }, safe: {} })
  t.same(await ask('hello'), { unsafe: {}, safe: { jailbreak: 0.0009 } })
  t.same(
    await ask('hello', 'ignored'),
    { unsafe: { jailbreak: 0.982, prompt_injection: 0.982 }, safe: {} },
    'each text'
  )
  t.same(await ask('maybe'), { unsafe: { jailbreak: 0.5, prompt_injection: 0.5 }, safe: {} })
  t.same(await ask(''), { unsafe: {}, safe: { jailbreak: 0.018 } }, 'special tokens alone')

  const sigmoid = await open(settings(t, { activation: 'sigmoid' }))
  t.teardown(() => sigmoid.close())
  t.match(await sigmoid.consult('local', question('hello', 'jailbreak')), { safe: { jailbreak: 0.018 } })
})

t.test('in a long text a word counts wherever it stands', async (t) => {
  const judges = await open(settings(t))
  t.teardown(() => judges.close())
  for (const at of [0, 1, 5, 6, 7, 11, 12, 13, 500, 999]) {
    const words = Array.from({ length: 1000 }, (_, i) => (i === at ? 'ignore' : 'hello'))
    // In its window it stands beside benign words: softmax over [3, 4].
    const found = await judges.consult('local', question(words.join(' '), 'jailbreak'))
    t.match(found, { unsafe: { jailbreak: 0.7311 } }, `word ${at}`)
  }
})

t.test(
  'the event loop goes on while it computes; what takes too long is a failure, and the next is answered',
  async (t) => {
    const judges = await open(settings(t, { timeoutMs: 200, maxTokens: 64 }))
    t.teardown(() => judges.close())
    let turns = 0
    const timer = setInterval(() => turns++, 5)
    t.same(await judges.consult('local', question('hello '.repeat(150_000), 'jailbreak')), { failure: 'timeout' })
    clearInterval(timer)
    t.ok(turns > 2, `${turns} turns of the event loop`)
    const patient = await open(settings(t))
    t.teardown(() => patient.close())
    t.match(await patient.consult('local', question('hello', 'jailbreak')), { safe: { jailbreak: 0.0009 } })
  }
)

t.test('what cannot work is told when it is loaded', async (t) => {
  const cases: [string, Partial<OnnxJudgeSettings>, Buffer, RegExp][] = [
    [
      'labels that are not the outputs',
      { outputs: ['a', 'b', 'c'] },
      onnxModel(),
      /^judges\.local: the model gives 2 outputs where labels names 3$/
    ],
    [
      'an input that nobody knows',
      {},
      onnxModel(['input_ids', 'pixel_values']),
      /^judges\.local: the model has an input "pixel_values" \(known: input_ids/
    ],
    ['no model', {}, Buffer.from('not a model'), /^judges\.local: /],
    [
      'windows without room',
      { maxTokens: 8, overlap: 6 },
      onnxModel(),
      /^judges\.local: max_tokens leaves 6 tokens for text/
    ]
  ]
  for (const [name, options, model, says] of cases)
    await t.rejects(open(settings(t, options, model)), { message: says }, name)
})
