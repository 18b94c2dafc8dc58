/**
 * A local text classifier from an ONNX file, in a thread of its own, since onnxruntime-node computes in the calling
 * thread and tokenizing takes long. The model gets no roles: every text is classified by itself, long ones in windows,
 * and the worst counts.
 */
import type { OnnxJudgeSettings } from '../base/settings.js'
import { threadFile } from '../base/thread.js'
import { type Adapter, JudgeFailure, scoresOf } from './adapter.js'
import type { OnnxTask, OnnxThreadData } from './onnx-worker.js'

/** For the thread to load its packages and the model. */
const startMs = 120_000
/** Longest time for one window. */
const windowMs = 5_000

/** @throws an Error that names the judge and what is missing or wrong */
export async function createOnnx(settings: OnnxJudgeSettings): Promise<Adapter> {
  const { name, model, tokenizer, outputs, activation, maxTokens, overlap, labels } = settings
  const { Piscina } = await import('piscina')
  const workerData: OnnxThreadData = { model, tokenizer, outputs: [...outputs], activation, maxTokens, overlap }
  const pool = new Piscina({
    filename: threadFile(import.meta.url, 'onnx-worker'),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // A text under way checks the time between two windows.
    closeTimeout: settings.timeoutMs + windowMs,
    workerData
  })
  // Later it ends the thread all the same.
  pool.on('error', () => undefined)
  const run = (task: OnnxTask, signal?: AbortSignal): Promise<number[]> =>
    pool.run(task, signal === undefined ? {} : { signal })
  try {
    await run({ texts: ['ready'], until: Number.POSITIVE_INFINITY }, AbortSignal.timeout(startMs))
  } catch (error) {
    await pool.destroy()
    throw new Error(`judges.${name}: ${error instanceof Error ? error.message : 'cannot be loaded'}`)
  }
  return {
    async ask({ texts }) {
      // Not by the signal, which would end the thread and its model: the thread checks the time between two windows.
      const until = Date.now() + settings.timeoutMs
      const scores = await run({ texts: texts.map(({ text }) => text), until })
      if (scores.length !== outputs.length)
        throw new JudgeFailure('timeout', 'the judge did not come to its end in time')
      return {
        scores: scoresOf(
          labels,
          scores.map((score, i) => [outputs[i]!, score])
        ),
        flagged: false
      }
    },
    // A thread that is ended within a call of the library ends the process (`base/thread.ts`).
    close: () => pool.close({ force: true })
  }
}
