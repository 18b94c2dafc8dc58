/** Where a verdict is in doubt: which categories a judge is to be asked about, and which texts it has to see. */
import type { ChatPart, Picture } from '../../base/chat.js'
import type { Escalation } from '../constitution/escalation.js'
import type { Constitution } from '../constitution/parse.js'
import type { Verdict } from '../evaluate/verdict.js'
import type { Category, Detection, EvaluationInput } from '../evaluation.js'
import { maxDetections } from '../match/findings.js'

export interface Doubt {
  escalation: Escalation
  categories: readonly Category[]
  /** Those of them in which everything found stands in plain sight, so that whoever reads the texts can clear it. */
  clearable: ReadonlySet<Category>
  texts: readonly ChatPart[]
  /** What nobody has seen yet: of that, not of the texts of its message, there is a doubt. */
  picture?: Picture
}

const noDoubts: readonly Doubt[] = []

/** Empty for all but verdicts within a band of `escalate`, and where a judge could not change the decision any more. */
export function doubtsOf(
  { bands, escalate }: Pick<Constitution, 'bands' | 'escalate'>,
  verdict: Verdict,
  parts: readonly ChatPart[]
): readonly Doubt[] {
  if (escalate.length === 0 || verdict.categories.length === 0) return noDoubts
  const doubtful = new Map<Escalation, Category[]>()
  for (const { category, score, decision } of verdict.categories) {
    const escalation = escalate.find((entry) => entry.categories.includes(category))
    const isWithin = escalation !== undefined && score >= escalation.above && score < escalation.below
    if (isWithin && !isSettled(verdict, category, bands.high)) {
      doubtful.set(escalation, [...(doubtful.get(escalation) ?? []), category])
    } else if (decision === 'forbid') {
      // Nothing that a judge could say would make it stricter, or milder.
      return noDoubts
    }
  }
  return [...doubtful].map(([escalation, categories]) => doubtOf(escalation, categories, verdict, parts))
}

/** A rule whose weight forbids by itself is the policy owner's word, over which no judge has a say. */
function isSettled({ rules }: Verdict, category: Category, high: number): boolean {
  return rules.some((rule) => rule.category === category && rule.score >= high)
}

/**
 * One for each picture and judge that sees: what a picture shows is always in doubt, in every category that the judge is
 * escalated to. Empty where the texts are forbidden already.
 */
export function doubtsOfPictures(
  { escalate }: Pick<Constitution, 'escalate'>,
  { decision }: Verdict,
  { parts, pictures = [] }: Pick<EvaluationInput, 'parts' | 'pictures'>,
  sees: ReadonlySet<string>
): readonly Doubt[] {
  if (pictures.length === 0 || decision === 'forbid') return noDoubts
  const seeing = escalate.filter(({ judge }) => sees.has(judge))
  return pictures.flatMap((picture) =>
    seeing.map((escalation): Doubt => {
      const texts = parts.filter((part) => part.text !== '' && isBeside(part, picture))
      return { escalation, categories: escalation.categories, clearable: new Set(), texts, picture }
    })
  )
}

/** Whether a text stands in the message of a picture and is its sender's: a text that was read out of a file is seen there. */
function isBeside({ role, pointer, isKey, file }: ChatPart, picture: Picture): boolean {
  const message = /^\/[^/]+\/[^/]+\//.exec(picture.pointer)?.[0] ?? '/'
  return role === picture.role && isKey !== true && file === undefined && pointer.startsWith(message)
}

function doubtOf(
  escalation: Escalation,
  categories: readonly Category[],
  { detections }: Verdict,
  parts: readonly ChatPart[]
): Doubt {
  const found = detections.filter(({ category }) => categories.includes(category))
  // Beyond the bound, detections are left out: then nobody knows where else something was found.
  const isComplete = detections.length < maxDetections
  const clearable = categories.filter(
    (category) => isComplete && found.every((entry) => entry.category !== category || isInPlainSight(entry))
  )
  // A finding across parts is shown at its first only.
  const isWhole = isComplete && found.every(({ layer }) => !layer.startsWith('joined'))
  const pointers = new Set(found.map(({ pointer }) => pointer ?? ''))
  const texts = parts.filter(({ text, pointer }) => text !== '' && (!isWhole || pointers.has(pointer)))
  return { escalation, categories, clearable: new Set(clearable), texts }
}

/** What only a decoding, or only the turns before, made readable is something that a judge of this text does not see. */
function isInPlainSight({ layer, type }: Detection): boolean {
  return layer === 'plain' && type !== 'session_risk'
}
