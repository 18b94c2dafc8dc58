/**
 * Ends a process whose event loop is blocked. Nothing else can interrupt it: texts up to 32 KiB are judged there in
 * linear time, but a defect could make one endless, and the process would never serve again. Ending it permits nothing:
 * its connections break, and the primary or a supervisor replaces it. The next process is warned (`stalls.ts`).
 */
import { url as inspectorUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { threadFile } from '../base/thread.js'
import { stallFile } from '../observe/stalls.js'
import { working } from '../policy/evaluate/batch.js'

/** Many times longer than any legitimate work on the loop; shorter than a client's patience. */
const limitMs = 10_000
/** Checks within the limit. */
export const looks = 20

export interface Watched {
  /** Counts up for as long as the event loop turns. */
  beats: Int32Array
  everyMs: number
  /** The file that records the stall. */
  file: string
}

/**
 * Starts with the first text, since the thread takes some 10 MB that an idle process need not spend. Not under a
 * debugger, which may stop the loop.
 */
export function startWatchdog(dataDir: string): void {
  if (inspectorUrl() !== undefined) return
  const begin = () => {
    working.unsubscribe(begin)
    watch(dataDir)
  }
  working.subscribe(begin)
}

function watch(dataDir: string): void {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  const watched: Watched = { beats, everyMs: limitMs / looks, file: stallFile(dataDir) }
  setInterval(() => Atomics.add(beats, 0, 1), watched.everyMs / 2).unref()
  // Without the process's preloaded modules.
  const options = { workerData: watched, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 16 } }
  const thread = new Worker(threadFile(import.meta.url, 'watchdog-worker'), options)
  // Without its watchdog the process still serves, and logs this.
  thread.on('error', (error) => process.stderr.write(`sluicegate: the watchdog ended with ${error.name}\n`))
  thread.unref()
}
