/** One judge of a type, with everything that surrounds it, and what it reported. */
import type { Test } from 'tap'
import type { RemoteJudgeSettings } from '../../src/base/settings.js'
import type { BreakerState } from '../../src/judges/breaker.js'
import { publishedLabels } from '../../src/judges/labels.js'
import { openJudges } from '../../src/judges/open.js'
import type { Question } from '../../src/policy/escalate/judges.js'
import type { Category } from '../../src/policy/evaluation.js'
import { fakeClock } from '../policy/support.js'
import { type Answer, completion, json } from '../support/upstream.js'

export async function openOne(
  t: Test,
  url: string,
  settings: Partial<RemoteJudgeSettings> & Pick<RemoteJudgeSettings, 'type'>
) {
  const clock = fakeClock()
  const outcomes: string[] = []
  const states: BreakerState[] = []
  const durations: number[] = []
  const judges = await openJudges(
    {
      it: {
        name: 'it',
        labels: publishedLabels[settings.type],
        thresholds: { unsafe: 0.5, safe: 0.2 },
        timeoutMs: 10_000,
        maxConcurrent: 8,
        maxChars: 1000,
        cache: { size: 0, ttlMs: 60_000 },
        breaker: { failures: 3, openMs: 30_000 },
        baseUrl: `${url}/v1`,
        key: 'sk-canary-key',
        model: 'guard-1',
        tls: { ca: undefined, cert: undefined, key: undefined },
        guidelines: {},
        sees: false,
        criteria: 'template',
        reasoning: 'low',
        ...settings
      }
    },
    {
      clock,
      report: {
        request: (_, outcome) => outcomes.push(outcome),
        duration: (_, seconds) => durations.push(seconds),
        breaker: (_, state) => states.push(state)
      }
    }
  )
  t.teardown(() => judges.close())
  return { ask: (asked: Question) => judges.consult('it', asked), judges, clock, outcomes, states, durations }
}

export function question(text: string | Question['texts'], ...categories: Category[]): Question {
  return {
    texts: typeof text === 'string' ? [{ role: 'user', text }] : text,
    direction: 'request',
    categories: categories.length === 0 ? ['violence'] : categories,
    policy: 'default@1',
    wordsOf: (category) => ({
      category,
      description: `What is ${category}.`,
      criteria: [],
      ambiguous: [],
      settling: {}
    })
  }
}

/** A chat completion that says this; `first` are the alternatives to its first token, with their probabilities. */
export function says(content: string, first?: Record<string, number>, finish = 'stop'): Answer {
  const top = Object.entries(first ?? {}).map(([token, p]) => ({ token, logprob: Math.log(p), bytes: null }))
  const message = { role: 'assistant', content, refusal: null }
  const logprobs =
    first === undefined
      ? null
      : { content: [{ token: top[0]!.token, logprob: -0.1, bytes: null, top_logprobs: top }], refusal: null }
  return json(completion('', { choices: [{ index: 0, message, logprobs, finish_reason: finish }] }))
}
