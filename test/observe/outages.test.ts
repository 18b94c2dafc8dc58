/** A task that keeps failing is told, and does not fill the log. */
import t from 'tap'
import { createLog } from '../../src/observe/log.js'
import { tellOutages, tellRound } from '../../src/observe/outages.js'

t.test('an outage is told at its start with its cause, once a minute while it lasts, and at its end', async (t) => {
  const lines: Record<string, unknown>[] = []
  const log = createLog({ destination: { write: (line) => lines.push(JSON.parse(line)) } })
  let now = 0
  const rounds = tellOutages(log, 'rows wait', () => now)
  const fails = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }))

  await tellRound(rounds, async () => {})
  t.same(lines, [], 'a success is nothing to tell')
  for (let second = 0; second <= 120; second++, now += 1_000) await tellRound(rounds, fails)
  await tellRound(rounds, async () => {})
  await tellRound(rounds, async () => {})
  t.match(lines, [
    { level: 'error', msg: 'rows wait', failures: 1, err: { code: 'ECONNREFUSED' } },
    { level: 'error', msg: 'rows wait', failures: 61 },
    { level: 'error', msg: 'rows wait', failures: 121 },
    { level: 'info', msg: 'over: rows wait', failures: 121, seconds: 121 }
  ])
  t.equal(lines.length, 4)

  await tellRound(rounds, fails)
  t.match(lines[4], { level: 'error', failures: 1 }, 'the next outage is told anew')
})
