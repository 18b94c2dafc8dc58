/**
 * Converts logits to findings. For some groups the classifier's score of the same words is added to the encoder's
 * logit: the two err on different texts, so that fewer harmless texts score as high as harmful ones. A confidence
 * stands for the share of harmless texts of unseen sources that score as high (0.25: 5 %, 0.40: 0.5 %, 0.75: 0.1 %),
 * for every kind, length and speaker; `training/encoder/calibration.py` made the curves.
 */
import type { Role } from '../base/chat.js'
import { laneNumber } from '../classifier/lanes.js'
import { noScore } from '../classifier/windows.js'
import { type EncoderFinding, type EncoderKind, encoderKinds, type Stretch } from './index.js'
import type { Manifest } from './manifest.js'
import { confidenceOf, shareOf } from './scale.js'

/** The speakers that the encoder has learnt. */
export const speakers = ['user', 'assistant', 'tool', 'system'] as const
export type Speaker = (typeof speakers)[number]

/**
 * System prompts and texts beside the conversation (definitions of tools, fields) count as a user's words: the caller
 * writes them all, and may ask for harm in any of them. The speaker `system` marks what a prompt keeps, beside a text.
 */
const speakerOf: Readonly<Record<Role, Speaker>> = {
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  system: 'user',
  definition: 'user',
  parameter: 'user'
}

/** Content kinds: a finding of harm without a kind of its own gets the highest-scoring one of these. */
const contentKinds: readonly EncoderKind[] = [
  'hate',
  'harassment',
  'violence',
  'self_harm',
  'sexual',
  'illicit',
  'cyber_misuse',
  'weapons',
  'misinformation'
]
/** Least reported confidence: about three in ten harmless texts reach it. */
const least = 0.05

type Knots = readonly (readonly [number, number])[]

/** Interpolates between knots; constant above the last one, and falling to 0 within four logits below the first. */
export function confidence(knots: Knots, logit: number): number {
  const [first, told] = knots[0]!
  if (logit < first) return told * Math.max(0, Math.min(1, 1 + (logit - first) / 4))
  for (let i = 1; i < knots.length; i++) {
    const [to, high] = knots[i]!
    if (logit >= to) continue
    const [from, low] = knots[i - 1]!
    return low + ((high - low) / (to - from)) * (logit - from)
  }
  return knots.at(-1)![1]
}

/** A window that was read. */
export interface Scored extends Stretch {
  /** By lane. */
  logits: Float32Array
  /** Whether it is a sentence without the rest of its paragraph. */
  isTorn?: boolean
  /** Whether it is a paragraph or a sentence read by itself, not a window of the text. */
  isPassage?: boolean
  /** Whether at least half of it is what a text quotes. */
  isQuoted?: boolean
  /** The classifier's scores of the same words, by its lanes; absent where no group uses them. */
  second?: Float32Array
}

/** How the classifier's score is added to a logit. */
interface Second {
  lane: number
  weight: number
  /** A lower score counts as this. */
  least: number
  /** Of words without a score. */
  unknown: number
}

interface Group {
  lane: number
  second: Second | undefined
  knots: Knots
  /** Undefined: the content kind that scored highest. */
  kind: EncoderKind | undefined
}

/**
 * Factor on the share of harmless texts for a sentence read without its paragraph, which may tell its purpose: "write
 * code that overwrites the log" may be a tester's sentence. Of 1,427 harmless prompts and 605 documents of `train` 5
 * reach 0.75 by such a sentence, and 5 reach 0.40 without.
 */
const torn = 5

/**
 * Kinds that depend on whom the words address. A manual's paragraph that names options of a program reads like an order
 * to a model when it stands alone; in a window it is seen to be a manual's. So in a user's text a passage alone does not
 * decide on them.
 */
const spokenTo: ReadonlySet<EncoderKind> = new Set(['prompt_injection', 'jailbreak'])
/** Who is in need is told by the whole: a sentence by itself may be of an interview, a novel or somebody else's letter. */
const spokenBy: ReadonlySet<EncoderKind> = new Set(['in_need'])

/**
 * Factor on the share of harmless texts for kinds in `spokenTo`, where a user quotes the words. Briefs, documents and
 * prompts under review are written in several paragraphs, and attempts to talk to the model seldom: of 390 honest messages
 * like that, by two authors, 22 are stopped without it, 14 with it (10 with 5). Of 269 written jailbreaks 230 are stopped
 * both times; of the same between two greetings 206 without and 196 with it (190 with 5), and 175 and 136 are forbidden.
 */
const quotedFactor = 3

export class Calibration {
  /** Whether windows need the classifier's scores. */
  readonly isSeconded: boolean
  readonly #lengths: Manifest['calibrated']['lengths']
  /** By speaker and class of length. */
  readonly #groups: Readonly<Record<Speaker, readonly (readonly Group[])[]>>
  /** Groups for texts read with system prompts; empty where the weights have not learnt them. */
  readonly #guarded: readonly Group[]
  readonly #content: readonly { kind: EncoderKind; lane: number }[]
  /**
   * Logit from which a sentence of a system prompt counts as guarding something; undefined where the weights have not
   * learnt it.
   */
  readonly #keeps: number | undefined

  constructor({ lanes, calibrated: { lengths, groups, keeps, seconded }, calibration }: Manifest) {
    this.isSeconded = seconded !== undefined
    this.#lengths = lengths
    this.#keeps = keeps
    this.#content = contentKinds.map((kind) => ({ kind, lane: lanes.indexOf(kind) })).filter(({ lane }) => lane !== -1)
    const kinds: readonly string[] = encoderKinds
    const groupsOf = (speaker: Speaker): Group[][] => {
      // A speaker without measured curves gets the user's.
      const role = groups[speaker] === undefined ? 'user' : speaker
      const classes = lengths.map(({ name }) => calibration[role]?.[name])
      return classes.map((_, i) => {
        const curves = nearest(classes, i)
        return Object.entries(groups[role]!).flatMap(([group, lane]) => {
          const knots = curves[group]
          if (knots === undefined) return []
          const kind = kinds.includes(group) ? (group as EncoderKind) : undefined
          const by = seconded?.groups[role]?.[group]
          const second = by && { ...by, lane: laneNumber(by.lane), least: seconded!.least, unknown: seconded!.unknown }
          return [{ lane: lanes.indexOf(lane), second, knots, kind }]
        })
      })
    }
    const [curve] = Object.values(calibration['guarded'] ?? {})
    this.#guarded = Object.entries(groups['guarded'] ?? {}).flatMap(([group, lane]) => {
      const knots = curve?.[group]
      return knots === undefined ? [] : [{ lane: lanes.indexOf(lane), second: undefined, knots, kind: 'guarded' }]
    })
    this.#groups = Object.fromEntries(speakers.map((speaker) => [speaker, groupsOf(speaker)])) as Record<
      Speaker,
      Group[][]
    >
  }

  /** Number of pieces from which a text is in the longest class. */
  get longestFrom(): number {
    return (this.#lengths.at(-2)?.most ?? 0) + 1
  }

  /**
   * The highest of each kind over all windows: several groups or windows that say the same count once. Of a kind in
   * `spokenTo` a user's passage counts only if a window that contains it has a finding of one of them, or none was read;
   * so it is with `spokenBy`.
   * @param pieces of the whole text
   * @param beside whether it was read beside a guard
   */
  findings(role: Role, pieces: number, windows: readonly Scored[], beside = false): EncoderFinding[] {
    const length = this.#lengths.findIndex(({ most }) => most === null || pieces <= most)
    const groups = beside ? this.#guarded : this.#groups[speakerOf[role]][length]!
    const best = new Map<EncoderKind, EncoderFinding>()
    const read = windows.map((window) => ({ window, found: this.#foundIn(window, groups) }))
    const isBacked = (passage: Scored, kinds: ReadonlySet<EncoderKind>) => {
      const around = read.filter(({ window }) => {
        return !window.isPassage && window.start <= passage.start && window.end >= passage.end
      })
      return around.length === 0 || around.some(({ found }) => found.some(({ kind }) => kinds.has(kind)))
    }
    for (const { window, found } of read) {
      const needsBacking = window.isPassage === true && speakerOf[role] === 'user'
      for (const finding of found) {
        if (finding.confidence <= (best.get(finding.kind)?.confidence ?? 0)) continue
        const kinds = [spokenTo, spokenBy].find((kinds) => kinds.has(finding.kind))
        if (needsBacking && kinds !== undefined && !isBacked(window, kinds)) continue
        best.set(finding.kind, finding)
      }
    }
    return [...best.values()]
  }

  #foundIn({ logits, second, start, end, isTorn, isQuoted }: Scored, groups: readonly Group[]): EncoderFinding[] {
    return groups.flatMap(({ lane, second: by, knots, kind: own }) => {
      const alone = confidence(knots, logits[lane]! + (by === undefined ? 0 : seconding(by, second)))
      if (alone < least) return []
      const kind = own ?? this.#highest(logits)
      const factor = (isTorn === true ? torn : 1) * (isQuoted === true && spokenTo.has(kind) ? quotedFactor : 1)
      return [{ kind, confidence: factor === 1 ? alone : confidenceOf(shareOf(alone) * factor), start, end }]
    })
  }

  /**
   * Margin of a system prompt's sentence over the threshold of guarding: from 0 on it guards something. Weights that
   * have not learnt it accept every sentence.
   */
  keeping(logits: Float32Array): number {
    const lane = this.#guarded[0]?.lane
    return lane === undefined || this.#keeps === undefined ? 0 : logits[lane]! - this.#keeps
  }

  #highest(logits: Float32Array): EncoderKind {
    let found = this.#content[0]!
    for (const each of this.#content) if (logits[each.lane]! > logits[found.lane]!) found = each
    return found.kind
  }
}

/** @param scores of the classifier, by lane */
function seconding({ lane, weight, least, unknown }: Second, scores: Float32Array | undefined): number {
  const score = scores?.[lane] ?? noScore
  return weight * (score === noScore ? unknown : Math.max(least, score))
}

export function toSpeaker(role: Role): Speaker {
  return speakerOf[role]
}

/**
 * The class itself, or the nearest in length where it had too few texts to be measured; of two the longer, whose bound
 * is stricter.
 */
function nearest<T>(classes: readonly (T | undefined)[], i: number): T {
  for (let away = 0; ; away++) {
    const found = classes[i + away] ?? classes[i - away]
    if (found !== undefined) return found
  }
}
