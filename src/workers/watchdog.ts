/**
 * Ends a process whose event loop stands still. Nothing can interrupt what holds it: texts up to 32 KiB are judged there, in
 * time that is linear in their length, and should a mistake of ours make one endless, the process would serve nobody ever
 * again. Ended, it has let nothing pass: its connections break, a worker is replaced by its primary, and a process that
 * stands alone by whatever supervises it. What comes after it is warned (`stalls.ts`).
 */
import { url as inspectorUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { threadFile } from '../base/thread.js'
import { stallFile } from '../observe/stalls.js'
import { working } from '../policy/evaluate/batch.js'

/** Longer than anything that holds the loop rightly, many times over; shorter than a client's patience. */
const limitMs = 10_000
/** Looks within the limit. */
export const looks = 20

export interface Watched {
  /** Counts up for as long as the event loop turns. */
  beats: Int32Array
  everyMs: number
  /** Where it is remembered that it stood still. */
  file: string
}

/**
 * From the first text on, to the end of the process: a thread takes some 10 MB, which one that idles need not have.
 * Not where a debugger may stop it.
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
  // Preloaded modules are for what serves.
  const options = { workerData: watched, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 16 } }
  const thread = new Worker(threadFile(import.meta.url, 'watchdog-worker'), options)
  // Without its watchdog the process serves on, and says so.
  thread.on('error', (error) => process.stderr.write(`sluicegate: the watchdog ended with ${error.name}\n`))
  thread.unref()
}
