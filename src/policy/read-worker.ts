/** The thread's side of `read.ts`: reads one constitution, answers, ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { parseConstitution } from './constitution.js'
import { ConstitutionError } from './problems.js'
import type { ReadAnswer, ReadTask } from './read.js'

const { yamlText, fileName, options } = workerData as ReadTask
let answer: ReadAnswer
try {
  answer = { constitution: parseConstitution(yamlText, fileName, options) }
} catch (error) {
  if (!(error instanceof ConstitutionError)) throw error
  answer = { problems: error.problems }
}
parentPort?.postMessage(answer)
