/**
 * Reads a constitution in a thread that ends with it. A YAML document with the place of every node takes some 40 MB for a
 * policy of 2,500 lines, and a process that has once had them keeps them; the thread's memory goes back with the thread,
 * and the event loop serves on meanwhile.
 */
import { Worker } from 'node:worker_threads'
import { stillSmall } from '../heap.js'
import { type Constitution, parseConstitution, type ReadOptions } from './constitution.js'
import { ConstitutionError, type Problem } from './problems.js'
import { isBuilt, threadFile } from './thread.js'

export interface ReadTask {
  yamlText: string
  fileName: string
  options: ReadOptions
}

export type ReadAnswer = { constitution: Constitution } | { problems: readonly Problem[] }

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
  if (!isBuilt) return parseConstitution(yamlText, fileName, options)
  const task: ReadTask = { yamlText, fileName, options }
  const worker = new Worker(threadFile('read-worker'), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: maxHeap }
  })
  worker.once('online', stillSmall)
  const answer = await new Promise<ReadAnswer>((resolve, reject) => {
    const refuse = (message: string) => resolve({ problems: [{ line: 1, column: 1, path: '', message }] })
    const timer = setTimeout(() => {
      refuse('takes too long to read')
      void worker.terminate()
    }, deadlineMs)
    worker.once('message', resolve)
    worker.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') refuse('takes too much memory to read')
      else reject(error)
    })
    worker.once('exit', (code) => {
      clearTimeout(timer)
      // After an answer this comes too late to matter.
      reject(new Error(`the thread that read ${fileName} ended with ${code}`))
    })
  })
  if ('problems' in answer) throw new ConstitutionError(fileName, answer.problems)
  return answer.constitution
}
