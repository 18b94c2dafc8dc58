/**
 * Runs dry runs in a thread of their own, since they read whole constitutions and judge many texts: no request waits
 * for them.
 */
import type { Piscina } from 'piscina'
import { isBuilt, threadFile } from '../../base/thread.js'
import type { Encoder } from '../../encoder/index.js'
import { ConstitutionError, type Problem } from '../constitution/problems.js'
import { type DryRound, type DryRun, type DryRunTask, dryRun, runDry } from './dry-run.js'

export type DryRunAnswer = DryRound | { file: string; problems: readonly Problem[] }

export interface DryRunner {
  /** @throws ConstitutionError, EncoderError, `Busy`, or the error that ended the thread */
  run(task: DryRunTask): Promise<DryRun>
  close(): Promise<void>
}

/** Too many dry runs wait already. */
export class Busy extends Error {
  override name = 'Busy'
}

const deadlineMs = 60_000
const maxQueue = 4
/**
 * A policy is often tried again soon, while its judges are still loaded; after this time the thread's memory is freed.
 */
const idleTimeoutMs = 60_000

/** @param encoder the encoder in force, which reads on this side: the thread has none */
export function createDryRunner(encoder: () => Pick<Encoder, 'read'> | undefined = () => undefined): DryRunner {
  let starting: Promise<Piscina> | undefined
  async function start(): Promise<Piscina> {
    const { Piscina } = await import('piscina')
    return new Piscina({
      filename: threadFile(import.meta.url, 'dry-run-worker'),
      minThreads: 0,
      maxThreads: 1,
      maxQueue,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb: 1024, stackSizeMb: 4 }
    })
  }
  return {
    async run(task) {
      if (!isBuilt) return runDry(task, encoder(), async (task) => dryRun(task))
      starting ??= start()
      const pool = await starting
      if (pool.queueSize >= maxQueue) throw new Busy('too many dry runs wait already')
      const signal = AbortSignal.timeout(deadlineMs)
      return runDry(task, encoder(), async (task) => {
        const answer: DryRunAnswer = await pool.run(task, { signal })
        if ('problems' in answer) throw new ConstitutionError(answer.file, answer.problems)
        return answer
      })
    },
    async close() {
      await (await starting)?.destroy()
    }
  }
}
