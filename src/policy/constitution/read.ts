/**
 * Reads a constitution in a thread that ends with it. A YAML document with the place of every node takes some 40 MB for
 * a policy of 2,500 lines. A process would keep that memory; a thread frees it at its end, and does not block the event
 * loop.
 */
import { Worker } from 'node:worker_threads'
import { stillSmall } from '../../base/heap.js'
import { isBuilt, threadFile } from '../../base/thread.js'
import { type Constitution, parseConstitution, type ReadOptions } from './parse.js'
import { ConstitutionError, type Problem } from './problems.js'
import type { Rule } from './rules.js'
import { isBuiltIn } from './shipped.js'

export interface ReadTask {
  yamlText: string
  fileName: string
  options: ReadOptions
}

/**
 * A constitution comes in portions, each requested by `nextPortion`: receiving 50,000 phrases at once would block the
 * event loop for as long as dozens of requests.
 */
export type ReadAnswer =
  | { head: Omit<Constitution, 'rules'>; rules: number }
  | { portion: readonly Rule[] }
  | { problems: readonly Problem[] }
export const nextPortion = 'next'

/** Some thirty times the time for the largest accepted constitution on a busy core. */
const deadlineMs = 60_000
/**
 * MB. Even bounded aliases can expand a small text; a constitution that does not fit is refused, and the process
 * survives.
 */
const maxHeap = 768

/** See `parseConstitution`. @throws ConstitutionError with every problem found */
export async function readConstitution(
  yamlText: string,
  fileName: string,
  options: ReadOptions = {}
): Promise<Constitution> {
  // The build has parsed the shipped constitutions; the remaining work costs less than starting a thread.
  if (!isBuilt || isBuiltIn(yamlText)) return parseConstitution(yamlText, fileName, options)
  const task: ReadTask = { yamlText, fileName, options }
  const worker = new Worker(threadFile(import.meta.url, 'read-worker'), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: maxHeap }
  })
  worker.once('online', stillSmall)
  return new Promise<Constitution>((resolve, reject) => {
    const refuse = (problems: readonly Problem[]) => reject(new ConstitutionError(fileName, problems))
    const refuseWhole = (message: string) => refuse([{ line: 1, column: 1, path: '', message }])
    const timer = setTimeout(() => {
      refuseWhole('takes too long to read')
      void worker.terminate()
    }, deadlineMs)
    let head: Omit<Constitution, 'rules'> | undefined
    let expected = 0
    const rules: Rule[] = []
    worker.on('message', (answer: ReadAnswer) => {
      if ('problems' in answer) return refuse(answer.problems)
      if ('head' in answer) {
        head = answer.head
        expected = answer.rules
      } else rules.push(...answer.portion)
      if (rules.length < expected) worker.postMessage(nextPortion)
      else resolve({ ...head!, rules })
    })
    worker.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') refuseWhole('takes too much memory to read')
      else reject(error)
    })
    worker.once('exit', (code) => {
      clearTimeout(timer)
      // Without effect after an answer.
      reject(new Error(`the thread that read ${fileName} ended with ${code}`))
    })
  })
}
