/** The thread's side of `read.ts`: reads one constitution, sends it in portions, and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Constitution, parseConstitution } from './parse.js'
import { ConstitutionError } from './problems.js'
import type { ReadAnswer, ReadTask } from './read.js'
import type { Rule } from './rules.js'

/** Approximate number of phrases in one message: receiving it takes about a millisecond. */
const portionPhrases = 1000

const { yamlText, fileName, options } = workerData as ReadTask
const answer = (message: ReadAnswer) => parentPort?.postMessage(message)

function handOver({ rules, ...head }: Constitution): void {
  let next = 0
  parentPort?.on('message', () => {
    const portion: Rule[] = []
    let phrases = 0
    while (next < rules.length && phrases < portionPhrases) {
      const rule = rules[next++]!
      phrases += rule.any.length + rule.unless.length + rule.unlessTrusted.length
      for (const group of rule.all) phrases += group.length
      portion.push(rule)
    }
    answer({ portion })
    if (next === rules.length) parentPort?.close()
  })
  answer({ head, rules: rules.length })
}

try {
  handOver(parseConstitution(yamlText, fileName, options))
} catch (error) {
  if (!(error instanceof ConstitutionError)) throw error
  answer({ problems: error.problems })
}
