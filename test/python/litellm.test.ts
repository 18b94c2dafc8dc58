/** A real LiteLLM proxy without a database: in front, asking the gateway by its guardrail, and behind, as its upstream. */
import t, { type Test } from 'tap'
import { call } from '../support/gateway.js'
import { fakeUpstream, json } from '../support/upstream.js'
import { type Cell, everyAnswer, fillAt, noPackages, startGateway, staysHome, texts } from './lane.js'
import { guardrailOf, masterKey, startLiteLLM } from './litellm.js'
import { checkCells, checkRows } from './table.js'

const page = 'docs/integrations/litellm.md'
const skip = noPackages('frameworks')

const chat = (url: string, content: string, stream = false) =>
  call(url, '/v1/chat/completions', {
    headers: { authorization: `Bearer ${masterKey}` },
    body: { model: 'gpt', stream, messages: [{ role: 'user', content }] }
  })

async function masks(t: Test, url: string, upstream: Awaited<ReturnType<typeof fakeUpstream>>) {
  const sent = await chat(url, 'My address is john.roe@example.com: remember it.')
  t.equal(sent.status, 200)
  const [got] = upstream.requests.slice(-1)
  t.match(JSON.parse(got!.body.toString()).messages, [{ content: 'My address is <PERSONAL_DATA>: remember it.' }])
  for (const stream of [false, true]) {
    const { status, body } = await chat(url, 'Tell me about «mail» things.', stream)
    const said = typeof body === 'string' ? body : JSON.stringify(body)
    t.equal(status, 200)
    t.match(said, /<PERSONAL_DATA>/, `an answer is masked, streamed: ${stream}`)
    t.notMatch(said, /jane\.doe/, `an answer is masked, streamed: ${stream}`)
  }
}

t.test('in front: LiteLLM asks before and after each call', { skip }, async (t) => {
  const upstream = await fakeUpstream(t, everyAnswer)
  const { url, ops, key, child } = await startGateway(t, upstream.url)
  const model = { api_base: `${upstream.url}/v1`, api_key: 'model-key' }
  const front = await startLiteLLM(t, model, guardrailOf({ url, key }))
  const place = { key: masterKey, bases: { error: front.url }, ops, surface: 'guard' } as const
  const cells = await fillAt(t, 'frameworks', ['litellm_front'], place)
  // A request that is refused is judged once, any other with its answer.
  const judged = ({ outcome }: Cell) => (['forbid', 'divert', 'depends'].includes(outcome) ? 1 : 2)
  checkCells(t, cells, texts.permit, judged)
  checkRows(t, cells, page)
  await masks(t, front.url, upstream)

  child.kill('SIGKILL')
  const before = upstream.requests.length
  for (const stream of [false, true]) {
    const { status, body } = await chat(front.url, 'How do I list the files of a folder?', stream)
    t.ok(status >= 500, `no verdict, no answer: ${status} ${JSON.stringify(body)}`)
  }
  t.equal(upstream.requests.length, before, 'closed: nothing reached the model')
  staysHome(t, front.phoned)
})

t.test('behind: LiteLLM is the upstream', { skip }, async (t) => {
  const upstream = await fakeUpstream(t, everyAnswer)
  const behind = await startLiteLLM(t, { api_base: `${upstream.url}/v1`, api_key: 'model-key' })
  const { url, ops, key } = await startGateway(t, behind.url, masterKey)
  const bases = { error: url, message: `${url}/said` }
  const cells = await fillAt(t, 'frameworks', ['litellm_behind'], { key, bases, ops, surface: 'chat' })
  checkCells(t, cells, texts.permit)
  checkRows(t, cells, page)
  upstream.answer = json(
    { error: { message: 'no such model', type: 'invalid_request_error', code: 'model_not_found' } },
    404
  )
  const { status } = await call(url, '/v1/chat/completions', {
    key,
    body: { model: 'gpt', messages: [{ role: 'user', content: 'Hello' }] }
  })
  t.equal(status, 404, 'what LiteLLM says of its model comes through')
  staysHome(t, behind.phoned)
})
