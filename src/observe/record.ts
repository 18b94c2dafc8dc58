/**
 * What becomes of one evaluation besides its answer: counted, metered, audited. The same on every surface, so that
 * dashboards, bills and the audit add up.
 */
import type { ChatPart, Role } from '../base/chat.js'
import type { Clock } from '../base/clock.js'
import type { Category, Reader, Redactable } from '../base/decision.js'
import type { EncoderReport } from '../encoder/index.js'
import type { Caller } from '../identity/caller.js'
import type { Detection, Evaluation, EvaluationInput } from '../policy/evaluation.js'
import type { KeptExplanation } from '../policy/explanation.js'
import type { AuditStore, UsageStore } from '../storage/contracts/audit.js'
import type { Log } from './log.js'
import type { Metrics } from './metrics.js'

/** A confidence below which a detection is a hint: one that bears on no decision is not counted as a match. */
const hintFloor = 0.25

export const surfaces = [
  'evaluate',
  'moderations',
  'chat',
  'answer',
  'guard',
  'mcp_definition',
  'mcp_call',
  'mcp_result'
] as const
export type Surface = (typeof surfaces)[number]

/** Where what is judged goes, or comes from. */
export interface SentTo {
  /** Name of the upstream. */
  upstream: string
  /** As the client names it; undefined where it does not look like a name: then it is a text. */
  model: string | undefined
}

/** What of a call a sample of it needs besides its texts. */
export interface Said extends Pick<EvaluationInput, 'joined' | 'context' | 'direction'> {
  /** From this score on a category counts, by the constitution that judged. */
  middle: number
  /** What the route has replaced. */
  redact: readonly Redactable[]
  /** Whether the verdict has looked for names. */
  hasNames: boolean
  /** Whether it belongs to what is never kept, whatever its own verdict says. */
  isOfMinors?: boolean | undefined
}

export interface Decided {
  surface: Surface
  evaluation: Evaluation
  caller: Pick<Caller, 'accountId' | 'keyId' | 'environment' | 'lineage'>
  /** Id of the route, or the path of the endpoint. */
  route: string
  requestId: string
  sentTo?: SentTo | undefined
  /** What was judged. */
  parts: readonly ChatPart[]
  /** What came with it and was not judged: kinds of media; `output_off` for the answer to come. */
  beyond?: readonly string[] | undefined
  /** How it came about; undefined where nothing counted. */
  explanation?: KeptExplanation | undefined
  /** Undefined: no sample is taken of it. Where samples are off it is not made. */
  said?: Said | undefined
}

/** @returns a promise only where the answer must wait for the commit; it is rejected where that failed */
export type Recorder = (decided: Decided) => Promise<void> | undefined

export interface RecorderDeps {
  metrics: Pick<Metrics, 'evaluations' | 'evaluationDuration' | 'ruleMatches' | 'suppressedMatches'>
  audit: Pick<AuditStore, 'append' | 'commit'>
  usage: Pick<UsageStore, 'add'>
  clock: Clock
  /** Of the texts that a decision was about, for exceptions; see `review/fingerprint.ts`. */
  fingerprints: (evaluation: Evaluation, parts: readonly ChatPart[]) => readonly string[]
  /** A pointer without what a client wrote: see `dialects/places.ts`. */
  placeOf: (pointer: string) => string
  /** Takes a sample, where one is wanted. @returns its id */
  sample?: ((decided: Decided, at: number) => string | undefined) | undefined
  /** Read at each use. */
  settings: { readonly required: boolean; readonly decisions: 'all' | 'stopped' }
}

export function createRecorder(deps: RecorderDeps): Recorder {
  const { metrics, audit, usage, clock, fingerprints, placeOf, settings } = deps
  return (decided) => {
    const { surface, evaluation, caller, parts } = decided
    const { decision } = evaluation
    metrics.evaluations.of(surface, decision).inc()
    metrics.evaluationDuration.of(surface).observe(evaluation.decision_time_ms / 1000)
    for (const { rule, category, matches, suppressed } of tallied(evaluation)) {
      metrics.ruleMatches.of(rule, category).inc(matches)
      if (suppressed > 0) metrics.suppressedMatches.of(rule, category).inc(suppressed)
    }
    const at = clock.now()
    const { accountId: account, keyId, environment } = caller
    const characters = parts.reduce((sum, { text }) => sum + text.length, 0)
    usage.add({ account, keyId, environment, surface, at, evaluations: 1, characters })
    const sample = deps.sample?.(decided, at)
    if (decision === 'permit' && settings.decisions === 'stopped') return undefined
    const data = factsOf(decided, sample, placeOf)
    if (decision !== 'permit') {
      data['lineage'] = caller.lineage
      data['fingerprints'] = fingerprints(evaluation, parts)
    }
    const row = { at, kind: 'evaluation', account, keyId, subject: evaluation.evaluation_id, data }
    if (settings.required) return audit.commit(row)
    audit.append(row)
    return undefined
  }
}

/** In order, as the audit's canonical JSON has them, so that it need not sort them for each of many rows. */
function factsOf(
  { surface, evaluation, explanation, route, requestId, sentTo, parts, beyond }: Decided,
  sample: string | undefined,
  placeOf: RecorderDeps['placeOf']
): Record<string, unknown> {
  const found = findingsOf(evaluation)
  const facts: Record<string, unknown> = {}
  if (found !== undefined) facts['categories'] = found.categories
  facts['decision'] = evaluation.decision
  if (found !== undefined) facts['explanation'] = { ...explanation, places: placesOf(evaluation, parts, placeOf) }
  if (sentTo?.model !== undefined) facts['model'] = sentTo.model
  if (beyond !== undefined) facts['not_evaluated'] = beyond
  facts['policy'] = evaluation.policy
  if (found !== undefined) facts['readers'] = found.readers
  facts['request_id'] = requestId
  facts['risk_score'] = evaluation.risk_score
  facts['route'] = route
  facts['rules'] = evaluation.matched_rules
  if (sample !== undefined) facts['sample'] = sample
  if (found !== undefined) facts['scores'] = found.scores
  facts['surface'] = surface
  if (sentTo !== undefined) facts['upstream'] = sentTo.upstream
  return facts
}

interface Tally {
  rule: string
  category: Category
  matches: number
  suppressed: number
}

/** How often each rule matched: there may be many thousands of detections, and they are of a few rules. */
function tallied({ detections, matched_rules: bearing }: Evaluation): Iterable<Tally> {
  if (detections.length === 0) return []
  const tallies = new Map<string, Tally>()
  let last: Tally | undefined
  for (const { rule, category, confidence, suppressed } of detections) {
    if (confidence < hintFloor && !bearing.includes(rule)) continue
    if (last?.rule !== rule || last.category !== category) {
      const key = `${category} ${rule}`
      last = tallies.get(key)
      if (last === undefined) {
        last = { rule, category, matches: 0, suppressed: 0 }
        tallies.set(key, last)
      }
    }
    last.matches++
    if (suppressed) last.suppressed++
  }
  return tallies.values()
}

/** What the row of a verdict says of its detections; undefined where there are none. Excepted ones did not count. */
function findingsOf({ detections, scores }: Evaluation) {
  if (detections.length === 0) return undefined
  const categories = new Set<Category>()
  const readers = new Set<Reader>()
  for (const { suppressed, kind, category, reader } of detections) {
    if (suppressed === true || kind !== undefined) continue
    categories.add(category)
    if (reader !== undefined) readers.add(reader)
  }
  if (categories.size === 0) return undefined
  const scored = Object.entries(scores).filter(([, score]) => score > 0)
  return {
    categories: [...categories].sort(),
    readers: [...readers].sort(),
    scores: Object.fromEntries(scored.sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** Where something was found, as the row of a verdict tells it. */
interface Place {
  rule: string
  confidence: number
  layer: string
  reader?: Reader
  excepted?: true
  /** UTF-16 offsets into the text that stands there. */
  start: number
  end: number
  /** Absent where there is one text. */
  pointer?: string
  role?: Role
}

/** More are of little use, and a row is kept for as long as the audit. */
const maxPlaces = 16

/** The strongest places, those of the rules that bear on the decision first; in the order of the texts. */
function placesOf(
  { detections, matched_rules: bearing }: Evaluation,
  parts: readonly ChatPart[],
  placeOf: (pointer: string) => string
): Place[] {
  const weightOf = ({ rule, confidence }: Detection) => confidence + Number(bearing.includes(rule))
  const shown = detections.filter(({ kind }) => kind === undefined)
  const strongest = new Set(
    shown.length <= maxPlaces ? shown : [...shown].sort((a, b) => weightOf(b) - weightOf(a)).slice(0, maxPlaces)
  )
  const chosen = shown.filter((detection) => strongest.has(detection))
  const roles = new Map<string, Role | undefined>()
  for (const { pointer } of chosen) if (pointer !== undefined) roles.set(pointer, undefined)
  if (roles.size > 0) {
    for (const { pointer, role } of parts) {
      if (roles.has(pointer) && roles.get(pointer) === undefined) roles.set(pointer, role)
    }
  }
  return chosen.map(({ rule, confidence, layer, reader, suppressed, span, pointer }) => {
    const role = pointer === undefined ? undefined : roles.get(pointer)
    return {
      confidence,
      end: span.end,
      ...(suppressed && { excepted: true as const }),
      layer,
      ...(pointer !== undefined && { pointer: placeOf(pointer) }),
      ...(reader !== undefined && { reader }),
      ...(role !== undefined && { role }),
      rule,
      start: span.start
    }
  })
}

/** What is counted of the second reader. */
export function encoderReport(metrics: Metrics): EncoderReport {
  return {
    windows: (from, count) => metrics.encoderWindows.inc({ from }, count),
    window: (seconds) => metrics.encoderWindowDuration.observe(seconds),
    reading: (seconds) => metrics.encoderDuration.observe(seconds),
    failure: (cause) => metrics.encoderFailures.inc({ cause })
  }
}

/** What is counted and told of the judges that constitutions escalate to. */
export function judgeReport(metrics: Metrics, log: Log) {
  return {
    request(judge: string, outcome: string) {
      metrics.judgeRequests.inc({ judge, outcome })
    },
    duration(judge: string, seconds: number) {
      metrics.judgeDuration.observe({ judge }, seconds)
    },
    breaker(judge: string, state: string) {
      if (state === 'open') log.warn({ judge }, 'the judge keeps failing and is left alone for a while')
    }
  }
}
