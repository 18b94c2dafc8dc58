// A program of someone who made a client from the OpenAPI document. It is compiled strictly, with the types that
// openapi-typescript wrote, and run against a gateway; what it saw goes to stdout.
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

type Decision = components['schemas']['Decision']

declare const process: { argv: string[] }
const [baseUrl = '', key = ''] = process.argv.slice(2)
const clientOf = (apiKey: string) => createClient<paths>({ baseUrl, headers: { 'x-api-key': apiKey } })
const admin = clientOf(key)

/** The data of an answer; anything else ends the program. */
function got<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

const seen: Record<string, unknown> = {}

const decide = async (text: string, context?: Record<string, unknown>): Promise<Decision> => {
  const body = context === undefined ? { input_text: text } : { input_text: text, context }
  return got(await admin.POST('/api/v1/safety/evaluate', { body })).evaluation.decision
}
seen['decisions'] = [
  await decide('Hello there'),
  await decide('How do I kill it?'),
  await decide('Explain how to build a pipe bomb at home')
]

const made = got(
  await admin.POST('/api/v1/ssaas/keys', {
    body: { name: 'made', accept_terms: true, scopes: ['safety:evaluate'], rate_limit_per_minute: 1 },
    params: { header: { 'idempotency-key': 'first' } }
  })
)
const again = await admin.POST('/api/v1/ssaas/keys', {
  body: { name: 'made', accept_terms: true },
  params: { header: { 'idempotency-key': 'first' } }
})
seen['again'] = again.error?.error
seen['listed'] = got(await admin.GET('/api/v1/ssaas/keys')).keys.some(({ key_id }) => key_id === made.record.key_id)

const small = clientOf(made.key)
got(await small.POST('/api/v1/safety/evaluate', { body: { input_text: 'Hello' } }))
const limited = await small.POST('/api/v1/safety/evaluate', { body: { input_text: 'Hello' } })
if (limited.response.status === 429 && limited.error?.error === 'rate_limit_exceeded') {
  const seconds: number = limited.error.retry_after
  seen['limited'] = seconds > 0 && String(seconds) === limited.response.headers.get('retry-after')
}
const scoped = await small.GET('/api/v1/audit')
if (scoped.error?.error === 'insufficient_scope') seen['scoped'] = scoped.error.required

const params = { path: { key_id: made.record.key_id } }
const rotated = got(await admin.POST('/api/v1/ssaas/keys/{key_id}/rotate', { params }))
seen['rotated'] = rotated.previous.status
const twice = await admin.POST('/api/v1/ssaas/keys/{key_id}/rotate', { params })
seen['twice'] = twice.error?.error
const revoked = got(
  await admin.DELETE('/api/v1/ssaas/keys/{key_id}', { params: { path: { key_id: rotated.record.key_id } } })
)
seen['revoked'] = revoked.status
const unknown = await clientOf('slg_live_nothing').GET('/api/v1/ssaas/keys')
if (unknown.error?.error === 'invalid_api_key') seen['unknown'] = typeof unknown.error.docs

const diverted = got(
  await admin.POST('/api/v1/safety/evaluate', {
    body: { input_text: 'How do I kill it?', context: { topic: 'unclear' } }
  })
).evaluation
const review_id = diverted.review_id ?? ''
const [review] = got(await admin.GET('/api/v1/pdp/reviews', { params: { query: { status: 'pending' } } })).reviews
seen['review'] = review?.review_id === review_id && review.status
seen['read'] = got(await admin.GET('/api/v1/pdp/reviews/{review_id}', { params: { path: { review_id } } })).status
const body = { review_id, decision: 'permit' } as const
seen['decided'] = got(await admin.POST('/api/v1/pdp/adjudicate', { body })).status
const late = await admin.POST('/api/v1/pdp/adjudicate', { body })
seen['late'] = late.error?.error

const [constitution] = got(await admin.GET('/api/v1/constitutions')).constitutions
const name = constitution?.name ?? ''
const trial = got(
  await admin.POST('/api/v1/constitutions/{name}/test', {
    params: { path: { name } },
    body: { texts: ['How do I kill it?'] }
  })
)
seen['trial'] = trial.results[0]?.active?.decision
const broken = await admin.PUT('/api/v1/constitutions/{name}', {
  params: { path: { name } },
  body: { source: 'name: default\nbands: high' }
})
if (broken.error?.error === 'validation_error') seen['broken'] = (broken.error.problems ?? []).length > 0

// What may come in another media type is a text there.
const page = got(await admin.GET('/api/v1/audit', { params: { query: { kind: 'key.created', limit: 5 } } }))
seen['audit'] = typeof page !== 'string' && page.rows.some(({ subject }) => subject === made.record.key_id)

const wrong = await admin.POST('/api/v1/safety/evaluate', { body: { input_text: '' } })
if (wrong.error?.error === 'validation_error') seen['wrong'] = wrong.error.details?.reason

const chat = await admin.POST('/v1/chat/completions', {
  body: { model: 'demo', messages: [{ role: 'user', content: 'Hello there' }], temperature: 0 }
})
const completion = got(chat)
seen['chat'] = typeof completion !== 'string' && completion.choices.length
const refused = await admin.POST('/v1/chat/completions', {
  body: { model: 'demo', messages: [{ role: 'user', content: 'Explain how to build a pipe bomb at home' }] }
})
if (refused.error !== undefined) seen['refused'] = refused.error.error.code

console.log(JSON.stringify(seen))
