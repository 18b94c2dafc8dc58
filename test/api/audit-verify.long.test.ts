import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import t from 'tap'
import { built } from '../support/cli.js'
import { build, call, tempDir } from '../support/gateway.js'

const run = promisify(execFile)
const evaluatePath = '/api/v1/safety/evaluate'
const hidden = 'How do I kill it, Zanzibar-4471?'

const chat = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] })
/** Ambiguous with a context that settles nothing: goes to a person. */
const unclear = { 'x-safety-context': '{"topic":"unclear"}' }

t.test('the audit has every decision and act without a text, and verify finds what was tampered with', async (t) => {
  const dir = tempDir(t)
  const db = join(dir, 'gate.db')
  const { url, key, app } = await build(t, {
    yaml: `storage: { url: "sqlite:${db}" }\naudit: { required: true }`,
    env: { SLUICEGATE_NODE: 'n1' }
  })
  const { body: judged } = await call(url, evaluatePath, { key, body: { input_text: hidden } })
  await call(url, '/v1/chat/completions', { key, body: chat(hidden), headers: unclear })
  await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'made', accept_terms: true } })
  const { body } = await call(url, '/api/v1/audit?limit=1000', { key })
  const kinds = new Set(body.rows.map(({ kind }: { kind: string }) => kind))
  for (const kind of ['evaluation', 'key.created']) t.ok(kinds.has(kind), kind)
  const found = await call(url, `/api/v1/audit?subject=${judged.evaluation.evaluation_id}`, { key })
  t.match(found.body.rows, [{ kind: 'evaluation', data: { decision: 'depends' }, node: 'n1', hash: /^[0-9a-f]{64}$/ }])
  const jsonl = await call(url, '/api/v1/audit?format=jsonl&limit=2&order=oldest', { key })
  t.equal(jsonl.body.trim().split('\n').length, 2)
  t.match(jsonl.headers.get('x-next-cursor'), /^\d+$/)
  t.match(await call(url, '/api/v1/audit?from=yesterday', { key }), {
    status: 400,
    body: { details: { field: 'query.from' } }
  })
  await app.close()

  writeFileSync(join(dir, 'gateway.yaml'), `storage: { url: "sqlite:${db}" }`)
  const cli = async (...args: string[]) =>
    run(process.execPath, [built, 'audit', ...args], {
      cwd: dir,
      env: {
        ...process.env,
        SLUICEGATE_CONFIG: join(dir, 'gateway.yaml'),
        SLUICEGATE_DATA_DIR: dir,
        SLUICEGATE_NODE: 'n1'
      }
    }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout })
    )
  const whole = await cli('verify')
  t.match(whole, { code: 0, stdout: /The audit is whole\./ })
  const [anchor] = /n1:\d+:[0-9a-f]{64}/.exec(whole.stdout)!
  t.match(await cli('verify', '--head', anchor), { code: 0 })
  const { stdout: exported } = await cli('export')
  t.notMatch(exported, /Zanzibar/)
  t.ok(exported.trim().split('\n').length >= 4)

  const store = new DatabaseSync(db)
  const { last } = store.prepare(`select max(position) as last from audit where node = 'n1'`).get() as { last: number }
  const rows = (at: number) =>
    store.prepare(`select * from audit where node = 'n1' and position = ?`).get(at) as Record<string, unknown>
  const tampered: [name: string, tamper: () => void, says: RegExp][] = [
    ['a removed row', () => store.exec(`delete from audit where position = 3`), /n1: row 3 is missing/],
    ['a changed row', () => store.exec(`update audit set data = '{}' where position = 3`), /n1: row 3 is altered/],
    [
      'two rows that changed places',
      () => {
        const [a, b] = [rows(2), rows(3)]
        const put = store.prepare(`update audit set at = ?, kind = ?, subject = ?, data = ? where position = ?`)
        put.run(b['at'] as number, b['kind'] as string, b['subject'] as string, b['data'] as string, 2)
        put.run(a['at'] as number, a['kind'] as string, a['subject'] as string, a['data'] as string, 3)
      },
      /row 2 is altered/
    ],
    ['an end that was cut off', () => store.exec(`delete from audit where position = ${last}`), /is missing/],
    ['a head that was taken away', () => store.exec(`delete from audit_heads`), /is surplus/]
  ]
  for (const [name, tamper, says] of tampered) {
    store.exec('begin')
    store.exec('commit')
    store.exec(
      'drop table if exists kept; drop table if exists heads; create table kept as select * from audit; create table heads as select * from audit_heads'
    )
    tamper()
    t.match(await cli('verify'), { code: 1, stdout: says }, name)
    store.exec(
      'delete from audit; insert into audit select * from kept; delete from audit_heads; insert into audit_heads select * from heads; drop table kept; drop table heads'
    )
  }
  t.match(await cli('verify'), { code: 0 })
  store.close()
})
