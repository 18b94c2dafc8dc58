/** The thread's side of `watchdog.ts`, which works while the watched event loop is blocked. */
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { rememberStall } from '../observe/stalls.js'
import { looks, type Watched } from './watchdog.js'

const { beats, everyMs, file } = workerData as Watched
let seen = Atomics.load(beats, 0)
// Counts its own checks instead of time: a suspended machine stops both.
let still = 0

setInterval(() => {
  const now = Atomics.load(beats, 0)
  still = now === seen ? still + 1 : 0
  seen = now
  if (still < looks) return
  if (still === looks) {
    try {
      rememberStall(file)
    } catch {
      // The disk failed: the next process is not warned.
    }
    // Ends the process at the next check; until then the other workers have seen the stall.
    return
  }
  const msg = `the event loop stood still for ${(looks * everyMs) / 1000} s: the process is ended`
  try {
    writeSync(1, `${JSON.stringify({ level: 'fatal', time: new Date().toISOString(), msg })}\n`)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}, everyMs)
