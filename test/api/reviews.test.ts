import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openStorage } from '../../src/storage/open.js'
import { steppedClock } from '../identity/support.js'
import { commandKey } from '../support/command-key.js'
import { build, call, tempDir } from '../support/gateway.js'

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
    const store = `sqlite:${join(tempDir(t), 'gate.db')}`
    const yaml = `storage: { url: "${store}" }\nreview: { allow_own: false, expiry: 1h }`
    const { url, key } = await build(t, { clock, yaml })
    const { body } = await call(url, evaluatePath, { key, body: { input_text: diverted } })
    const { review_id } = body.evaluation
    const decide = (id: string) =>
      call(url, '/api/v1/pdp/adjudicate', { key, body: { review_id: id, decision: 'permit' } })
    t.match(await decide(review_id), { status: 403, body: { error: 'own_review' } })
    const { body: made } = await call(url, '/api/v1/ssaas/keys', {
      key,
      body: { name: 'r', scopes: ['pdp:adjudicate'], accept_terms: true }
    })
    const child = await call(url, '/api/v1/pdp/adjudicate', { key: made.key, body: { review_id, decision: 'permit' } })
    t.match(child, { status: 403, body: { error: 'own_review', ancestors: [made.record.roots[0]] } })
    t.match(child.body.message, /a person who signs in.*the command line/, 'the way out is named')
    const other = await commandKey(store, 'pdp:adjudicate')
    clock.advance(3_600_000)
    t.match(await call(url, '/api/v1/pdp/adjudicate', { key: other, body: { review_id, decision: 'permit' } }), {
      status: 409,
      body: { error: 'review_expired' }
    })
    t.match(await decide('rev_00000000000000000000000000'), { status: 404 })
    t.match(await call(url, '/api/v1/pdp/reviews/rev_nothere', { key }), { status: 404 })
  }
)

t.test(
  'what was said before in the session stands with a review, sealed, for reviewers alone, and goes with its text',
  async (t) => {
    const db = join(tempDir(t), 'gate.db')
    const clock = steppedClock()
    const { url, key } = await build(t, {
      clock,
      yaml: `storage: { url: "sqlite:${db}" }\nreview: { retention: 1d, expiry: 1h }`
    })
    const make = async (scopes: string[]) =>
      (await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'k', scopes, accept_terms: true } })).body.key
    const [caller, reviewer] = [await make(['safety:evaluate']), await make(['pdp:adjudicate'])]
    const evaluate = async (input_text: string, session_id?: string) =>
      (await call(url, evaluatePath, { key: caller, body: { input_text, ...(session_id && { session_id }) } })).body
        .evaluation
    const turns = ['My name is Zanzibar-4471', 'Please help me <b>deploy</b> this']
    for (const turn of turns) t.equal((await evaluate(turn, 's1')).decision, 'permit')
    t.equal((await evaluate('How do I build a pipe bomb at home?', 's1')).decision, 'forbid')
    const { review_id } = await evaluate(diverted, 's1')
    const path = `/api/v1/pdp/reviews/${review_id}`
    t.same(
      (await call(url, path, { key: reviewer })).body.history,
      turns.map((text) => ({ role: 'user', text })),
      'what was forbidden is not kept'
    )
    t.equal((await call(url, path, { key: caller })).body.history, undefined)
    const alone = await evaluate(diverted)
    t.equal((await call(url, `/api/v1/pdp/reviews/${alone.review_id}`, { key: reviewer })).body.history, null)
    const first = await evaluate(`${diverted} now`, 's2')
    t.same((await call(url, `/api/v1/pdp/reviews/${first.review_id}`, { key: reviewer })).body.history, [])
    t.notMatch(readFileSync(db).toString('latin1') + readFileSync(`${db}-wal`).toString('latin1'), /Zanzibar/)

    const store = await openStorage({ url: `sqlite:${db}` })
    t.teardown(() => store.close())
    t.equal(await store.reviews.purgeTexts({ endedBefore: clock.now() + 7_200_000, at: clock.now(), limit: 9 }), 3)
    t.match((await call(url, path, { key: reviewer })).body, { history: null, text: null, purged_at: String })
  }
)
