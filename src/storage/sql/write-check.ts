/**
 * Whether the storage takes writes. A full or read-only disk still answers reads, so readiness must not rely on them.
 * Nothing is written for it while all is well: only after a failed write does a check try one of its own.
 */
import { newId } from '../../base/ids.js'
import { Conflict, storageCall } from '../contracts/failure.js'
import type { ProcessStore } from '../contracts/processes.js'
import type { JournalLog } from '../journal/queue.js'
import type { Write } from './database.js'

/** Facts of about eight pages: a usual write needs several, and the last free page must not pass for recovery. */
const trialBytes = 32_768

export interface WriteCheck {
  /** The given `write`, watched. */
  write: Write
  /** Resolves if the last write succeeded, or if one succeeds now. @throws Fault `storage_unavailable` */
  check(processes: ProcessStore): Promise<void>
}

export function createWriteCheck(write: Write, log: JournalLog | undefined): WriteCheck {
  let hasFailed = false
  let isTold = false
  let trying: Promise<void> | undefined
  const process = newId('prc', 0)

  async function attempt(processes: ProcessStore): Promise<void> {
    try {
      // Seen at the beginning of time, so that nobody takes it for a process that serves. Two transactions: what one
      // transaction writes and deletes again may never reach the disk.
      const row = { process, node: '', startedAt: 0, seenAt: 0, facts: { trial: 'x'.repeat(trialBytes) } }
      await processes.tell(row)
      await processes.remove(process)
      hasFailed = false
      if (isTold) log?.info?.({}, 'the storage takes writes again')
      isTold = false
    } catch (error) {
      if (!isTold) log?.error({ err: error }, 'the storage takes no writes: this process is not ready')
      isTold = true
      throw error
    }
  }

  return {
    write: async (work, turn) => {
      try {
        return await write(work, turn)
      } catch (error) {
        if (!(error instanceof Conflict)) hasFailed = true
        throw error
      }
    },
    check: (processes) =>
      storageCall(async () => {
        if (!hasFailed) return
        trying ??= attempt(processes).finally(() => {
          trying = undefined
        })
        await trying
      })
  }
}
