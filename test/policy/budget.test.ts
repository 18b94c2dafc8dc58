/** The budget of a request: what is counted, and how a request beyond it is refused on every surface. */
import t from 'tap'
import { defaultBudget } from '../../src/base/budget.js'
import { Fault } from '../../src/base/errors.js'
import { checkBudget, judgedUnits } from '../../src/policy/match/budget.js'
import { joinTexts, separators } from '../../src/policy/match/joined.js'
import { build, call } from '../support/gateway.js'

const part = (text: string) => ({ role: 'user' as const, text, pointer: '/x' })

t.test('what is read joined is counted before it is laid out', async (t) => {
  const texts = ['a'.repeat(5_000), 'b c '.repeat(2_000), 'short', '', 'd'.repeat(700)]
  const run = texts.map((_, i) => i)
  const parts = texts.map(part)
  const laid = separators
    .flatMap((separator) =>
      joinTexts(
        parts.map(({ text }, i) => ({ part: i, text })),
        separator
      )
    )
    .reduce((sum, { text }) => sum + text.length, 0)
  const own = parts.reduce((sum, { text }) => sum + text.length, 0)
  const counted = judgedUnits(parts, [run]) - own
  t.ok(counted >= laid, `${counted} counted, ${laid} laid out`)
  t.ok(counted <= 1.2 * laid + 100)
})

t.test('beyond it a request is refused, with the number, the limit and the setting', async (t) => {
  const suffixed = {
    parts: [...Array.from({ length: 800 }, () => part('a')), part('b'.repeat(2_600))],
    joined: [] as number[][]
  }
  for (let i = 0; i < 800; i++) suffixed.joined.push([i, 800])
  t.ok(judgedUnits(suffixed.parts, suffixed.joined) > 800 * 2 * 2_000, 'a suffix costs as often as it is read')
  t.throws(() => checkBudget(suffixed, defaultBudget), {
    code: 'too_complex',
    fields: { details: { field: 'units', limit: defaultBudget.units / 8, setting: 'limits.request.units' } }
  })
  const { actual } = (caught(() => checkBudget(suffixed, defaultBudget)) as Fault).fields['details'] as {
    actual: number
  }
  t.ok(actual < 2 * (defaultBudget.units / 8), 'what is beyond the limit is not counted to its end')
  // A body that is large itself may come to more, in proportion.
  const large = { ...suffixed, parts: suffixed.parts.map(({ text }) => part(text.repeat(100))) }
  t.doesNotThrow(() => checkBudget(large, defaultBudget))
  t.throws(() => checkBudget({ parts: [part('a'), part('b')], joined: [] }, { ...defaultBudget, parts: 1 }), Fault)
  t.doesNotThrow(() => checkBudget({ ...suffixed, joined: suffixed.joined.slice(0, 200) }, defaultBudget))
})

t.test('on every surface, in the shape that its clients read', async (t) => {
  const { url, key } = await build(t, {
    yaml: 'limits: { live_per_minute: 100000, request: { nodes: 2000, parts: 1000, units: 200000 } }'
  })
  const texts = Array.from({ length: 1_200 }, () => 'a')
  const messages = [{ role: 'user', content: texts.map((text) => ({ text })) }]
  const rows: [path: string, body: unknown, code: (body: never) => unknown, field: string][] = [
    ['/v1/chat/completions', { messages }, openai, 'nodes'],
    ['/v1/completions', { prompt: texts }, openai, 'parts'],
    ['/v1/embeddings', { input: texts }, openai, 'parts'],
    ['/v1/responses', { input: [{ role: 'user', content: texts }] }, openai, 'parts'],
    ['/v1/messages', { messages: [{ role: 'user', content: [{ type: 'x', a: texts }] }] }, anthropic, 'parts'],
    ['/v1beta/models/m:generateContent', { contents: [{ parts: [{ a: texts }] }] }, gemini, 'parts'],
    ['/api/chat', { messages: [{ role: 'user', content: 'a', more: texts }] }, ollama, 'parts'],
    ['/beta/litellm_basic_guardrail_api', { input_type: 'request', texts }, plain, 'parts'],
    ['/api/v1/safety/evaluate', { input_text: 'a', context: { more: Array(2_000).fill(1) } }, plain, 'nodes'],
    ['/v1/moderations', { input: Array(2_100).fill('a') }, openai, 'nodes']
  ]
  for (const [path, given, codeOf, field] of rows) {
    const { status, body } = await call(url, path, { key, body: given })
    t.equal(status, 422, path)
    t.equal(codeOf(body as never), 'too_complex', path)
    t.match(JSON.stringify(body), new RegExp(`"field":"${field}"`), path)
    t.match(JSON.stringify(body), /"setting":"limits\.request\./, path)
  }
  const suffix = 'b'.repeat(2_300)
  const { status, body } = await call(url, '/v1/completions', { key, body: { prompt: texts.slice(0, 800), suffix } })
  t.equal(status, 422)
  t.match(body, { error: { code: 'too_complex', details: { field: 'units', setting: 'limits.request.units' } } })
})

function caught(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

t.test('so is one in which more is found than is told', async (t) => {
  const { url, key } = await build(t, { yaml: 'limits: { live_per_minute: 100000, request: { findings: 1000 } }' })
  const chat = '/v1/chat/completions'
  const ask = (content: string) => call(url, chat, { key, body: { model: 'm', messages: [{ role: 'user', content }] } })
  const evaluate = (input_text: string) => call(url, '/api/v1/safety/evaluate', { key, body: { input_text } })
  const whole = await evaluate('x@b.co '.repeat(1_000))
  t.equal(whole.status, 200)
  const { evaluation } = whole.body as { evaluation: { detections: { span: object; pointer?: string }[] } }
  const { detections } = evaluation
  t.equal(detections.length, 1_000, 'up to the limit every one is told')
  t.same(detections.at(-1)!.span, { start: 6_993, end: 6_999 })
  t.notOk(
    detections.some((detection) => 'pointer' in detection),
    'the only text has no pointer'
  )
  const details = { field: 'findings', limit: 1_000, actual: 1_001, setting: 'limits.request.findings' }
  const message =
    'The request holds too many findings, such as addresses or secrets: 1001, and at most 1000 are allowed (limits.request.findings).'
  t.match(await evaluate('x@b.co '.repeat(1_001)), { status: 422, body: { error: 'too_complex', details, message } })
  t.match(await ask('x@b.co '.repeat(1_000)), { status: 200 })
  const few = await ask('x@b.co '.repeat(1_001))
  t.match(few, { status: 422, body: { error: { code: 'too_complex', details, message } } }, 'judged at once')
  // Longer than what is judged at once: it is refused in the thread.
  const many = await ask('x@b.co '.repeat(5_000))
  t.match(many, { status: 422, body: { error: { code: 'too_complex', details: { ...details, actual: 5_000 } } } })
})

const openai = ({ error }: { error: { code: string } }) => error.code
const anthropic = ({ error }: { error: { message: string } }) => error.message.split(':', 1)[0]
const gemini = ({ error }: { error: { details: { reason: string }[] } }) => error.details[0]!.reason
const ollama = ({ error }: { error: string }) => error.split(':', 1)[0]
const plain = ({ error }: { error: string }) => error
