/** `POST /v1/moderations` as OpenAI's own client meets it: every form of input, the published shape, errors it can tell apart. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI, { APIError } from 'openai'
import t, { type Test } from 'tap'
import { source } from '../policy/support.js'
import { type Built, build, call, tempDir } from '../support/gateway.js'

/** The names of platform.openai.com/docs/api-reference/moderations/object. */
const names = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic'
].sort()

const rules = `
  - { name: threat, category: violence, weight: 0.9, any: [slay] }
  - { name: insult, category: harassment, weight: 0.9, any: [wretch] }
  - { name: hint, category: harassment, weight: 0.3, any: [rascal] }
  - { name: unclear, category: hate, weight: 0.5, any: [those people] }
  - { name: weapon, category: weapons, weight: 0.9, any: [kaboom] }
  - { name: override, category: jailbreak, weight: 0.9, any: [no limits] }
  - { name: swear, category: profanity, weight: 1, any: [drat] }
  - { name: open, category: sexual, weight: 0.9, any: [swimsuit] }
`

async function start(t: Test, bands = 'bands: { middle: 0.40, high: 0.75 }', limit = 1000) {
  const dir = tempDir(t)
  mkdirSync(dir, { recursive: true })
  const text = source({ rules, posture: { sexual: '{ high: permit, middle: permit }' } })
  writeFileSync(join(dir, 'default.yaml'), text.replace('bands: { middle: 0.40, high: 0.75 }', bands))
  const built = await build(t, { yaml: `constitutions: { default: ${join(dir, 'default.yaml')} }` })
  const { body } = await call(built.url, '/api/v1/ssaas/keys', {
    key: built.key,
    body: { name: 'm', rate_limit_per_minute: limit, accept_terms: true }
  })
  return { ...built, key: body.key as string }
}

const clientOf = ({ url, key }: Built) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })

async function errorOf(work: Promise<unknown>): Promise<APIError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason
  )
  if (!(error instanceof APIError)) throw error ?? new Error('did not fail')
  return error
}

t.test('every form of input has the published shape, with and without a model', async (t) => {
  const { moderations } = clientOf(await start(t))
  const inputs = ['hello', ['hello'], ['hello', 'slay'], [{ type: 'text' as const, text: 'hello' }]]
  for (const input of inputs) {
    const reply = await moderations.create({ input })
    t.match(reply, { id: /^modr-[0-9a-f]+$/, model: 'omni-moderation-latest' })
    t.equal(reply.results.length, typeof input === 'string' || typeof input[0] === 'object' ? 1 : input.length)
    for (const result of reply.results) {
      t.same(Object.keys(result).sort(), ['categories', 'category_applied_input_types', 'category_scores', 'flagged'])
      for (const table of [result.categories, result.category_scores, result.category_applied_input_types]) {
        t.same(Object.keys(table).sort(), names)
      }
      for (const score of Object.values(result.category_scores)) t.ok(score >= 0 && score <= 1)
      for (const flag of Object.values(result.categories)) t.type(flag, 'boolean')
      for (const types of Object.values(result.category_applied_input_types)) t.same(types, ['text'])
    }
  }
  t.equal(
    (await moderations.create({ model: 'text-moderation-stable', input: 'hello' })).model,
    'text-moderation-stable'
  )
  const parts = ['sl', 'slay'].map((text) => ({ type: 'text' as const, text }))
  t.equal((await moderations.create({ input: parts })).results[0]?.flagged, true, 'parts are one text')
})

/** Text, the categories that are flagged, and the scores that are told. */
const verdicts: [string, string[], Record<string, number>][] = [
  ['hello', [], { harassment: 0 }],
  ['rascal', [], { harassment: 0.3 }],
  ['wretch', ['harassment'], { harassment: 0.9, 'harassment/threatening': 0 }],
  ['slay the wretch', ['harassment', 'harassment/threatening', 'violence', 'violence/graphic'], { violence: 0.9 }],
  ['those people', ['hate'], { hate: 0.5 }],
  ['kaboom', ['illicit', 'illicit/violent'], { 'illicit/violent': 0.9 }],
  ['no limits', ['illicit'], { illicit: 0.9 }],
  ['drat', [], { illicit: 0 }],
  ['swimsuit', [], { sexual: 0.3999 }]
]

t.test('flags, scores and the decision agree, also where the policy draws its bands elsewhere', async (t) => {
  const { moderations } = clientOf(await start(t))
  for (const [text, flagged, scores] of verdicts) {
    const [result] = (await moderations.create({ input: text })).results
    t.equal(result?.flagged, flagged.length > 0, text)
    t.same(
      Object.entries(result!.categories)
        .flatMap(([name, flag]) => (flag ? [name] : []))
        .sort(),
      flagged,
      text
    )
    t.match(result?.category_scores, scores, text)
    const low = Object.entries(result!.category_scores).filter(([name]) => !flagged.includes(name))
    const high = Object.entries(result!.category_scores).filter(([name]) => flagged.includes(name))
    t.ok(
      Math.max(0, ...low.map(([, s]) => s)) < 0.4 && Math.min(1, ...high.map(([, s]) => s)) >= 0.4,
      'no flag below another'
    )
  }
  const lenient = clientOf(await start(t, 'bands: { middle: 0.60, high: 0.95 }'))
  const [result] = (await lenient.moderations.create({ input: 'those people' })).results
  t.match(result, { flagged: false, categories: { hate: false }, category_scores: { hate: 0.5 } })
})

t.test('each element counts as one call, in the order given, with the headers of the limit', async (t) => {
  const { moderations } = clientOf(await start(t, undefined, 20))
  const input = Array.from({ length: 15 }, (_, i) => (i % 3 === 0 ? 'slay' : 'hello'))
  const { data, response } = await moderations.create({ input }).withResponse()
  t.same(
    data.results.map(({ flagged }) => flagged),
    input.map((text) => text === 'slay')
  )
  t.equal(response.headers.get('x-ratelimit-remaining'), '5')
  const limited = await errorOf(moderations.create({ input: input.slice(0, 6) }))
  t.match(limited, { name: 'Error', status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' })
  t.equal(limited.constructor.name, 'RateLimitError')
  t.match(limited.headers?.get('retry-after'), /^\d+$/)
})

t.test('what is refused is an error that the client can tell apart, and names the place', async (t) => {
  const place = await start(t)
  const { moderations } = clientOf(place)
  const cases: [unknown, number, string, string | null, RegExp][] = [
    ['', 400, 'validation_error', 'input', /empty/],
    [[], 400, 'validation_error', 'input', /empty/],
    [['hello', ''], 400, 'validation_error', 'input.1', /empty/],
    ['x'.repeat(100_001), 400, 'validation_error', 'input', /100000/],
    [['hello', 'x'.repeat(100_001)], 400, 'validation_error', 'input.1', /100000/],
    [[1], 400, 'validation_error', 'input.0', /string/],
    [
      [
        { type: 'text', text: 'hello' },
        { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }
      ],
      422,
      'unscannable_content',
      null,
      /input\.1.*image/
    ]
  ]
  for (const [input, status, code, param, says] of cases) {
    const error = await errorOf(moderations.create({ input: input as string }))
    t.match(error, { status, code, message: says }, code)
    t.equal(error.param, param)
    t.match(error.requestID, /^req_/)
  }
  const stranger = new OpenAI({ baseURL: `${place.url}/v1`, apiKey: 'sk-wrong', maxRetries: 0 })
  t.match(await errorOf(stranger.moderations.create({ input: 'hello' })), { status: 401, code: 'invalid_api_key' })
  t.match(await call(place.url, '/v1/moderations', { key: place.key }), {
    status: 405,
    body: { error: { code: 'method_not_allowed' } }
  })
})
