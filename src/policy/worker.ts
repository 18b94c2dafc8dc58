/** The worker thread's side of `pool.ts`: compiles each constitution once and judges. */
import { LRUCache } from 'lru-cache'
import { compilePolicy } from './compile.js'
import { parseConstitution } from './constitution.js'
import { Judge, type Verdict } from './judge.js'
import type { WorkerTask } from './pool.js'

const judges = new LRUCache<string, Judge>({ max: 4 })

/** Without a task it only shows that the thread has started. */
export default function judgeTask(task: WorkerTask | undefined): Verdict | undefined {
  if (task === undefined) return undefined
  const { key, source, input } = task
  let judge = judges.get(key)
  if (judge === undefined) {
    judge = new Judge(compilePolicy(parseConstitution(source, key)))
    judges.set(key, judge)
  }
  return judge.judge(input)
}
