/** The policy decision point as a pure function: texts, context and session state in, verdict out. Runs in any thread. */
import { LRUCache } from 'lru-cache'
import type { ChatPart, JsonObject } from '../../base/chat.js'
import { type Room, readingsOf } from '../../text/views.js'
import { type ContextEffect, GivenContext } from '../decide/context.js'
import { decide, type Judgement, noScores, type RuleScore, scoreRules, sharpened } from '../decide/decide.js'
import { placeKey, type Suppressed } from '../decide/exceptions.js'
import { SettledContexts } from '../decide/settled.js'
import type { Category, Decision, Detection, Evaluation, Said, Settled, Speaker } from '../evaluation.js'
import { flipsOfRules } from '../explain/rule-flips.js'
import type { RuleFlip } from '../explanation.js'
import type { CompiledRule, Policy } from '../match/compile.js'
import { countedOf, Findings, type Match, strongest, toDetections } from '../match/findings.js'
import type { Beside } from '../match/guarded/beside.js'
import { type JoinedText, joinTexts, type Member, mostReach, separators } from '../match/joined.js'
import { Matcher, type Sink } from '../match/match.js'
import { Digests, isTranscript, PartMemory } from '../match/memory.js'
import {
  areMixed,
  type Call,
  earlierSink,
  joinedSink,
  kindOf,
  memberOf,
  modeOf,
  partSink,
  seamKey,
  turnSink
} from '../match/sinks.js'
import { type Answered, Asking, type Question, type Readings } from './asking.js'
import { broughtIn, printsOf } from './brought.js'
import { historiesOf, spokenFrom } from './session.js'

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

export interface Beyond {
  /** Other readings of the texts, of which one had to be left out for want of room, or what was found in them. */
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

/**
 * Keys, role names and model names come with every request: up to this length they are remembered when nothing is in
 * them. What people write is not.
 */
const maxRemembered = 64

/** The verdict where nothing matched, whatever the constitution, the context and the session: most calls end here. */
const quiet = Object.freeze({
  decision: 'permit',
  riskScore: 0,
  scores: noScores,
  matchedRules: [],
  missingContext: [],
  categories: [],
  detections: [],
  rules: [],
  ownRisk: 0
}) satisfies Partial<Verdict>

/** One per policy and thread. */
export class Judge {
  readonly policy: Policy
  readonly #matcher: Matcher
  readonly #memory = new PartMemory()
  /** Of the call under way. */
  #room: Room = { units: 0 }
  #isCrowded = false
  /** By direction and role: recurring texts in which no rule matches. Bounded: at most 12 × 2,000 × 64 characters. */
  readonly #blank = new Map<string, LRUCache<string, true>>()

  constructor(policy: Policy) {
    this.policy = policy
    this.#matcher = new Matcher(policy)
  }

  judge(input: JudgeInput): Verdict {
    const { parts, session } = input
    const { matches, alone, questions, charsTotal, charsCovered, isCrowded } = this.find(input)
    const covered = {
      charsTotal,
      charsCovered,
      ...(isCrowded === true && { beyond: { field: 'views' as const } }),
      ...(questions.length > 0 && { questions })
    }
    if (matches.length === 0) return { ...quiet, ...covered }
    const shown = strongest(matches)
    const { findings: most = Number.POSITIVE_INFINITY } = input
    if (shown.length > most) return { ...quiet, ...covered, beyond: { field: 'findings', actual: shown.length } }
    const { constitution } = this.policy
    const counted = input.suppressed === undefined ? matches : matches.filter(isCounted(input.suppressed))
    const { rules, judgement } = this.weigh(counted, input)
    const raised = sharpened(constitution, rules, judgement, session?.risk ?? 0)
    const detections = toDetections(shown, parts, raised, counted === matches ? undefined : counted)
    return {
      ...judgement,
      categories: judgement.categories.map(({ category, score, decision, missing }) => ({
        category,
        score,
        decision,
        missing
      })),
      detections,
      rules: rules.map(({ rule, score, effect }) => ({ rule: rule.name, category: rule.category, score, effect })),
      ownRisk: judgement.categories.reduce((most, { own }) => Math.max(most, own), 0),
      ...covered,
      ...(input.flips === true && questions.length === 0 && { flips: this.#flipsOf(judgement, alone, input) })
    }
  }

  #flipsOf(now: Judgement, alone: readonly Match[], input: JudgeInput): RuleFlip[] {
    const isCounting = input.suppressed === undefined ? undefined : isCounted(input.suppressed)
    return flipsOfRules(now, alone, this.policy.conditional, (matches) => {
      return this.weigh(isCounting === undefined ? matches : matches.filter(isCounting), input).judgement
    })
  }

  /** What matches come to, by the context, the session and the bands. */
  weigh(
    matches: readonly Match[],
    { context, settled, session }: Pick<JudgeInput, 'context' | 'settled' | 'session'>
  ): { rules: RuleScore[]; judgement: Judgement } {
    const { constitution } = this.policy
    const given = constitution.assume === undefined ? context : { ...constitution.assume, ...context }
    const { high } = constitution.bands
    const turn = session?.turn ?? 0
    const contexts = settled === undefined ? undefined : new SettledContexts(settled, context, constitution.assume)
    const rules = scoreRules(matches, new GivenContext(given), { high, turn, contexts })
    return { rules, judgement: decide(constitution, rules, session?.risk ?? 0) }
  }

  /** Every match, before context, session and bands say what it counts. */
  find(input: JudgeInput): Found {
    const { parts, session } = input
    this.#room = { units: input.views ?? Number.POSITIVE_INFINITY }
    this.#isCrowded = false
    const findings = new Findings(parts.length)
    const digests = isTranscript(parts) ? new Digests(parts) : undefined
    const guarded = this.policy.guard?.read(promptsOf(input))
    const { constitution, readers } = this.policy
    const readings = constitution.readers === 'fast' || readers.length === 0 ? undefined : input.readings
    const asking = readings && new Asking(readings, constitution)
    const { beside } = input
    const call = { parts, direction: input.direction, findings, digests, guarded, beside, asking, readers }
    let charsTotal = 0
    let charsCovered = 0
    for (const [i, part] of parts.entries()) {
      charsTotal += part.text.length
      charsCovered += this.#judgePart(call, i)
      // Nothing comes of a verdict over a part of the texts.
      if (this.#isFull()) break
    }
    for (const run of input.joined) {
      if (this.#isFull()) break
      if (
        run.length > 1 &&
        !this.#judgeJoined(
          call,
          run.map((part) => ({ part, text: parts[part]!.text })),
          joinedSink
        )
      ) {
        charsCovered = 0
      }
    }
    if (session !== undefined) {
      const { tail, turn, by, brought } = session
      if (brought !== undefined && !this.#judgeBrought(call, brought)) charsCovered = 0
      const now = spokenFrom(parts, turn, { by, most: mostReach })
      for (const history of now.length === 0 ? [] : historiesOf(tail)) {
        const broken = new Set<CompiledRule>()
        const { middle } = this.policy.constitution.bands
        // Where one alone has spoken, each turn was let through by the rules that count now.
        for (const { text } of history.every(({ role }) => role === by) ? [] : history) {
          if (!this.#scan(text, earlierSink(call, now[0]!.part, { middle, broken }))) charsCovered = 0
        }
        const members = [...history.map(memberOf), ...now]
        if (!this.#judgeJoined(call, members, (call, joined) => turnSink(call, joined, broken))) charsCovered = 0
      }
    }
    const questions = asking?.questions ?? []
    const asked = { questions, answered: asking?.answered ?? [] }
    const covered = { ...asked, charsTotal, charsCovered, ...(this.#isFull() && { isCrowded: true as const }) }
    if (findings.isEmpty) return { matches: [], alone: [], ...covered }
    const alone = findings.all()
    return { matches: countedOf(this.policy.conditional, alone), alone, ...covered }
  }

  /**
   * Reads what came from a tool as a tool's words too, whoever says it now. It stays that person's or model's as well: what
   * a tool echoes is no way around the rules for them.
   * @returns false where a reading had to be left out.
   */
  #judgeBrought(call: Call, brought: string): boolean {
    let all = true
    const known = printsOf(brought)
    for (const [index, { role, text, isKey }] of call.parts.entries()) {
      if (role === 'tool' || isKey === true) continue
      for (const { start, end } of broughtIn(text, known)) {
        if (this.#isFull()) return false
        all = this.#scan(text.slice(start, end), partSink(call, index, { role: 'tool', from: start })) && all
      }
    }
    return all
  }

  #isFull(): boolean {
    return this.#isCrowded
  }

  /** @returns the number of characters looked at. */
  #judgePart(call: Call, index: number): number {
    const { text, role, isKey } = call.parts[index]!
    if (text === '') return 0
    const recurs = text.length <= maxRemembered && (role === 'parameter' || isKey === true)
    const blank = recurs ? this.#blankFor(`${modeOf(call)}/${role}`) : undefined
    if (blank?.has(text)) return text.length
    const before = call.findings.added
    const mayKeep = unraised(call)
    const scan = (sink: Sink) => this.#scan(text, sink)
    const sink = partSink(call, index)
    const { digests } = call
    const complete =
      digests === undefined || blank !== undefined
        ? scan(sink)
        : this.#memory.replay(`${kindOf(call)} ${digests.of(index)}`, text, sink, scan)
    if (complete && call.findings.added === before && mayKeep()) blank?.set(text, true)
    return complete ? text.length : 0
  }

  /** @returns false for a text of which a reading had to be left out: it counts as not looked at. */
  #scan(text: string, sink: Sink): boolean {
    const { views, complete } = readingsOf(text, this.policy.words, this.#room)
    if (!complete) this.#isCrowded = true
    this.#matcher.match(views, sink)
    return complete && views[0]?.text.length === text.length
  }

  #blankFor(kind: string): LRUCache<string, true> {
    let blank = this.#blank.get(kind)
    if (blank === undefined) {
      blank = new LRUCache({ max: 2000 })
      this.#blank.set(kind, blank)
    }
    return blank
  }

  /** @returns false where a reading had to be left out. */
  #judgeJoined(
    call: Call,
    members: readonly Member[],
    sinkOf: (call: Call, joined: JoinedText) => Sink | undefined
  ): boolean {
    const { parts } = call
    // What one role says in a run of several was looked at in a run of its own.
    const isMixed = areMixed(parts, members)
    let all = true
    for (const separator of separators) {
      for (const joined of joinTexts(members, separator)) {
        if (isMixed && !areMixed(parts, joined.pieces)) continue
        const sink = sinkOf(call, joined)
        if (sink === undefined) continue
        const scan = (sink: Sink) => this.#scan(joined.text, sink)
        const key = seamKey(call, joined, separator)
        all = (key === undefined ? scan(sink) : this.#memory.replay(key, joined.text, sink, scan)) && all
      }
    }
    return all
  }
}

/** @returns what tells whether nothing was put to the encoder since */
function unraised({ asking }: Call): () => boolean {
  const before = asking?.raised
  return () => asking?.raised === before
}

/** The texts of a chat by which its other texts are held. */
export function promptsOf({
  parts,
  direction,
  prompts = []
}: Pick<JudgeInput, 'parts' | 'direction' | 'prompts'>): readonly string[] {
  if (direction === 'answer') return prompts
  const own = parts.filter(({ role, isKey }) => role === 'system' && isKey !== true)
  return own.length === 0 || own.length === parts.length ? [] : own.map(({ text }) => text)
}

function isCounted(suppressed: readonly Suppressed[]): (match: Match) => boolean {
  const places = new Set(suppressed.map(({ rule, part }) => placeKey(rule, part)))
  return ({ rule, part }) => !places.has(placeKey(rule.name, part))
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
