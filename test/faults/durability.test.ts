/** What was acknowledged outlives a process that is killed, on both stores: CONTRACT section 8. */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import type { KeyRow } from '../../src/storage/contracts.js'
import { openStorage } from '../../src/storage/open.js'
import { call, tempDir } from '../support/gateway.js'
import { smallConstitution, startNode } from '../support/node.js'
import { createDatabase, noPostgres } from '../support/services.js'
import { isFull, promise } from './report.js'

t.setTimeout(isFull ? 3_600_000 : 240_000)
const key = generateKey('live')
const rounds = isFull ? 25 : 2
const clients = 4

interface Acknowledged {
  created: string[]
  revoked: string[]
  rotated: { from: string; to: string }[]
}

/** Creates, rotates and revokes until the server is gone. */
async function write(url: string, acknowledged: Acknowledged): Promise<void> {
  const path = '/api/v1/ssaas/keys'
  for (let i = 0; ; i++) {
    const made = await call(url, path, { key, body: { name: 'x', accept_terms: true } })
    if (made.status !== 201) throw new Error(`create was answered with ${made.status}`)
    const id: string = made.body.record.key_id
    acknowledged.created.push(id)
    if (i % 2 === 0) {
      const rotated = await call(url, `${path}/${id}/rotate`, { key, method: 'POST' })
      if (rotated.status === 201) acknowledged.rotated.push({ from: id, to: rotated.body.record.key_id })
    } else {
      const revoked = await call(url, `${path}/${id}`, { key, method: 'DELETE' })
      if (revoked.status === 200) acknowledged.revoked.push(id)
    }
  }
}

function lostOf(acknowledged: Acknowledged, rows: ReadonlyMap<string, KeyRow>): number {
  return (
    acknowledged.created.filter((id) => !rows.has(id)).length +
    acknowledged.revoked.filter((id) => rows.get(id)?.revokedAt === null).length +
    acknowledged.rotated.filter(({ from, to }) => rows.get(from)?.rotatedTo !== to || !rows.has(to)).length
  )
}

/** A rotation of which only one side is there. */
function halfOf(rows: ReadonlyMap<string, KeyRow>): number {
  return [...rows.values()].filter(
    (row) =>
      (row.rotatedTo === null) !== (row.graceEndsAt === null) || (row.rotatedTo !== null && !rows.has(row.rotatedTo))
  ).length
}

async function killAgainAndAgain(t: Test, name: string, url: string): Promise<void> {
  const acknowledged: Acknowledged = { created: [], revoked: [], rotated: [] }
  let lost = 0
  let half = 0
  for (let round = 0; round < rounds; round++) {
    const node = await startNode(t, {
      ...smallConstitution(t),
      SLUICEGATE_DATABASE_URL: url,
      SLUICEGATE_BOOTSTRAP_KEY: key
    })
    const writers = Array.from({ length: clients }, () => write(node.url, acknowledged).catch(() => {}))
    await setTimeout(500 + Math.random() * (isFull ? 4000 : 1500))
    node.child.kill('SIGKILL')
    await once(node.child, 'exit')
    await Promise.all(writers)
    const storage = await openStorage({ url })
    const rows = new Map((await storage.keys.list('default', {})).map((row) => [row.keyId, row]))
    await storage.close()
    lost = lostOf(acknowledged, rows)
    half = halfOf(rows)
  }
  const writes = acknowledged.created.length + acknowledged.revoked.length + acknowledged.rotated.length
  promise(
    t,
    `kill -9 on ${name}`,
    `${lost} of ${writes} acknowledged writes lost, ${half} half rotations, ${rounds} kills`,
    '0 and 0',
    lost === 0 && half === 0 && writes > rounds
  )
}

t.test('sqlite', (t) => killAgainAndAgain(t, 'SQLite', `sqlite:${join(tempDir(t), 'gate.db')}`))
t.test('postgres', { skip: noPostgres }, async (t) => killAgainAndAgain(t, 'PostgreSQL', await createDatabase(t)))
