// npm run bench:mcp:latency [-- --rounds 3 --seconds 3 --only 300B --encoder off]
// What a call of a tool takes longer through the gateway: the server itself, bare @fastify/http-proxy before it, and
// Sluicegate with every guard on, one after the other in each round; medians over the rounds, with their ratios and the
// processor time that each process took for a call (Linux). Arguments and results are as long as is said, and no two alike.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { guardedServers, script } from '../systems.mjs'
import { textOf } from './texts.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string' },
    encoder: { type: 'string', default: 'required' }
  }
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const sizes = [
  { name: '300B', bytes: 300 },
  { name: '4KB', bytes: 4096 },
  { name: '64KB', bytes: 65_536 }
].filter(({ name }) => values.only === undefined || values.only === name)
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

const started = []
const add = async (name, starting, path = '/mcp') => {
  const system = { ...(await starting), name, path }
  started.push(system)
  return system
}
let seed = 1
let failed = false
try {
  const direct = await add('server', script('mcp/upstream.mjs'))
  await add('@fastify/http-proxy', script('bare-http-proxy.mjs', direct.url))
  const yaml = `mcp: { servers: { bench: { url: '${direct.url}/mcp', max_connections: 1000 } } }\nencoder: ${values.encoder}\n`
  await add('sluicegate', guardedServers(yaml), '/mcp/bench')
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${rounds} rounds of ${seconds} s, one process each`
  )
  console.log(
    '\n| arguments and result | connections | system | calls/s | × bare http-proxy | p50 ms | p99 ms | CPU ms/call |'
  )
  console.log('|---|---|---|---|---|---|---|---|')
  for (const size of sizes) for (const connections of [1, 16]) await measure(size, connections)
} finally {
  for (const system of started) system.stop()
}
process.exit(failed ? 1 : 0)

async function measure({ name, bytes }, connections) {
  const results = new Map(started.map((system) => [system.name, []]))
  // The first round warms every system up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const system of started) {
      const run = await load(system, bytes, connections, round === 0 ? 1 : seconds)
      if (run.broken > 0) {
        failed = true
        console.log(`!! ${system.name}: ${run.broken} of ${run.calls} calls were not answered with a page`)
      }
      if (round > 0) results.get(system.name).push(run)
    }
  }
  const rate = (runs) => median(runs.map(({ calls, ms }) => (1000 * calls) / ms))
  const bare = rate(results.get('@fastify/http-proxy'))
  for (const [system, runs] of results) {
    const own = rate(runs)
    const columns = [
      own.toFixed(0),
      (own / bare).toFixed(2),
      ...['p50', 'p99', 'cpu'].map((what) => median(runs.map((run) => run[what])).toFixed(2))
    ]
    console.log(`| ${name} | ${connections} | ${system} | ${columns.join(' | ')} |`)
  }
}

async function load({ url, path, key = 'none', pid }, bytes, connections, forSeconds) {
  const pool = new Pool(url, { connections })
  const headers = {
    'x-api-key': key,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25'
  }
  const ask = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await pool.request({ path, method: 'POST', headers, body })
    return answer.body.text()
  }
  await ask('tools/list', {})
  const times = []
  let broken = 0
  const before = cpuMs(pid)
  const begun = performance.now()
  const end = begun + 1000 * forSeconds
  const client = async () => {
    while (performance.now() < end) {
      const own = ++seed
      const params = { name: 'page', arguments: { size: bytes, seed: own, text: textOf(bytes, own) } }
      const at = performance.now()
      const text = await ask('tools/call', params)
      times.push(performance.now() - at)
      if (!text.includes('"content"')) broken++
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  const ms = performance.now() - begun
  const cpu = (cpuMs(pid) - before) / times.length
  await pool.close()
  times.sort((a, b) => a - b)
  const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))]
  return { calls: times.length, ms, broken, cpu, p50: at(0.5), p99: at(0.99) }
}

/** Of all threads of a process (proc(5), fields 14 and 15). */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (1000 * (Number(fields[11]) + Number(fields[12]))) / ticksPerSecond
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
