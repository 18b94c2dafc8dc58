/** Input and output types of the judge; plain data where they pass between threads. */
import type { ChatPart, JsonObject } from '../../base/chat.js'
import type { ContextEffect } from '../decide/context.js'
import type { Judgement } from '../decide/decide.js'
import type { Suppressed } from '../decide/exceptions.js'
import type { Category, Decision, Detection, Evaluation, Said, Settled, Speaker } from '../evaluation.js'
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
  /** For an answer: the system prompts of its request. A request contains its own. */
  prompts?: readonly string[] | undefined
  /** The earlier turns of the session; `turn` is the first part of the new turn, `by` its speaker. */
  session?: { tail: readonly Said[]; turn: number; by: Speaker; risk: number; brought?: string | undefined } | undefined
  /** Total UTF-16 units of other readings of the texts. Default: the limit of each text. */
  views?: number | undefined
  /**
   * Most UTF-16 units to scan, without other readings, and half as many of those: beyond, this judge gives no verdict.
   */
  scans?: number | undefined
  /** Longest judging, ms: beyond, there is no verdict. Looked at between readings. Default: unlimited. */
  ms?: number | undefined
  /** Secret name of the account, under which texts are remembered. Undefined: none are. */
  remembered?: string | undefined
  /** Another thread's memory of the texts. */
  told?: Learnt | undefined
  /** Most detections: beyond, nothing is decided. Default: unlimited. */
  findings?: number | undefined
  /** Matches that do not count because of an exception; they are still shown. */
  suppressed?: readonly Suppressed[] | undefined
  /** The chat's system prompts, where the encoder checks whether the texts try to get their guarded content. */
  beside?: Beside | undefined
  /** The encoder's answers so far, empty at first; undefined where no encoder decides and nominations count. */
  readings?: Readings | undefined
  /** Whether to find the rules without which the decision would be milder. */
  flips?: boolean | undefined
}

/** Plain data, so that it can come from another thread. */
export interface Verdict extends Omit<Judgement, 'categories'> {
  detections: Detection[]
  /** `missing`: the context keys that a `depends` asks for. */
  categories: { category: Category; score: number; decision: Decision; missing: readonly string[] }[]
  /** Every rule that matched, those that the context settled included. */
  rules: { rule: string; category: Category; score: number; effect: ContextEffect }[]
  /** Where requested and found. */
  flips?: RuleFlip[]
  /** The strongest score of the turn alone, of categories that the policy acts on; sessions sum it up. */
  ownRisk: number
  /** UTF-16 units of the parts, and how many were scanned: a verdict is valid only where both are equal. */
  charsTotal: number
  charsCovered: number
  /** Set where the texts exceed a limit; then the other fields are meaningless. */
  beyond?: Beyond
  /** Set where `ms` was over; then the other fields are meaningless. */
  isLate?: true
  /** Set where the encoder must be asked first; then the other fields are meaningless. */
  questions?: readonly Question[]
}

/** Numbers of judged texts: scanned and remembered ones. */
export interface TextCounts {
  scanned: number
  remembered: number
}

export interface Beyond {
  /**
   * The exceeded limit: `views` where a reading of the texts did not fit or more had to be scanned than `scans` allows,
   * `findings` where too much was found.
   */
  field: 'views' | 'findings'
  /** Their number, or a lower bound of it; undefined where unknown. */
  actual?: number
}

export interface Found {
  matches: readonly Match[]
  /** Matches of rules by themselves, before their conditions on each other. */
  alone: readonly Match[]
  /** Questions for the encoder, which must be answered before the matches count. */
  questions: readonly Question[]
  /** Questions to the encoder, with its answers. */
  answered: readonly Answered[]
  charsTotal: number
  charsCovered: number
  /** Set where a reading did not fit and was omitted. */
  isCrowded?: true
  /** Set where the time was over. */
  isLate?: true
}

/** @param call.ms how long it took */
export function evaluationOf(verdict: Verdict, call: { label: string; id: string; ms: number }): Evaluation {
  const evaluation: Evaluation = {
    risk_score: verdict.riskScore,
    decision: verdict.decision,
    is_blocked: verdict.decision === 'forbid',
    matched_rules: verdict.matchedRules,
    detections: verdict.detections,
    decision_time_ms: Math.round(call.ms * 1000) / 1000,
    scores: verdict.scores,
    evaluation_id: call.id,
    policy: call.label
  }
  if (verdict.decision === 'depends') evaluation.missing_context = verdict.missingContext
  return evaluation
}

/** The system prompts that guard content against the other texts of the chat. */
export function promptsOf({
  parts,
  direction,
  prompts = []
}: Pick<JudgeInput, 'parts' | 'direction' | 'prompts'>): readonly string[] {
  if (direction === 'answer') return prompts
  const own = parts.filter(({ role, isKey }) => role === 'system' && isKey !== true)
  return own.length === 0 || own.length === parts.length ? [] : own.map(({ text }) => text)
}
