/** Finds doubts in a verdict: the categories that a judge must be asked about, and the texts that it must see. */
import type { ChatPart, Picture } from '../../base/chat.js'
import type { Escalation } from '../constitution/escalation.js'
import type { Constitution } from '../constitution/parse.js'
import type { Verdict } from '../evaluate/verdict.js'
import type { Category, Detection, EvaluationInput } from '../evaluation.js'
import { maxDetections } from '../match/findings.js'

export interface Doubt {
  escalation: Escalation
  categories: readonly Category[]
  /**
   * The categories whose findings are all visible in the plain texts, so that a judge who reads those can clear them.
   */
  clearable: ReadonlySet<Category>
  texts: readonly ChatPart[]
  /** The unseen picture that is in doubt, rather than the texts of its message. */
  picture?: Picture
}

const noDoubts: readonly Doubt[] = []

/** Empty for verdicts outside the bands of `escalate`, and where no judge could change the decision. */
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
      // No opinion could make the verdict stricter or milder.
      return noDoubts
    }
  }
  return [...doubtful].map(([escalation, categories]) => doubtOf(escalation, categories, verdict, parts))
}

/** A rule whose weight alone forbids is the policy owner's decision, which no judge can change. */
function isSettled({ rules }: Verdict, category: Category, high: number): boolean {
  return rules.some((rule) => rule.category === category && rule.score >= high)
}

/**
 * One doubt for each picture and each judge that sees pictures: a picture is always in doubt, in all categories
 * escalated to the judge. Empty where the texts are forbidden already.
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

/**
 * Whether a text is in a picture's message and from its sender. Texts read from files are excluded: the judge sees them
 * in the picture.
 */
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
  // At the bound further detections were dropped, and their places are unknown.
  const isComplete = detections.length < maxDetections
  const clearable = categories.filter(
    (category) => isComplete && found.every((entry) => entry.category !== category || isInPlainSight(entry))
  )
  // A finding across parts names only the first part.
  const isWhole = isComplete && found.every(({ layer }) => !layer.startsWith('joined'))
  const pointers = new Set(found.map(({ pointer }) => pointer ?? ''))
  const texts = parts.filter(({ text, pointer }) => text !== '' && (!isWhole || pointers.has(pointer)))
  return { escalation, categories, clearable: new Set(clearable), texts }
}

/** A judge of this text does not see findings that only a decoding or earlier turns revealed. */
function isInPlainSight({ layer, type }: Detection): boolean {
  return layer === 'plain' && type !== 'session_risk'
}
