// Another caller in a process of its own: asks for a node's health without a pause to speak of, and tells how long it
// waited at most. What a processor was not to be had for, on either side, is not the node's and is taken off.
// Plain JavaScript, so that it needs no loader.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'

const [url, pid] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** ms that the main threads of both processes have stood ready without a processor. */
function kept() {
  let ns = 0
  for (const id of [pid, process.pid]) {
    try {
      ns += Number(readFileSync(`/proc/${id}/schedstat`, 'utf8').split(' ')[1])
    } catch {
      // It has ended; whoever asked will see.
    }
  }
  return ns / 1e6
}

let longest = 0
let failed = 0
/** When the question under way was asked. */
let since

function ask() {
  const before = kept()
  const begun = performance.now()
  since = { begun, before }
  const done = (isFailed) => {
    longest = Math.max(longest, performance.now() - begun - (kept() - before))
    failed += isFailed ? 1 : 0
    since = undefined
    setTimeout(ask, 8)
  }
  const sent = request(`${url}/healthz`, { agent }, (response) => {
    response.resume()
    response.once('end', () => done(response.statusCode !== 200))
    response.once('error', () => done(true))
  })
  sent.once('error', () => done(true))
  sent.end()
}

process.on('message', (id) => {
  // Whoever waits still has waited so long already.
  const waiting = since === undefined ? 0 : performance.now() - since.begun - (kept() - since.before)
  process.send({ id, longest: Math.max(longest, waiting), failed })
  longest = 0
  failed = 0
})
process.on('disconnect', () => process.exit(0))
ask()
