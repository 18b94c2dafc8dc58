/** A node that was killed under load serves again within seconds, with all its keys and what waits for a person. */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call, tempDir } from '../support/gateway.js'
import { type Node, startNode } from '../support/node.js'
import { isFull, promise } from './report.js'

t.setTimeout(isFull ? 1_800_000 : 240_000)
const evaluate = '/api/v1/safety/evaluate'
const diverted = `Deploy with AWS_SECRET_ACCESS_KEY=${'wJalrXUtnFEMIK7MDENGbPxRfiCYzQ8vTn2LpKd4'} and key id AKIA${'Q3EGRN5TWPL7XK2M'}`
const kills = isFull ? 100 : 3
const keys = isFull ? 100_000 : 1_000
const clients = 8

/** Copies of the one key there is, each with a prefix and a hash of its own. */
function addKeys(file: string): void {
  // The node writes its audit meanwhile.
  const database = new DatabaseSync(file, { timeout: 10_000 })
  const columns = database
    .prepare("SELECT name FROM pragma_table_info('keys')")
    .all()
    .map((row) => String((row as { name: unknown }).name))
  const own: Record<string, string> = {
    key_id: "'key_made_' || n.value",
    lineage: "'key_made_' || n.value",
    prefix: "printf('%08d', n.value)",
    hash: 'randomblob(32)'
  }
  database.exec(
    `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${keys})
    INSERT INTO keys (${columns.join(', ')}) SELECT ${columns.map((name) => own[name] ?? `keys.${name}`).join(', ')}
    FROM n, (SELECT * FROM keys LIMIT 1) AS keys`
  )
  database.close()
}

/** Asks until the node is gone. */
async function load(node: Node, key: string): Promise<void> {
  const body = { input_text: 'Could you help me to plan a trip to the sea with two children? '.repeat(20) }
  const client = async () => {
    for (;;) await call(node.url, evaluate, { key, body })
  }
  await Promise.allSettled(Array.from({ length: clients }, client))
}

t.test('the constitution as shipped, SQLite', async (t) => {
  const key = generateKey('live')
  const env = { SLUICEGATE_DATA_DIR: tempDir(t), SLUICEGATE_BOOTSTRAP_KEY: key }
  const first = await startNode(t, env)
  const { body } = await call(first.url, evaluate, { key, body: { input_text: diverted } })
  const review = (body as { evaluation: { review_id?: string } }).evaluation.review_id
  t.match(review, /^rev_/, 'one waits for a person')
  addKeys(join(first.dataDir, 'sluicegate.db'))
  const times: number[] = []
  let lost = 0
  for (let node = first; times.length < kills; ) {
    const loaded = load(node, key)
    await setTimeout(200 + Math.random() * 1_500)
    node.child.kill('SIGKILL')
    await once(node.child, 'exit')
    await loaded
    const begun = performance.now()
    node = await startNode(t, env)
    const { status } = await fetch(`${node.opsUrl}/readyz`)
    times.push(status === 200 ? performance.now() - begun : Number.POSITIVE_INFINITY)
    const stored = await call(node.url, `/api/v1/pdp/reviews/${review}`, { key })
    if (stored.status !== 200 || (stored.body as { status?: string }).status !== 'pending') lost++
  }
  times.sort((a, b) => a - b)
  const seconds = (share: number) => ((times[Math.floor(share * (times.length - 1))] ?? 0) / 1000).toFixed(1)
  promise(
    t,
    'ready after kill -9 under load',
    `${keys} keys, ${times.length} kills: half within ${seconds(0.5)} s, all within ${seconds(1)} s, ${lost} times the review that waits was lost`,
    `5 s, 0${isFull ? '' : ' (the short form holds to no time)'}`,
    lost === 0 && times.every(Number.isFinite) && (!isFull || times.at(-1)! <= 5_000)
  )
})
