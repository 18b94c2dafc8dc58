/**
 * Preloaded into the built command (`node --import`), in its threads too: texts that name a fault break what judges them.
 * The program itself is the one that users run.
 */
import { isMainThread } from 'node:worker_threads'

const dist = new URL('../../dist/', import.meta.url)
const { RuleEngine } = await import(new URL('policy/evaluate/rule-engine.js', dist))
const { secrets } = await import(new URL('detectors/secrets.js', dist))
const judge = RuleEngine.prototype.judge

const broken = {
  throw() {
    throw new Error('the judge failed')
  },
  hang() {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
  /** Nothing ends it, also on the event loop. */
  stall() {
    for (;;);
  },
  die() {
    process.exit(3)
  },
  memory() {
    for (const kept = []; ; ) kept.push(new Array(100_000).fill(kept.length))
  },
  part: (verdict) => ({ ...verdict, charsCovered: verdict.charsTotal - 1 }),
  none: () => undefined,
  word: (verdict) => ({ ...verdict, decision: 'maybe' }),
  shape: (verdict) => ({ ...verdict, detections: undefined }),
  score: (verdict) => ({ ...verdict, riskScore: Number.NaN }),
  unsendable: () => () => {}
}

RuleEngine.prototype.judge = function judgeOrBreak(input) {
  const name = /«broken:([a-z]+)»/.exec(input.parts.map(({ text }) => text.slice(0, 500)).join('\n'))?.[1]
  // These end the thread that they are in, and are for texts that are judged beside the main one.
  if (isMainThread && ['hang', 'die', 'memory'].includes(name)) throw new Error(`${name} is not for the main thread`)
  const verdict = judge.call(this, input)
  return name in broken ? broken[name](verdict) : verdict
}

const find = secrets.find
secrets.find = (text, folded) => {
  if (text.includes('«broken:detector»')) throw new Error('the detector failed')
  return find(text, folded)
}
