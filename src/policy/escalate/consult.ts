/** From a verdict in doubt to one that the judges have had their say on. */

import type { Verdict } from '../evaluate/judge.js'
import type { Category, EvaluationInput } from '../evaluation.js'
import type { Policy } from '../match/compile.js'
import type { Doubt } from './doubts.js'
import type { Judges } from './judges.js'
import { applyRulings } from './rulings.js'
import { wordsOf } from './words.js'

/** @throws the reason of `input.cancel`, where the caller left meanwhile */
export async function consult(
  judges: Judges,
  policy: Pick<Policy, 'constitution' | 'label'>,
  verdict: Verdict,
  doubts: readonly Doubt[],
  { direction, cancel }: Pick<EvaluationInput, 'direction' | 'cancel'>
): Promise<Verdict> {
  const rulings = await Promise.all(
    doubts.map(async (doubt) => {
      const texts = doubt.texts.map(({ role, text }) => ({ role, text }))
      const question = {
        texts,
        direction,
        categories: doubt.categories,
        policy: policy.label,
        wordsOf: (category: Category) => wordsOf(policy.constitution, category, direction),
        cancel
      }
      return { doubt, answer: await judges.consult(doubt.escalation.judge, question) }
    })
  )
  return applyRulings(policy.constitution, verdict, rulings)
}
