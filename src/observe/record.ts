/**
 * Records evaluations: counts, meters and audits each, in the same way on every surface, so that dashboards, bills and
 * the audit agree.
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

/** Detections below this confidence are hints, and do not count as matches unless they bear on the decision. */
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

/** The upstream of the judged content. */
export interface SentTo {
  /** Name of the upstream. */
  upstream: string
  /** The client's name of the model; undefined for a value without the form of a name, which would be a text. */
  model: string | undefined
}

/** Facts of a call for its sample, besides the texts. */
export interface Said extends Pick<EvaluationInput, 'joined' | 'context' | 'direction'> {
  /** From this score on a category counts, by the constitution that judged. */
  middle: number
  /** Kinds that the route redacts. */
  redact: readonly Redactable[]
  /** Whether names were searched. */
  hasNames: boolean
  /** Whether it must never be kept, whatever its own verdict. */
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
  /** The judged parts. */
  parts: readonly ChatPart[]
  /** Unjudged content beside it: kinds of media; `output_off` for the coming answer. */
  beyond?: readonly string[] | undefined
  /** Its explanation; undefined where nothing counted. */
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
  /** Fingerprints of the texts of a decision, for exceptions; see `review/fingerprint.ts`. */
  fingerprints: (evaluation: Evaluation, parts: readonly ChatPart[]) => readonly string[]
  /** Removes a client's words from a pointer: see `dialects/places.ts`. */
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

/** In the order of canonical JSON, so that it need not be sorted for each row. */
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

/** Matches per rule: many thousands of detections belong to a few rules. */
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

/** Facts about the detections for the row of a verdict; undefined without any. Excepted ones did not count. */
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

/** The place of a finding, for the row of a verdict. */
interface Place {
  rule: string
  confidence: number
  layer: string
  reader?: Reader
  excepted?: true
  /** UTF-16 offsets into that text. */
  start: number
  end: number
  /** Absent where there is one text. */
  pointer?: string
  role?: Role
}

/** More are of little use, and rows are kept long. */
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

/** Counts of the encoder. */
export function encoderReport(metrics: Metrics): EncoderReport {
  return {
    windows: (from, count) => metrics.encoderWindows.inc({ from }, count),
    window: (seconds) => metrics.encoderWindowDuration.observe(seconds),
    reading: (seconds) => metrics.encoderDuration.observe(seconds),
    failure: (cause) => metrics.encoderFailures.inc({ cause })
  }
}

/** Counts and log lines of the judges. */
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
