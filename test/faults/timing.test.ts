/** How long a refusal takes tells nothing of whether a key exists. A figure, for who reads it: machines are too noisy for a bar. */
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { sibling } from '../identity/support.js'
import { call, serveReal } from '../support/gateway.js'
import { RawClient } from '../support/raw.js'
import { isFull, promise } from './report.js'

t.setTimeout(900_000)
const key = generateKey('live')

t.test('unknown and wrong keys', { skip: !isFull && 'with npm run test:faults only' }, async (t) => {
  const yaml = 'limits: { failed_auth_per_address_per_minute: 1000000 }\n'
  const { url } = await serveReal(t, { yaml, env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
  t.equal((await call(url, '/api/v1/ssaas/keys', { key })).status, 200)
  t.equal(sibling(key).slice(0, 17), key.slice(0, 17))
  // Both prefixes are asked for again and again: one exists, one does not.
  const unknownKey = generateKey('live')
  const client = new RawClient(url)
  t.teardown(() => client.close())
  const times: [number[], number[]] = [[], []]
  const statuses = new Set<number>()
  for (let i = 0; i < 20_000; i++) {
    const kind = i % 2
    const presented = sibling(kind === 0 ? unknownKey : key)
    const began = performance.now()
    const answer = await client.ask(`GET /api/v1/ssaas/keys HTTP/1.1\r\nHost: x\r\nX-API-Key: ${presented}\r\n\r\n`)
    times[kind]!.push(performance.now() - began)
    statuses.add(answer?.status ?? 0)
  }
  // Without the slowest tenth, which the machine's other work makes.
  const [unknown, wrong] = times.map((each) => {
    const kept = each.sort((a, b) => a - b).slice(0, each.length * 0.9)
    const mean = kept.reduce((sum, x) => sum + x, 0) / kept.length
    return { mean, error: kept.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (kept.length - 1) / kept.length }
  }) as [{ mean: number; error: number }, { mean: number; error: number }]
  const welch = (unknown.mean - wrong.mean) / Math.sqrt(unknown.error + wrong.error)
  const us = (ms: number) => `${(ms * 1000).toFixed(1)} µs`
  promise(
    t,
    'unknown and wrong keys',
    `${us(unknown.mean)} and ${us(wrong.mean)}, Welch’s t ${welch.toFixed(1)}, statuses ${[...statuses]}`,
    'one status; the time is told, not held to',
    statuses.size === 1 && statuses.has(401)
  )
})
