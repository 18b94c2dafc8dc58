// npm run bench [-- --rounds 5 --seconds 4 --only 300B --no-portkey]
// Prints, in one run, interleaved, medians over the rounds and ratios: nothing in front of the backend, a hand-written
// undici pass-through, bare @fastify/http-proxy, Sluicegate with every guard on, and Portkey's gateway with a
// `contains` guard; then Sluicegate's evaluate endpoint alone. Needs wrk (Debian: apt-get install wrk).
import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { wrk } from './load.mjs'
import { startAll } from './systems.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string' },
    'no-portkey': { type: 'boolean', default: false }
  }
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

const sizes = [
  { name: '300B', bytes: 300 },
  { name: '4KB', bytes: 4096 },
  { name: '64KB', bytes: 65_536 }
].filter(({ name }) => values.only === undefined || values.only === name)

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

const systems = await startAll({ portkey: !values['no-portkey'] })
let failed = false
try {
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${rounds} rounds of ${seconds} s, one process each`
  )
  const gateway = systems.find(({ name }) => name === 'sluicegate')
  // What starting took goes back within seconds; idle is what stays.
  await setTimeout(5_000)
  console.log(`idle memory of sluicegate, 5 s after its start: ${residentMiB(gateway.pid)} MiB\n`)
  console.log('| body | connections | system | req/s | × bare http-proxy | × pass-through | p50 µs | p99 µs |')
  console.log('|---|---|---|---|---|---|---|---|')
  for (const size of sizes) {
    for (const connections of [1, 32]) {
      await measureChat(size, connections)
    }
  }
  console.log('\n| evaluate endpoint | connections | req/s | p50 µs | p99 µs |\n|---|---|---|---|---|')
  for (const size of sizes) {
    for (const connections of [1, 32]) {
      const runs = []
      for (let round = 0; round < rounds; round++) {
        runs.push(
          await wrk({
            ...gateway,
            path: '/api/v1/safety/evaluate',
            kind: 'evaluate',
            size: size.bytes,
            connections,
            seconds,
            every: 0
          })
        )
      }
      console.log(
        `| ${size.name} | ${connections} | ${rate(runs)} | ${median(runs.map((run) => run.p50))} | ${median(runs.map((run) => run.p99))} |`
      )
    }
  }
  console.log(`\nmemory of sluicegate after the load: ${residentMiB(gateway.pid)} MiB`)
} finally {
  for (const system of systems) system.stop()
}
process.exit(failed ? 1 : 0)

async function measureChat(size, connections) {
  const results = new Map(systems.map(({ name }) => [name, []]))
  // The first round warms every system up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const system of systems) {
      // The harmful ones are for the guards; a proxy without one would answer them like any other.
      const every = system.guards ? 200 : 0
      const run = await wrk({
        ...system,
        path: '/v1/chat/completions',
        kind: 'chat',
        size: size.bytes,
        connections,
        seconds: round === 0 ? 1 : seconds,
        every
      })
      if (round === 0) continue
      check(system, run, connections)
      results.get(system.name).push(run)
    }
  }
  const bare = rate(results.get('@fastify/http-proxy'))
  const pass = rate(results.get('undici pass-through'))
  for (const [name, runs] of results) {
    const own = rate(runs)
    console.log(
      `| ${size.name} | ${connections} | ${name} | ${own} | ${(own / bare).toFixed(2)} | ${(own / pass).toFixed(2)} | ${median(runs.map((run) => run.p50))} | ${median(runs.map((run) => run.p99))} |`
    )
  }
}

/** Every harmful request must have been refused, save those still on their way when the clock ran out; and nothing else. */
function check({ name, guards }, { harmful, refused, broken }, connections) {
  const missed = harmful - refused
  if (broken > 0 || (guards && (missed > connections || refused > harmful)) || (!guards && refused > 0)) {
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
