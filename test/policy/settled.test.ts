import t from 'tap'
import { contextEffect, GivenContext } from '../../src/policy/decide/context.js'
import { scoreRules } from '../../src/policy/decide/decide.js'
import { SettledContexts } from '../../src/policy/decide/settled.js'
import type { Match } from '../../src/policy/match/findings.js'

const rule = {
  name: 'doubtful',
  context: {
    keys: ['topic'],
    permit: [{ key: 'topic', matchers: [(value: string) => value === 'gaming'] }],
    forbid: [{ key: 'topic', matchers: [(value: string) => value === 'malware'] }],
    settles: 'middle'
  }
} as unknown as Match['rule']

const match = (part: number, more: Partial<Match> = {}): Match => ({
  rule,
  part,
  start: 0,
  end: 1,
  layer: 'plain',
  confidence: 0.5,
  acrossTurns: false,
  isNominated: false,
  ...more
})
const open = new GivenContext(undefined)
const scoring = (topic: string | undefined, context?: { topic: string }) => ({
  high: 0.75,
  turn: 0,
  contexts: new SettledContexts([{ parts: [0], beside: [1, 2], topic }], context, undefined)
})
const scores = (matches: Match[], topic: string | undefined, context?: { topic: string }) =>
  scoreRules(matches, open, scoring(topic, context)).map(({ score, effect, exhausted }) => [score, effect, exhausted])

t.test('an answer counts for the text that was asked about, and for nothing beyond it', async (t) => {
  t.equal(contextEffect(rule.context, open, false), 'open')
  t.same(scores([match(0)], 'gaming'), [[0, 'permit', undefined]])
  t.same(scores([match(3)], 'gaming'), [[0.5, 'open', undefined]], 'another text')
  t.same(scores([match(2)], 'gaming'), [[0.5, 'open', undefined]], 'the answer itself')
  t.same(scores([match(0, { over: [0, 1, 2] })], 'gaming'), [[0, 'permit', undefined]], 'with its question and answer')
  t.same(scores([match(0, { over: [0, 3] })], 'gaming'), [[0.5, 'open', undefined]], 'what reaches into another text')
  t.same(scores([match(0, { over: [-1] })], 'gaming'), [[0.5, 'open', undefined]], 'what reaches into earlier turns')
  t.same(scores([match(0), match(3)], 'gaming'), [[0.5, 'open', undefined]])
})

t.test('an unclear answer leaves nothing to ask, and no answer settles what is certain', async (t) => {
  t.same(scores([match(0)], undefined), [[0.5, 'none', undefined]])
  t.same(scores([match(0)], 'cooking'), [[0.5, 'none', undefined]])
  t.same(scores([match(0), match(3)], undefined), [[0.5, 'none', undefined]], 'the stricter of both')
  t.same(
    scores([match(0), match(3, { confidence: 0.6 })], undefined),
    [[0.6, 'open', 0.5]],
    'what stands already counts'
  )
  t.same(scores([match(0, { confidence: 0.8 })], 'gaming'), [[0.8, 'none', undefined]], 'the high band')
  t.same(
    scores([match(0)], 'gaming', { topic: 'malware' }),
    [[0.75, 'forbid', undefined]],
    "the caller's own claim holds too"
  )
})
