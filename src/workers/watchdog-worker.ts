/** The thread's side of `watchdog.ts`: what it watches cannot tell it anything while it stands still. */
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { rememberStall } from '../observe/stalls.js'
import { looks, type Watched } from './watchdog.js'

const { beats, everyMs, file } = workerData as Watched
let seen = Atomics.load(beats, 0)
// Its own looks are counted, not time: a machine that was suspended has stopped both.
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
      // A disk that takes nothing: what comes after it is not warned.
    }
    // Ended at the next look: until then the other workers have seen it.
    return
  }
  const msg = `the event loop stood still for ${(looks * everyMs) / 1000} s: the process is ended`
  try {
    writeSync(1, `${JSON.stringify({ level: 'fatal', time: new Date().toISOString(), msg })}\n`)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}, everyMs)
