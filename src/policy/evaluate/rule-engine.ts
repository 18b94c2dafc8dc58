/** The policy decision point as a pure function: texts, context and session state in, verdict out. Runs in any thread. */
import { LRUCache } from 'lru-cache'
import type { ChatPart } from '../../base/chat.js'
import type { Span } from '../../text/fold.js'
import { readingsOf } from '../../text/views.js'
import { GivenContext } from '../decide/context.js'
import { decide, type Judgement, noScores, type RuleScore, scoreRules, sharpened } from '../decide/decide.js'
import { isCounted } from '../decide/exceptions.js'
import { SettledContexts } from '../decide/settled.js'
import { flipsOfRules } from '../explain/rule-flips.js'
import type { RuleFlip } from '../explanation.js'
import type { CompiledRule, Policy } from '../match/compile.js'
import { countedOf, Findings, type Match, strongest, toDetections } from '../match/findings.js'
import { type JoinedText, joinTexts, type Member, membersOf, mostReach, separators } from '../match/joined.js'
import { Matcher, type Sink } from '../match/match.js'
import { type Allowance, Digests, isTranscript, type Learnt, PartMemory, type Scanned } from '../match/memory.js'
import { quotationsOf } from '../match/quotations.js'
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
  stretchKey,
  turnSink
} from '../match/sinks.js'
import { Asking } from './asking.js'
import { broughtIn, printsOf } from './brought.js'
import { historiesOf, spokenFrom } from './session.js'
import { type Found, type JudgeInput, promptsOf, type TextCounts, type Verdict } from './verdict.js'

/**
 * Longest recurring text (keys, roles, models) that is remembered when no rule matches in it. Texts of people are not
 * kept.
 */
const maxRemembered = 64

/** Cost of recognising a remembered text, in scanned units: a share of its length for the digest, and a fixed part. */
const digestShare = 1 / 128
const knownPart = 32
/** Most texts of a call whose memory is sent to another thread: naming more would block the event loop. */
const mostTold = 1024

/** The verdict where no rule matched, for every constitution, context and session: most calls end here. */
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
export class RuleEngine {
  readonly policy: Policy
  readonly #matcher: Matcher
  readonly #memory: PartMemory
  /** By the parts of a call under way. */
  readonly #digests = new WeakMap<readonly ChatPart[], { named: string; digests: Digests }>()
  /** Since this judge was made. */
  readonly texts: TextCounts = { scanned: 0, remembered: 0 }
  /** Budget of the current call: units of other readings, and units that may still be scanned. */
  readonly #room: Allowance = { units: 0 }
  readonly #scans = { units: 0, views: 0 }
  #isCrowded = false
  /** When the current call's time is over, by `performance.now`. */
  #ends = Number.POSITIVE_INFINITY
  #isLate = false
  /** By direction and role: recurring texts in which no rule matches. Bounded: at most 12 × 2,000 × 64 characters. */
  readonly #blank = new Map<string, LRUCache<string, true>>()

  constructor(policy: Policy) {
    this.policy = policy
    this.#matcher = new Matcher(policy)
    this.#memory = new PartMemory(policy.rules)
  }

  judge(input: JudgeInput): Verdict {
    const { parts, session } = input
    const { matches, alone, questions, charsTotal, charsCovered, isCrowded, isLate } = this.find(input)
    const covered = {
      charsTotal,
      charsCovered,
      ...(isCrowded === true && { beyond: { field: 'views' as const } }),
      ...(isLate === true && { isLate }),
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

  /**
   * UTF-16 units that judging a call costs: all units of a new text, and few of a remembered one.
   * @param most a larger count may be cut to any number above it: naming all texts of a large call would block the loop
   */
  newUnits(input: JudgeInput, most = Number.POSITIVE_INFINITY): number {
    const { parts } = input
    const digests = this.#digestsOf(input, this.#heldOf(input))
    let units = 0
    for (const [i, { text }] of parts.entries()) {
      const isKnown = digests !== undefined && this.#memory.has(digests.of(i))
      units += knownPart + (isKnown ? text.length * digestShare : text.length)
      if (units > most) break
    }
    return units
  }

  /** The memory of a call's texts and seams, for the rule engine of another thread; undefined: nothing. */
  told(input: JudgeInput): Learnt | undefined {
    const { parts, joined: runs } = input
    const digests = this.#digestsOf(input, this.#heldOf(input))
    if (digests === undefined || parts.length > mostTold) return undefined
    const keys = parts.map((_, i) => digests.of(i))
    for (const run of runs) {
      for (const separator of separators) {
        for (const joined of joinTexts(membersOf(run, parts), separator)) {
          const key = seamKey({ digests }, joined, separator)
          if (key !== undefined) keys.push(key)
        }
      }
    }
    return this.#memory.told(keys)
  }

  /** Starts collecting new entries of the memory, for `learnt`. */
  listen(): void {
    this.#memory.listen()
  }

  /** New entries since `listen`, for the rule engine of another thread. */
  learnt(): Learnt | undefined {
    return this.#memory.learnt()
  }

  /** @param learnt entries of another thread with the same constitution */
  learn(learnt: Learnt): void {
    this.#memory.learn(learnt)
  }

  /** Weighs matches, by the context, the session and the bands. */
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

  /** Finds every match, before it is weighed by context, session and bands. */
  find(input: JudgeInput): Found {
    const { parts, session } = input
    const { views = Number.POSITIVE_INFINITY, scans = Number.POSITIVE_INFINITY, ms } = input
    this.#room.units = views
    this.#scans.units = scans
    this.#scans.views = scans / 2
    this.#isCrowded = false
    this.#ends = ms === undefined ? Number.POSITIVE_INFINITY : performance.now() + ms
    this.#isLate = false
    const findings = new Findings(parts.length)
    const { readers } = this.policy
    const held = this.#heldOf(input)
    const call: Call = { ...held, parts, findings, readers, digests: this.#digestsOf(input, held) }
    const { asking } = call
    let charsTotal = 0
    let charsCovered = 0
    for (const [i, part] of parts.entries()) {
      charsTotal += part.text.length
      charsCovered += this.#judgePart(call, i)
      // A verdict over a part of the texts is useless.
      if (this.#isFull()) break
    }
    for (const run of input.joined) {
      if (this.#isFull()) break
      if (run.length > 1 && !this.#judgeJoined(call, membersOf(run, parts), joinedSink)) {
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
        // With a single speaker, every earlier turn has already passed the rules that apply now.
        for (const { text } of history.every(({ role }) => role === by) ? [] : history) {
          if (!this.#scan(text, earlierSink(call, now[0]!.part, { middle, broken })).isComplete) charsCovered = 0
        }
        const members = [...history.map(memberOf), ...now]
        if (!this.#judgeJoined(call, members, (call, joined) => turnSink(call, joined, broken))) charsCovered = 0
      }
    }
    const questions = asking?.questions ?? []
    const asked = { questions, answered: asking?.answered ?? [] }
    const covered = { ...asked, charsTotal, charsCovered, ...this.#bounds() }
    if (findings.isEmpty) return { matches: [], alone: [], ...covered }
    const alone = findings.all()
    return { matches: countedOf(this.policy.conditional, alone), alone, ...covered }
  }

  /**
   * Reads repeated tool results also as a tool's words, whoever repeats them. The rules for the present speaker apply
   * as well, so that a tool's echo is no way around them.
   * @returns false where a reading had to be left out
   */
  #judgeBrought(call: Call, brought: string): boolean {
    const known = printsOf(brought)
    return call.parts.every(
      ({ role, text, isKey }, i) =>
        role === 'tool' || isKey === true || this.#judgeAs('tool', call, i, broughtIn(text, known))
    )
  }

  /** Reads stretches of a part once more, by the rules for another speaker. */
  #judgeAs(role: 'tool' | 'quoted', call: Call, index: number, stretches: readonly Span[]): boolean {
    const { text } = call.parts[index]!
    for (const { start, end } of stretches) {
      if (this.#isFull()) return false
      const words = text.slice(start, end)
      const sink = partSink(call, index, { role, from: start })
      const scan = (sink: Sink) => this.#scan(words, sink)
      const key = call.digests && stretchKey(role, call.digests.of(index), start, end)
      const scanned = key === undefined ? scan(sink) : this.#memory.replay(key, words, { sink, room: this.#room, scan })
      if (scanned?.isComplete === false) return false
    }
    return true
  }

  #isFull(): boolean {
    return this.#isCrowded || this.#isLate
  }

  #bounds(): Pick<Found, 'isCrowded' | 'isLate'> {
    return { ...(this.#isCrowded && { isCrowded: true }), ...(this.#isLate && { isLate: true }) }
  }

  readonly #isOver = (): boolean => {
    if (performance.now() >= this.#ends) this.#isLate = true
    return this.#isLate
  }

  /** The inputs, besides the text, on which its findings depend. */
  #heldOf(input: JudgeInput): Pick<Call, 'direction' | 'guarded' | 'beside' | 'asking'> {
    const { direction, beside } = input
    return { direction, beside, guarded: this.policy.guard?.read(promptsOf(input)), asking: this.#askingOf(input) }
  }

  #askingOf({ readings }: JudgeInput): Asking | undefined {
    const { constitution, readers } = this.policy
    if (readings === undefined || constitution.readers === 'fast' || readers.length === 0) return undefined
    return new Asking(readings, constitution)
  }

  /** The digests of a repeated chat's texts, computed once for all passes. */
  #digestsOf(
    { parts, remembered }: JudgeInput,
    held: Pick<Call, 'direction' | 'guarded' | 'beside' | 'asking'>
  ): Digests | undefined {
    if (remembered === undefined || !isTranscript(parts)) return undefined
    const named = `${remembered}|${kindOf(held)}`
    const known = this.#digests.get(parts)
    if (known?.named === named) return known.digests
    const digests = new Digests(parts, named)
    this.#digests.set(parts, { named, digests })
    return digests
  }

  /** @returns the number of characters looked at. */
  #judgePart(call: Call, index: number): number {
    const { text, role, isKey } = call.parts[index]!
    if (text === '') return 0
    const isThorough = call.asking?.isThorough === true
    const quotations = this.policy.readsQuoted ? quotationsOf(call.parts[index]!, isThorough) : undefined
    const recurs = text.length <= maxRemembered && (role === 'parameter' || isKey === true)
    const blank = recurs ? this.#blankFor(`${modeOf(call)}/${role}`) : undefined
    if (blank?.has(text)) return text.length
    const before = call.findings.added
    const mayKeep = unraised(call)
    const scan = (sink: Sink) => this.#scan(text, sink)
    const sink = partSink(call, index, { quotations })
    const { digests } = call
    const scanned =
      digests === undefined || blank !== undefined
        ? scan(sink)
        : this.#memory.replay(digests.of(index), text, { sink, room: this.#room, scan })
    if (scanned === undefined) this.texts.remembered++
    else this.texts.scanned++
    // Whatever such a text quotes is read by the rules for that, too.
    const stretches = quotations?.isWanted === true ? quotations.stretches : []
    const complete = scanned?.isComplete !== false && this.#judgeAs('quoted', call, index, stretches)
    if (complete && call.findings.added === before && mayKeep()) blank?.set(text, true)
    return complete ? text.length : 0
  }

  /** A text with an omitted reading counts as not scanned. */
  #scan(text: string, sink: Sink): Scanned {
    const scans = this.#scans
    scans.units -= text.length
    if (scans.units < 0) this.#isCrowded = true
    if (this.#isCrowded || this.#isOver()) return { isComplete: false, units: 0 }
    const most = { units: Math.min(this.#room.units, scans.views) }
    const { views, complete } = readingsOf(text, this.policy.words, most)
    const units = views.reduce((sum, { text }, i) => (i === 0 ? 0 : sum + text.length), 0)
    this.#room.units -= units
    scans.views -= units
    if (!complete) this.#isCrowded = true
    const matched = this.#matcher.match(views, sink, this.#isOver)
    return { isComplete: complete && matched && views[0]?.text.length === text.length, units }
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
    // The texts of one role in a mixed run were judged in their own run.
    const isMixed = areMixed(parts, members)
    let all = true
    for (const separator of separators) {
      for (const joined of joinTexts(members, separator)) {
        if (isMixed && !areMixed(parts, joined.pieces)) continue
        const sink = sinkOf(call, joined)
        if (sink === undefined) continue
        const scan = (sink: Sink) => this.#scan(joined.text, sink)
        const key = seamKey(call, joined, separator)
        const scanned =
          key === undefined ? scan(sink) : this.#memory.replay(key, joined.text, { sink, room: this.#room, scan })
        all = scanned?.isComplete !== false && all
      }
    }
    return all
  }
}

/** @returns a function that tells whether no question was put to the encoder since */
function unraised({ asking }: Call): () => boolean {
  const before = asking?.raised
  return () => asking?.raised === before
}
