/** The thread's side of `dry-run-pool.ts`: keeps the last judges, so that trying again is quick. */
import { LRUCache } from 'lru-cache'
import { ConstitutionError } from '../constitution/problems.js'
import type { Coverage } from '../escalate/judges.js'
import type { Judge } from '../evaluate/judge.js'
import { type DryRunTask, type DrySide, dryRun, readJudge } from './dry-run.js'
import type { DryRunAnswer } from './dry-run-pool.js'

const judges = new LRUCache<string, Judge>({ max: 3 })

function judgeOf(side: DrySide, coverage: Coverage): Judge {
  const key = JSON.stringify([side.digest, side.name, side.version, coverage])
  let judge = judges.get(key)
  if (judge === undefined) {
    judge = readJudge(side, coverage)
    judges.set(key, judge)
  }
  return judge
}

export default function dryRunTask(task: DryRunTask): DryRunAnswer {
  try {
    return dryRun(task, judgeOf)
  } catch (error) {
    // Messages between threads drop the own fields of an error.
    if (error instanceof ConstitutionError) return { file: error.file, problems: error.problems }
    throw error
  }
}
