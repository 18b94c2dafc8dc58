/** What the judge is given of a call, and what it says: the shapes, plain data where they pass between threads. */
import type { ChatPart, JsonObject } from '../../base/chat.js'
import type { ContextEffect } from '../decide/context.js'
import type { Judgement } from '../decide/decide.js'
import type { Suppressed } from '../decide/exceptions.js'
import type { Category, Decision, Detection, Said, Settled, Speaker } from '../evaluation.js'
import type { RuleFlip } from '../explanation.js'
import type { Match } from '../match/findings.js'
import type { Beside } from '../match/guarded/beside.js'
import type { Learnt } from '../match/memory.js'
import type { Answered, Question, Readings } from './asking.js'

export interface JudgeInput {
  parts: readonly ChatPart[]
  joined: readonly (readonly number[])[]
  context: JsonObject | undefined
  settled?: readonly Settled[] | undefined
  direction: 'request' | 'answer'
  /** Of an answer: the system prompts that it was given under. A request holds its own. */
  prompts?: readonly string[] | undefined
  /** What earlier turns of the session left behind; `turn` is the first part that was said just now, and `by` by whom. */
  session?: { tail: readonly Said[]; turn: number; by: Speaker; risk: number; brought?: string | undefined } | undefined
  /** UTF-16 units that other readings of the texts may hold in all. Default: what each text may have by itself. */
  views?: number | undefined
  /** UTF-16 units that are scanned at most, other readings not counted, and half as many of those: beyond, there is no verdict here. */
  scans?: number | undefined
  /** Names the account, and is secret: under it texts are remembered. Undefined: none are. */
  remembered?: string | undefined
  /** What another thread remembers of the texts. */
  told?: Learnt | undefined
  /** Detections beyond which none are made and nothing is decided. Default: however many there are. */
  findings?: number | undefined
  /** Matches that do not count, by people's exception; they are shown all the same. */
  suppressed?: readonly Suppressed[] | undefined
  /** The chat's system prompts, where the encoder reads beside them whether what is said goes for what they keep. */
  beside?: Beside | undefined
  /** What the encoder has said so far, at first nothing; undefined where no encoder decides, and what is raised counts. */
  readings?: Readings | undefined
  /** Whether it is found out, too, without which rules the decision would be milder. */
  flips?: boolean | undefined
}

/** Plain data, so that it can come from another thread. */
export interface Verdict extends Omit<Judgement, 'categories'> {
  detections: Detection[]
  /** `missing`: the context keys that could settle a `depends`. */
  categories: { category: Category; score: number; decision: Decision; missing: readonly string[] }[]
  /** Every rule that matched, those that the context settled included. */
  rules: { rule: string; category: Category; score: number; effect: ContextEffect }[]
  /** Where it was asked for, and found. */
  flips?: RuleFlip[]
  /** The strongest score of the turn by itself, of categories that are ever acted on: what a session adds up. */
  ownRisk: number
  /** UTF-16 units of the parts, and how many of them were looked at: a verdict holds only where both are equal. */
  charsTotal: number
  charsCovered: number
  /** Set where the texts are more than is judged at once, and nothing is broken: then the rest is of no use. */
  beyond?: Beyond
  /** Set where the encoder is to be asked before anything is decided: then the rest is of no use. */
  questions?: readonly Question[]
}

/** Texts that were judged: those that were scanned, and those that were remembered. */
export interface TextCounts {
  scanned: number
  remembered: number
}

export interface Beyond {
  /**
   * Other readings of the texts, of which one had to be left out for want of room, or what was found in them. Also `views` where
   * there was more to scan than `scans` allows.
   */
  field: 'views' | 'findings'
  /** How many there are, or a number that they do not fall short of; undefined where nobody knows. */
  actual?: number
}

export interface Found {
  matches: readonly Match[]
  /** What rules match by themselves, whatever they say of each other. */
  alone: readonly Match[]
  /** For the encoder, before what was found means anything. */
  questions: readonly Question[]
  /** What the encoder was asked, and has said. */
  answered: readonly Answered[]
  charsTotal: number
  charsCovered: number
  /** Set where a reading had to be left out for want of room. */
  isCrowded?: true
}
