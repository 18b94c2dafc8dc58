/** The thread's side of `dry-run-pool.ts`: keeps the last judges, so that trying again is quick. */
import { LRUCache } from 'lru-cache'
import { ConstitutionError } from '../constitution/problems.js'
import type { Coverage } from '../escalate/judges.js'
import type { RuleEngine } from '../evaluate/rule-engine.js'
import { type DryRunTask, type DrySide, dryRun, readEngine } from './dry-run.js'
import type { DryRunAnswer } from './dry-run-pool.js'

const engines = new LRUCache<string, RuleEngine>({ max: 3 })

function engineOf(side: DrySide, coverage: Coverage): RuleEngine {
  const key = JSON.stringify([side.digest, side.name, side.version, coverage])
  let engine = engines.get(key)
  if (engine === undefined) {
    engine = readEngine(side, coverage)
    engines.set(key, engine)
  }
  return engine
}

export default function dryRunTask(task: DryRunTask): DryRunAnswer {
  try {
    return dryRun(task, engineOf)
  } catch (error) {
    // Messages between threads drop the own fields of an error.
    if (error instanceof ConstitutionError) return { file: error.file, problems: error.problems }
    throw error
  }
}
