/** Samples over the API: what is taken, who reads it, and that nobody does unseen. */
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Built, build, call } from '../support/gateway.js'
import { type Browser, invited, password } from '../support/people.js'

const path = '/api/v1/safety/samples'
const evaluate = '/api/v1/safety/evaluate'
const token = `ghp_${'x7Kp2mQ9vB4nR8sT1wY6zA3cE5gJ0hL2dFqU'}`
const stopped = 'How do I kill it, Zanzibar-4471?'

// biome-ignore lint/suspicious/noExplicitAny: tests read what the wire gave
type Body = any

/** An administrator who may read samples too. */
async function reader(t: Test, { url, key }: Built, role = 'admin', login = `${role}@example.org`): Promise<Browser> {
  const admin = await invited(url, key, 'admin', `granter-of-${login}`)
  const made = await admin.ask('/api/v1/auth/invitations', { body: { role, reads_samples: true } })
  t.match(made, { status: 201, body: { reads_samples: true } })
  const person = await invited(url, key, 'viewer', `x-${login}`)
  person.jar.clear()
  const accepted = await person.ask('/api/v1/auth/accept', { body: { token: made.body.token, login, password } })
  t.match(accepted, { status: 201 })
  return person
}

/** So many samples, when they are there. */
async function until(person: Browser, count: number, query = ''): Promise<Body> {
  for (let i = 0; i < 2400; i++) {
    const { body } = await person.ask(`${path}?limit=1000${query}`)
    if (body.samples.length >= count) return body
    await wait(25)
  }
  throw new Error('they did not come')
}

const say = ({ url, key }: Built, input_text: string, context?: object) =>
  call(url, evaluate, { key, body: { input_text, ...(context && { context }) } })
const chat = ({ url, key }: Built, content: unknown) =>
  call(url, '/v1/chat/completions', { key, body: { model: 'm', messages: [{ role: 'user', content }] } })
const textOf = (sample: Body) => sample.parts.map(({ text }: Body) => text).join('\n')

t.test('what was stopped is there, masked, tied to its row, and each reading is in the audit', async (t) => {
  const built = await build(t, { yaml: 'samples: { what: stopped }' })
  const person = await reader(t, built)
  await say(built, 'A harmless question about bread.')
  const { body: verdict } = await say(built, `${stopped} My key is ${token}`, { topic: 'x', note: `see ${token}` })
  t.equal((await chat(built, `How do I kill it? password = "Zx9!kPq2vT7w"`)).status, 403)
  const { samples, keeping } = await until(person, 2)
  t.match(keeping, { what: 'stopped', rows: 2, max_rows: 10_000, retention_seconds: 30 * 86_400 })
  t.equal(samples.length, 2, 'nothing of what passed')
  const found = samples.find(({ surface }: Body) => surface === 'evaluate')
  t.match(found, { evaluation_id: verdict.evaluation.evaluation_id, decision: verdict.evaluation.decision })
  t.notOk('parts' in found, 'a list has no texts')
  const { body: sample, headers } = await person.ask(`${path}/${found.sample_id}`)
  t.equal(headers['cache-control'], 'no-store')
  t.match(sample, {
    parts: [{ role: 'user', text: `${stopped} My key is <SECRETS>` }],
    context: { topic: 'x', note: 'see <SECRETS>' },
    direction: 'request',
    is_cut: false
  })
  const { span, part } = sample.detections.find(({ rule }: Body) => rule === 'secrets')
  t.equal(sample.parts[part].text.slice(span.start, span.end), '<SECRETS>', 'places are those of the text that is kept')
  const ofChat = samples.find(({ surface }: Body) => surface === 'chat')
  const { body: chatted } = await person.ask(`${path}/${ofChat.sample_id}`)
  t.match(textOf(chatted), 'How do I kill it? password = "<SECRETS>"')
  t.notMatch(JSON.stringify(chatted), /Zx9/)

  const { body: rows } = await person.ask(`/api/v1/audit?subject=${verdict.evaluation.evaluation_id}`)
  t.match(rows.rows, [{ kind: 'evaluation', data: { sample: found.sample_id } }])
  const { body: acts } = await person.ask('/api/v1/audit?kind=sample.read')
  t.match(acts.rows, [{ subject: ofChat.sample_id }, { subject: found.sample_id, data: { redacted: [] } }])
  t.ok((await person.ask('/api/v1/audit?kind=sample.listed')).body.rows.length > 0)
  t.notMatch(built.logs.join(''), /Zanzibar/)
})

t.test('no key reads or deletes them, whatever its scopes, and no person without the right', async (t) => {
  const built = await build(t, { yaml: 'samples: { what: stopped }' })
  const { url, key } = built
  const person = await reader(t, built, 'viewer')
  await say(built, stopped)
  const { samples } = await until(person, 1)
  const one = `${path}/${samples[0].sample_id}`
  const admin = await invited(url, key, 'admin', 'admin@example.org')
  for (const [method, target] of [
    ['GET', path],
    ['GET', one],
    ['DELETE', one],
    ['DELETE', `${path}?all=true`]
  ] as const) {
    const refused = { status: 403, body: { error: 'insufficient_scope', required: 'samples:read' } }
    t.match(await call(url, target, { key, method }), refused, `${method} by a key`)
    t.match(await admin.ask(target, { method }), refused, `${method} by an administrator`)
  }
  const asked = { name: 'x', scopes: ['samples:read'], accept_terms: true }
  t.match(await call(url, '/api/v1/ssaas/keys', { key, body: asked }), { status: 400 })
  const granted = { role: 'viewer', reads_samples: true }
  t.match(await call(url, '/api/v1/auth/invitations', { key, body: granted }), { status: 403 }, 'no key grants it')
  const { body: people } = await admin.ask('/api/v1/auth/users')
  const { user_id } = people.users.find(({ login }: Body) => login === 'admin@example.org')
  const user = `/api/v1/auth/users/${user_id}`
  t.match(await call(url, user, { key, method: 'PATCH', body: { reads_samples: true } }), { status: 403 })
  t.match(await admin.ask(user, { method: 'PATCH', body: { reads_samples: true } }), { body: { reads_samples: true } })
  t.match(await admin.ask(one), { status: 200 }, 'an administrator who took the right, which the audit tells')
  t.match((await admin.ask('/api/v1/audit?kind=user.changed')).body.rows, [{ data: { reads_samples: true } }])
  t.match(await person.ask('/api/v1/audit'), { status: 403 }, 'the right gives no other')
})

t.test('never of sex and children, never media, and nothing while it is off', async (t) => {
  const built = await build(t, { yaml: 'samples: { what: share, share: 1 }\ndefaults: { unscannable: permit }' })
  const person = await reader(t, built)
  const picture = `iVBORw0KGgo${'A'.repeat(400)}`
  await say(built, 'How can I convince a child not to tell anyone about our meetings?')
  await chat(built, [
    { type: 'text', text: `What is on it? And inline: data:image/png;base64,${picture} and ${picture}` },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }
  ])
  await say(built, 'The last one is about bread.')
  const { samples } = await until(person, 3)
  const texts: string[] = []
  for (const { sample_id } of samples) texts.push(JSON.stringify((await person.ask(`${path}/${sample_id}`)).body))
  t.match(texts.join(), /about bread/)
  t.match(texts.join(), /inline: <MEDIA> and <MEDIA>/)
  t.notMatch(texts.join(), /our meetings|iVBOR/)
  const { body: metrics } = await call(built.url, '/metrics', { key: built.key })
  t.match(metrics, /sluicegate_samples_total\{outcome="withheld"\} 1/)

  const off = await build(t)
  const other = await reader(t, off)
  t.match(await say(off, stopped), { status: 200 })
  const { body: rows } = await other.ask('/api/v1/audit?kind=evaluation')
  t.notOk('sample' in rows.rows[0].data)
  t.match((await other.ask(path)).body, { samples: [], keeping: { what: 'off', rows: 0 } })
})

t.test('personal data are replaced for a reading that asks for it', async (t) => {
  const built = await build(t, { yaml: 'samples: { what: stopped }' })
  const person = await reader(t, built)
  await say(built, `${stopped} Write to jane@example.org`)
  const { samples } = await until(person, 1)
  const one = `${path}/${samples[0].sample_id}`
  t.match(textOf((await person.ask(one)).body), 'jane@example.org')
  const { body } = await person.ask(`${one}?redact=personal_data`)
  t.match(body, { redacted: ['personal_data'], parts: [{ text: `${stopped} Write to <PERSONAL_DATA>` }] })
  t.match(await person.ask(`${one}?redact=names`), { status: 503 }, 'what cannot be looked for is not shown')
  t.match(await person.ask(`${one}?redact=all`), { status: 400 })
})

t.test('they are found, paged and deleted, one, by filter, or all', async (t) => {
  const built = await build(t, { yaml: 'samples: { what: share, share: 1 }' })
  const person = await reader(t, built)
  for (let i = 0; i < 4; i++) await say(built, `A question about bread, number ${i}.`)
  for (let i = 0; i < 3; i++) await say(built, `${stopped} ${i}`)
  const { samples } = await until(person, 7)
  const { body: first } = await person.ask(`${path}?limit=4`)
  const { body: second } = await person.ask(`${path}?limit=4&cursor=${first.next_cursor}`)
  t.same([...first.samples, ...second.samples], samples)
  t.notOk(second.next_cursor)
  const count = async (query: string) => (await person.ask(`${path}?${query}`)).body.samples.length
  t.equal(await count('decision=permit'), 4)
  t.equal(await count('decision=stopped'), 3)
  t.equal(await count('rule=ambiguous_kill_named'), 3)
  t.equal(await count('rule=ambiguous'), 0)
  t.equal(await count('category=violence&from=1h'), 3)
  t.equal(await count('to=1h'), 0)
  t.equal(await count(`evaluation_id=${samples[2].evaluation_id}`), 1)
  t.equal(await count('route=/v1/chat/completions'), 0)
  t.match(await person.ask(`${path}?cursor=x`), { status: 400 })
  t.match(await person.ask(`${path}?from=yesterday`), { status: 400, body: { details: { field: 'query.from' } } })
  t.match(await person.ask(`${path}/${samples[0].sample_id}`, { method: 'DELETE' }), { status: 204 })
  t.match(await person.ask(`${path}/${samples[0].sample_id}`), { status: 404 })
  t.match(await person.ask(path, { method: 'DELETE' }), { status: 400 }, 'all of them by no accident')
  t.match(await person.ask(`${path}?decision=permit`, { method: 'DELETE' }), { body: { deleted: 4 } })
  t.match(await person.ask(`${path}?all=true`, { method: 'DELETE' }), { body: { deleted: 2 } })
  const { body } = await person.ask('/api/v1/audit?kind=sample.deleted')
  t.match(body.rows, [
    { data: { rows: 2 } },
    { data: { rows: 4, decision: 'permit' } },
    { subject: samples[0].sample_id }
  ])
})

t.test('a candidate is tried over them: texts go to nobody, and counts alone to who may not read them', async (t) => {
  const built = await build(t, { yaml: 'samples: { what: stopped }' })
  const person = await reader(t, built)
  const viewer = await invited(built.url, built.key, 'viewer', 'viewer@example.org')
  for (let i = 0; i < 19; i++) await say(built, `${stopped} ${i}`)
  await until(person, 19)
  const source =
    "name: milder\nextends: default\nversion: '1'\nwithout: [ambiguous_kill_named]\nrules: [{ name: ambiguous_kill, category: violence, weight: 0.05, any: [kill it] }]\n"
  const test = '/api/v1/constitutions/milder/test'
  const body = { source, beside: 'default', samples: { decision: 'stopped' } }
  t.match(await call(built.url, test, { key: built.key, body }), { status: 403 }, 'no key')
  t.match(await viewer.ask(test, { body }), { status: 400, body: { details: { field: 'samples' } } }, 'too few')
  await say(built, `${stopped} 20`)
  await until(person, 20)
  const tried = await person.ask(test, { body })
  t.match(tried, {
    status: 200,
    body: { diff: { changed: 20, milder: 20, transitions: [{ from: 'depends', to: 'permit', count: 20 }] } }
  })
  t.match(tried.body.results[0], { id: /^smp_/, changed: true })
  t.notMatch(JSON.stringify(tried.body), /Zanzibar/)
  t.match(await viewer.ask(test, { body }), { status: 200, body: { results: [], diff: { milder: 20 } } })
  t.match(await viewer.ask(test, { body: { ...body, texts: ['a'] } }), { status: 400 })
  t.match(await viewer.ask(test, { body: { source } }), { status: 400 })
  const { body: rows } = await person.ask('/api/v1/audit?kind=sample.replayed')
  t.match(rows.rows, [{ subject: 'milder', data: { rows: 20, counts_only: true } }, { data: { counts_only: false } }])
})
