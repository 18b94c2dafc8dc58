/** The worker thread's side of `pool.ts`: compiles each constitution once and judges. */
import { LRUCache } from 'lru-cache'
import { compilePolicy } from '../match/compile.js'
import { Judge } from './judge.js'
import { type PackedVerdict, packVerdict, unpack } from './packed.js'
import { unknownPolicy, type WorkerTask } from './pool.js'

const judges = new LRUCache<string, Judge>({ max: 4 })

/** Without a task it only shows that the thread has started. */
export default function judgeTask(task: WorkerTask | undefined): PackedVerdict | typeof unknownPolicy | undefined {
  if (task === undefined) return undefined
  const { key, constitution, input } = task
  let judge = judges.get(key)
  if (judge === undefined) {
    if (constitution === undefined) return unknownPolicy
    judge = new Judge(compilePolicy(constitution))
    judges.set(key, judge)
  }
  if (input === undefined) return undefined
  if (input.told !== undefined) judge.learn(input.told)
  const { scanned, remembered } = judge.texts
  judge.listen()
  const verdict = packVerdict(judge.judge(unpack(input)))
  const texts = { scanned: judge.texts.scanned - scanned, remembered: judge.texts.remembered - remembered }
  return { ...verdict, told: { texts, learnt: judge.learnt() } }
}
