/**
 * Reads a constitution in a thread that ends with it. A YAML document with the place of every node takes some 40 MB for a
 * policy of 2,500 lines, and a process that has once had them keeps them; the thread's memory goes back with the thread,
 * and the event loop serves on meanwhile.
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
 * A constitution comes in portions, each asked for by `nextPortion`: to take over 50,000 phrases at once would hold the
 * event loop for as long as dozens of requests.
 */
export type ReadAnswer =
  | { head: Omit<Constitution, 'rules'>; rules: number }
  | { portion: readonly Rule[] }
  | { problems: readonly Problem[] }
export const nextPortion = 'next'

/** Some thirty times what the largest constitution that is read takes on a busy core. */
const deadlineMs = 60_000
/** MB. Aliases within bounds can still make much of little; what does not fit is refused, and the process lives on. */
const maxHeap = 768

/** See `parseConstitution`. @throws ConstitutionError with every problem found */
export async function readConstitution(
  yamlText: string,
  fileName: string,
  options: ReadOptions = {}
): Promise<Constitution> {
  // A constitution that ships with the program was read by the build; what is left of the work is less than a thread's start.
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
      // After an answer this comes too late to matter.
      reject(new Error(`the thread that read ${fileName} ended with ${code}`))
    })
  })
}
