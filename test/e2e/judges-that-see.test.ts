/** What a picture shows is put to a judge that sees, once its text was read; nobody else can tell. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { drawn } from '../files/pictures.js'
import { says } from '../judges/support.js'
import { source } from '../policy/support.js'
import { build, call, tempDir } from '../support/gateway.js'
import { completion, fakeUpstream, json } from '../support/upstream.js'

const rules = `
  - { name: unclear, category: violence, weight: 0.5, any: [borderline] }
  - { name: strong, category: violence, weight: 0.9, any: [murder] }
`
const safe = says('safe')
const unsafe = says('unsafe\nS1')
const b64 = (name: string) => drawn(name).toString('base64')
const image = (name: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${b64(name)}` } })
const text = (text: string) => ({ type: 'text', text })

async function place(t: Test, entry = '{ judge: guard }', sees = true) {
  const guard = await fakeUpstream(t, safe)
  const backend = await fakeUpstream(t, json(completion('fine')))
  const dir = tempDir(t)
  mkdirSync(dir, { recursive: true })
  const file = join(dir, 'default.yaml')
  writeFileSync(file, `${source({ rules })}\nescalate:\n  - ${entry}\n`)
  const yaml = `
constitutions: { default: ${file} }
upstreams: { default: { url: "${backend.url}" } }
defaults: { unscannable: { image: scan } }
judges:
  guard: { type: llama-guard, base_url: "${guard.url}/v1", model: guard-4, sees: ${sees}, timeout: 30s }
`
  const built = await build(t, { yaml })
  const post = (...messages: object[]) =>
    call(built.url, '/v1/chat/completions', { key: built.key, body: { model: 'm', messages } })
  const asked = () => guard.requests.map(({ body }) => JSON.parse(String(body)).messages.at(-1).content)
  return { ...built, guard, backend, asked, post, see: (...content: object[]) => post({ role: 'user', content }) }
}
const receipt = 'x-safety-not-evaluated'

t.test('a picture is shown with the texts of its message, and passes where nothing is found', async (t) => {
  const { post, see, asked, guard, backend } = await place(t)
  const earlier = [
    { role: 'user', content: 'an earlier question' },
    { role: 'assistant', content: 'an earlier answer' }
  ]
  const passed = await post(...earlier, { role: 'user', content: [text('what is this?'), image('harmless')] })
  t.equal(passed.status, 200)
  t.equal(passed.headers.get(receipt), null, 'all of it was judged')
  t.same(asked(), [[text('what is this?'), image('harmless')]])
  t.equal((await see(text('what is this?'), image('harmless'))).status, 200)
  t.equal(guard.requests.length, 1, 'a picture that comes again with its message costs no question')
  t.equal((await see(text('hello'))).status, 200)
  t.equal((await see(text('murder'), image('harmless'))).status, 400)
  t.equal(guard.requests.length, 1, 'nor does a text alone, or what is forbidden already')
  t.equal(backend.requests.length, 3)
})

t.test('what the judge finds in a picture is refused at its place', async (t) => {
  const { see, guard, backend, url, key } = await place(t)
  guard.answer = unsafe
  const refused = await see(text('what is this?'), image('harmless'))
  t.equal(refused.status, 400)
  t.equal(refused.headers.get('x-safety-decision'), 'forbid')
  t.match(refused.headers.get('x-safety-rules'), /judge:guard/)
  t.match(refused.headers.get('x-safety-pointer'), /^\/messages\/0/)
  t.equal(backend.requests.length, 0)
  const { body } = await call(url, '/api/v1/audit?limit=5', { key })
  t.match(JSON.stringify(body), /judge:guard/)
})

t.test('each of several pictures is a question; one that is refused ends them', async (t) => {
  const { see, guard, asked } = await place(t)
  t.equal((await see(image('harmless'), image('first-half'))).status, 200)
  t.same(asked(), [[image('harmless')], [image('first-half')]])
  guard.answer = unsafe
  t.equal((await see(text('two'), image('harmless'), image('first-half'))).status, 400)
  t.equal(guard.requests.length, 3)
})

t.test('without an opinion the constitution says what becomes of it', async (t) => {
  const failing = await place(t)
  failing.guard.answer = json({}, 500)
  const diverted = await failing.see(image('harmless'))
  t.equal(diverted.status, 403)
  t.equal(diverted.headers.get('x-safety-decision'), 'divert')
  t.equal(diverted.headers.get('x-safety-code'), 'review_required')
  const local = await place(t, '{ judge: guard, on_failure: permit_local }')
  local.guard.answer = json({}, 500)
  const passed = await local.see(image('harmless'))
  t.equal(passed.status, 200)
  t.equal(passed.headers.get(receipt), 'image_content', 'nobody has seen it')
})

t.test('a judge that does not see is asked about texts alone', async (t) => {
  const { see, guard, asked } = await place(t, '{ judge: guard, trust: both }', false)
  const passed = await see(text('a borderline text'), image('harmless'))
  t.equal(passed.status, 200)
  t.equal(passed.headers.get(receipt), 'image_content')
  t.equal(guard.requests.length, 1)
  t.equal(asked()[0], 'a borderline text')
})

t.test('a picture in an answer is judged as the answer’s', async (t) => {
  const { url, key, guard, backend } = await place(t)
  backend.answer = json({ created: 1, data: [{ b64_json: b64('harmless') }] })
  const draw = (response_format = 'b64_json') =>
    call(url, '/v1/images/generations', { key, body: { model: 'm', prompt: 'a lighthouse', response_format } })
  t.equal((await draw()).status, 200)
  t.match(JSON.parse(String(guard.requests[0]?.body)).messages, [
    { role: 'user', content: '' },
    { role: 'assistant', content: [image('harmless')] }
  ])
  guard.answer = unsafe
  backend.answer = json({ created: 1, data: [{ b64_json: b64('first-half') }] })
  t.equal((await draw()).status, 400)
  backend.answer = json({ created: 1, data: [{ url: 'https://pictures.example/a.png' }] })
  t.equal((await draw()).status, 400, 'what stands at an address is read nowhere')
  const asked = backend.requests.length
  t.equal((await draw('url')).status, 422)
  t.equal(backend.requests.length, asked, 'and is not paid for')
})
