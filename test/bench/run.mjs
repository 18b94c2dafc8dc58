// npm run bench [-- --rounds 5 --seconds 4 --only 300B --data DIR --texts natural --layers --no-portkey]
// Prints, in one run, interleaved, medians over the rounds and ratios: nothing in front of the backend, a hand-written
// undici pass-through, Fastify with undici and JSON (the floor), bare @fastify/http-proxy, Sluicegate with every guard on, and
// Portkey's gateway with a `contains` guard; then an agent's last step, and Sluicegate's evaluate endpoint. Beside throughput
// stands CPU for each request, which other programs move far less. Needs wrk (Debian: apt-get install wrk).
//   --data DIR    texts are harmless rows of DIR/train instead of sentences made here
//   --texts       cleared (default): bodies of such rows that no encoder is asked about; natural: all
//   --layers      Sluicegate four times, with more and more of it on
import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cpuOf } from './cpu.mjs'
import { wrk } from './load.mjs'
import { startAll } from './systems.mjs'
import { textsOf } from './texts.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string' },
    data: { type: 'string' },
    texts: { type: 'string', default: 'cleared' },
    layers: { type: 'boolean', default: false },
    'no-portkey': { type: 'boolean', default: false }
  }
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

const chat = { path: '/v1/chat/completions', kind: 'chat' }
const loads = [
  { name: '300B', size: 300, connections: [1, 32], ...chat },
  { name: '4KB', size: 4096, connections: [1, 32], ...chat },
  { name: '64KB', size: 65_536, connections: [1, 32], ...chat },
  // The last of 40 steps: what was said before is sent again, and only the last result is new.
  { name: 'agent 200KB', size: 204_800, connections: [1], path: '/v1/chat/completions', kind: 'agent' }
].filter(({ name }) => values.only === undefined || values.only === name)

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

const texts = values.data === undefined ? undefined : await textsOf(values.data, values.texts)
const systems = await startAll({ portkey: !values['no-portkey'], layers: values.layers })
let failed = false
try {
  const model = cpus()[0]?.model.trim()
  console.log(
    `Node ${process.version}, ${cpus().length} × ${model}, ${rounds} rounds of ${seconds} s, one process each`
  )
  console.log(`texts: ${texts === undefined ? 'made here' : `${texts.rows} harmless rows, ${values.texts}`}`)
  const gateway = systems.find(({ name }) => name === 'sluicegate')
  // What starting took goes back within seconds; idle is what stays.
  await setTimeout(5_000)
  console.log(`idle memory of sluicegate, 5 s after its start: ${residentMiB(gateway.pid)} MiB\n`)
  heading('body', 'connections', 'system', 'req/s', '× bare http-proxy', '× pass-through')
  for (const load of loads) for (const connections of load.connections) await measureChat(load, connections)
  console.log()
  heading('evaluate endpoint', 'connections', 'req/s')
  for (const { name, size, kind } of loads) {
    for (const connections of kind === 'agent' ? [] : [1, 32]) {
      const runs = []
      const load = { path: '/api/v1/safety/evaluate', kind: 'evaluate', size }
      for (let round = 0; round < rounds; round++) runs.push(await measured(gateway, load, connections, seconds))
      row(name, connections, rate(runs), ...costs(runs))
    }
  }
  console.log(`\nmemory of sluicegate after the load: ${residentMiB(gateway.pid)} MiB`)
} finally {
  for (const system of systems) system.stop()
  await texts?.remove()
}
process.exit(failed ? 1 : 0)

function heading(...columns) {
  const all = [...columns, 'p50 µs', 'p99 µs', 'CPU µs, main thread', 'CPU µs, all threads', 'to the encoder %']
  console.log(`| ${all.join(' | ')} |\n|${all.map(() => '---').join('|')}|`)
}

function row(...cells) {
  console.log(`| ${cells.join(' | ')} |`)
}

async function measureChat(load, connections) {
  const results = new Map(systems.map(({ name }) => [name, []]))
  // The first round warms every system up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const system of systems) {
      // The harmful ones are for the guards; a proxy without one would answer them like any other.
      const every = system.guards && load.kind === 'chat' ? 200 : 0
      const run = await measured(system, load, connections, round === 0 ? 1 : seconds, every)
      if (round === 0) continue
      check(system, run, connections)
      results.get(system.name).push(run)
    }
  }
  const bare = rate(results.get('@fastify/http-proxy'))
  const pass = rate(results.get('undici pass-through'))
  for (const [name, runs] of results) {
    const own = rate(runs)
    row(load.name, connections, name, own, (own / bare).toFixed(2), (own / pass).toFixed(2), ...costs(runs))
  }
}

/** One load on one system, with what it cost. */
async function measured(system, { path, kind, size }, connections, seconds, every = 0) {
  const asked = await encoderCalls(system)
  const before = cpuOf(system.pid)
  const run = await wrk({
    ...system,
    path,
    kind,
    size,
    connections,
    seconds,
    every,
    texts: await texts?.of({ size, kind })
  })
  const after = cpuOf(system.pid)
  const each = (used) => used / Math.max(1, run.requests)
  return {
    ...run,
    main: each(after.main - before.main),
    all: each(after.all - before.all),
    encoder: 100 * each((await encoderCalls(system)) - asked)
  }
}

/** Calls for which the encoder was asked, so far. */
async function encoderCalls({ url, key, name }) {
  if (!name.startsWith('sluicegate')) return 0
  const response = await fetch(`${url}/metrics`, { headers: { 'x-api-key': key } })
  return Number(/^sluicegate_encoder_duration_seconds_count (\d+)/m.exec(await response.text())?.[1] ?? 0)
}

function costs(runs) {
  const of = (field, digits = 0) => median(runs.map((run) => run[field])).toFixed(digits)
  return [of('p50'), of('p99'), of('main'), of('all'), of('encoder', 1)]
}

/** Every harmful request must have been refused, save those still on their way when the clock ran out; and nothing else. */
function check({ name, guards }, { harmful, refused, broken }, connections) {
  const missed = harmful - refused
  // Of other people's texts a few are stopped, which the guard's own figures tell.
  const wrongly = texts === undefined && refused > harmful
  if (broken > 0 || (guards && (missed > connections || wrongly)) || (!guards && refused > 0)) {
    failed = true
    console.log(`!! ${name}: ${harmful} harmful sent, ${refused} refused, ${broken} broken`)
  }
}

function rate(runs) {
  return Math.round(median(runs.map((run) => run.requests / run.seconds)))
}

function residentMiB(pid) {
  return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024)
}
