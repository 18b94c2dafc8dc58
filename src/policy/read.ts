/**
 * Reads a constitution in a thread that ends with it. A YAML document with the place of every node takes some 40 MB for a
 * policy of 2,500 lines, and a process that has once had them keeps them; the thread's memory goes back with the thread,
 * and the event loop serves on meanwhile.
 */
import { Worker } from 'node:worker_threads'
import { type Constitution, parseConstitution } from './constitution.js'
import type { Coverage } from './judges.js'
import { ConstitutionError, type Problem } from './problems.js'
import { isBuilt, threadFile } from './thread.js'

export interface ReadTask {
  yamlText: string
  fileName: string
  coverage: Coverage
}

export type ReadAnswer = { constitution: Constitution } | { problems: readonly Problem[] }

/**
 * @param fileName only for messages
 * @param coverage the judges that it may escalate to
 * @throws ConstitutionError with every problem found
 */
export async function readConstitution(
  yamlText: string,
  fileName: string,
  coverage: Coverage = {}
): Promise<Constitution> {
  if (!isBuilt) return parseConstitution(yamlText, fileName, coverage)
  const task: ReadTask = { yamlText, fileName, coverage }
  const answer = await new Promise<ReadAnswer>((resolve, reject) => {
    const worker = new Worker(threadFile('read-worker'), { workerData: task })
    worker.once('message', resolve)
    worker.once('error', reject)
    // After an answer this comes too late to matter.
    worker.once('exit', (code) => reject(new Error(`the thread that read ${fileName} ended with ${code}`)))
  })
  if ('problems' in answer) throw new ConstitutionError(fileName, answer.problems)
  return answer.constitution
}
