/** The worker thread's side of `pool.ts`: compiles each constitution once and judges. */
import { LRUCache } from 'lru-cache'
import { compilePolicy } from '../match/compile.js'
import { type PackedVerdict, packVerdict, unpack } from './packed.js'
import { unknownPolicy, type WorkerTask } from './pool.js'
import { RuleEngine } from './rule-engine.js'

const engines = new LRUCache<string, RuleEngine>({ max: 4 })

/** Without a task it only shows that the thread has started. */
export default function judgeTask(task: WorkerTask | undefined): PackedVerdict | typeof unknownPolicy | undefined {
  if (task === undefined) return undefined
  const { key, constitution, input } = task
  let engine = engines.get(key)
  if (engine === undefined) {
    if (constitution === undefined) return unknownPolicy
    engine = new RuleEngine(compilePolicy(constitution))
    engines.set(key, engine)
  }
  if (input === undefined) return undefined
  if (input.told !== undefined) engine.learn(input.told)
  const { scanned, remembered } = engine.texts
  engine.listen()
  const verdict = packVerdict(engine.judge(unpack(input)))
  const texts = { scanned: engine.texts.scanned - scanned, remembered: engine.texts.remembered - remembered }
  return { ...verdict, told: { texts, learnt: engine.learnt() } }
}
