/** What was acknowledged outlives a process that is killed, on both stores: docs/api.md, section 8. */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { tempDir } from '../support/gateway.js'
import { smallConstitution, startNode } from '../support/node.js'
import { createDatabase, noPostgres } from '../support/services.js'
import { isFull, promise } from './report.js'
import { lostIn, nothingYet, write, writesOf } from './writes.js'

t.setTimeout(isFull ? 3_600_000 : 240_000)
const key = generateKey('live')
/** In full, kills go on until there were so many acknowledged writes. */
const leastWrites = isFull ? 10_000 : 1
const leastKills = isFull ? 25 : 2
const clients = 4

async function killAgainAndAgain(t: Test, name: string, url: string): Promise<void> {
  const acknowledged = nothingYet()
  let found = { lost: 0, half: 0 }
  let kills = 0
  for (; kills < leastKills || writesOf(acknowledged) < leastWrites; kills++) {
    const node = await startNode(t, {
      ...smallConstitution(t, 'review: { allow_own: true }\n'),
      SLUICEGATE_DATABASE_URL: url,
      SLUICEGATE_BOOTSTRAP_KEY: key
    })
    const writers = Array.from({ length: clients }, () =>
      write(node.url, key, acknowledged, () => false, true).catch(() => {})
    )
    await setTimeout(500 + Math.random() * (isFull ? 10_000 : 1500))
    node.child.kill('SIGKILL')
    await once(node.child, 'exit')
    await Promise.all(writers)
    found = await lostIn(url, acknowledged)
    if (found.lost + found.half > 0) break
  }
  promise(
    t,
    `kill -9 on ${name}`,
    `${found.lost} of ${writesOf(acknowledged)} acknowledged writes lost, ${found.half} half rotations, ${kills} kills`,
    '0 and 0',
    found.lost === 0 && found.half === 0 && writesOf(acknowledged) > leastKills
  )
}

t.test('sqlite', (t) => killAgainAndAgain(t, 'SQLite', `sqlite:${join(tempDir(t), 'gate.db')}`))
t.test('postgres', { skip: noPostgres }, async (t) => killAgainAndAgain(t, 'PostgreSQL', await createDatabase(t)))
