/** The worker thread's side of `pool.ts`: compiles each constitution once and judges. */
import { LRUCache } from 'lru-cache'
import { compilePolicy } from './compile.js'
import { parseConstitution } from './constitution.js'
import { Judge, type Verdict } from './judge.js'
import type { WorkerTask } from './pool.js'

const judges = new LRUCache<string, Judge>({ max: 4 })

export default function judgeTask({ key, source, input }: WorkerTask): Verdict {
  let judge = judges.get(key)
  if (judge === undefined) {
    judge = new Judge(compilePolicy(parseConstitution(source, key)))
    judges.set(key, judge)
  }
  return judge.judge(input)
}
