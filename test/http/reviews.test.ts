import t from 'tap'
import { steppedClock } from '../identity/support.js'
import { build, call } from '../support/gateway.js'

const evaluatePath = '/api/v1/safety/evaluate'
/** Secrets at high confidence go to people in the shipped policy; the key below is made up and has a valid shape only. */
const diverted = `Deploy with AWS_SECRET_ACCESS_KEY=${'wJalrXUtnFEMIK7MDENGbPxRfiCYzQ8vTn2LpKd4'} and key id AKIA${'Q3EGRN5TWPL7XK2M'}`

t.test(
  'a diverted evaluation is listed, read and decided by another key; its own key sees its status alone',
  async (t) => {
    const { url, key, logs } = await build(t)
    const make = async (scopes: string[]) =>
      (await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'k', scopes, accept_terms: true } })).body.key
    const caller = await make(['safety:evaluate'])
    const reviewer = await make(['pdp:adjudicate'])
    const outcome = await call(url, evaluatePath, { key: caller, body: { input_text: diverted } })
    t.match(outcome, {
      status: 200,
      body: { evaluation: { decision: 'divert', is_blocked: false, review_id: /^rev_/ } }
    })
    const id = outcome.body.evaluation.review_id
    const again = await call(url, evaluatePath, { key: caller, body: { input_text: diverted } })
    t.equal(again.body.evaluation.review_id, id, 'the same text of the same key waits once')

    t.match(await call(url, '/api/v1/pdp/reviews', { key: caller }), {
      status: 403,
      body: { required: 'pdp:adjudicate' }
    })
    t.match(await call(url, '/api/v1/pdp/reviews?status=pending', { key: reviewer }), {
      status: 200,
      body: { reviews: [{ review_id: id, status: 'pending' }] }
    })
    const own = await call(url, `/api/v1/pdp/reviews/${id}`, { key: caller })
    t.match(own, { status: 200, body: { review_id: id, status: 'pending' } })
    t.notMatch(JSON.stringify(own.body), 'Deploy', 'no text for the causing key')
    t.match(await call(url, `/api/v1/pdp/reviews/${id}`, { key: reviewer }), { body: { text: /Deploy with/ } })

    const decide = (by: string, decision = 'permit') =>
      call(url, '/api/v1/pdp/adjudicate', { key: by, body: { review_id: id, decision, note: 'seen' } })
    t.match(await decide(caller), { status: 403, body: { error: 'insufficient_scope' } })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => decide(reviewer)))
    t.equal(outcomes.filter(({ status }) => status === 200).length, 1, 'of many clicks one decides')
    t.equal(outcomes.filter(({ body }) => body.error === 'already_decided').length, 19)
    t.match(await call(url, `/api/v1/pdp/reviews/${id}`, { key: caller }), { body: { status: 'permitted' } })
    t.notMatch(logs.join(''), 'Deploy', 'no text in the log')
  }
)

t.test(
  'nobody decides their own review unless it is allowed; expired reviews are closed; foreign ones do not exist',
  async (t) => {
    const clock = steppedClock()
    const { url, key } = await build(t, { clock, yaml: 'review: { allow_own: false, expiry: 1h }' })
    const { body } = await call(url, evaluatePath, { key, body: { input_text: diverted } })
    const { review_id } = body.evaluation
    const decide = (id: string) =>
      call(url, '/api/v1/pdp/adjudicate', { key, body: { review_id: id, decision: 'permit' } })
    t.match(await decide(review_id), { status: 403, body: { error: 'own_review' } })
    const { body: made } = await call(url, '/api/v1/ssaas/keys', {
      key,
      body: { name: 'r', scopes: ['pdp:adjudicate'], accept_terms: true }
    })
    clock.advance(3_600_000)
    t.match(await call(url, '/api/v1/pdp/adjudicate', { key: made.key, body: { review_id, decision: 'permit' } }), {
      status: 409,
      body: { error: 'review_expired' }
    })
    t.match(await decide('rev_00000000000000000000000000'), { status: 404 })
    t.match(await call(url, '/api/v1/pdp/reviews/rev_nothere', { key }), { status: 404 })
  }
)
