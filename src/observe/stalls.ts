/**
 * What is remembered of an event loop that stood still: when. The text that held it may come again, to another worker or to
 * the process that takes its place, and so may texts like it. So for a while after it every text is judged in a thread with
 * a deadline, as long ones always are: one that is never done with is refused, and nothing else stands still for it.
 */
import { statSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, type Log } from './log.js'

/** How long a stall is remembered, ms. */
const rememberMs = 600_000
/** Sooner than a process that stands still is ended: whoever asks again finds the others warned. */
export const lookMs = 250

/** Its time is all that it tells. Every process that shares the data folder sees it. */
export const stallFile = (dataDir: string): string => join(dataDir, 'stalled')

/** @throws where the disk does not take it */
export function rememberStall(file: string): void {
  writeFileSync(file, `${new Date().toISOString()}\n`, { mode: 0o600 })
}

export interface Stalls {
  /** Whether an event loop stood still lately. */
  readonly isRecent: boolean
  close(): void
}

/** @param seen is told each one that is found, ms since the epoch */
export function watchStalls(dataDir: string, log: Log, seen: (at: number) => void): Stalls {
  const file = stallFile(dataDir)
  let last = 0
  function found(at: number): void {
    if (at === last) return
    last = at
    if (!isRecent()) return
    log.error(
      { stood_still_at: new Date(at).toISOString(), minutes: rememberMs / 60_000 },
      'every text is judged in a thread for a while'
    )
    seen(at)
  }
  // Also where the clock was set back: never for longer than so much.
  const isRecent = () => Math.abs(Date.now() - last) < rememberMs
  const failed = (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.error({ err: describeError(error) }, 'whether a process stood still is not known')
  }
  // Before the first text.
  try {
    found(statSync(file).mtimeMs)
  } catch (error) {
    failed(error)
  }
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    stat(file)
      .then(
        ({ mtimeMs }) => found(mtimeMs),
        () => {}
      )
      .finally(() => {
        isLooking = false
      })
  }, lookMs).unref()
  return {
    get isRecent() {
      return isRecent()
    },
    close: () => clearInterval(timer)
  }
}
