/**
 * Remembers when an event loop was blocked. The text that blocked it may come again, to another worker or to the
 * replacing process. So for a while after a stall every text is judged in a thread with a deadline, as long ones always
 * are: an endless one is refused, and blocks nothing else.
 */
import { statSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, type Log } from './log.js'

/** How long a stall is remembered, ms. */
const rememberMs = 600_000
/** Shorter than the time until a blocked process is ended, so that others are warned when the text comes again. */
export const lookMs = 250

/** Only its modification time matters. Every process with the same data folder sees it. */
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
  // The absolute value bounds the time even after the clock was set back.
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
