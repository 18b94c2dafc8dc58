/**
 * The verdicts over an exchange: the only place of the proxy that asks the evaluator. It also applies redaction and
 * prepares the reply's headers.
 */
import { type ChatContent, type ChatPart, decodedMark, type JsonObject, modelForm } from '../base/chat.js'
import type { Clock } from '../base/clock.js'
import { unjudgedIn } from '../base/unscannable.js'
import type { ReplyStream } from '../dialects/reply-stream.js'
import { type Replacement, rewriteTree } from '../dialects/rewrite.js'
import type { Asked, Judging } from '../observe/judging.js'
import type { Metrics } from '../observe/metrics.js'
import type { Surface } from '../observe/record.js'
import { replacementOf } from '../policy/decide/names.js'
import {
  type Decision,
  type Evaluation,
  type EvaluationInput,
  type Evaluator,
  strictest
} from '../policy/evaluation.js'
import type { Exchange } from './exchange.js'
import { filesIn, rewriteFiles } from './request/file-redaction.js'

/** Direction of the judged content. */
type Direction = EvaluationInput['direction']

export interface VerdictDeps {
  judging: Judging<Evaluator>
  clock: Pick<Clock, 'monotonic'>
  metrics: Pick<Metrics, 'notEvaluated'>
}

/** Asks the evaluator about requests and answers, and stores the results in their exchange. */
export class Verdicts {
  readonly #deps: VerdictDeps

  constructor(deps: VerdictDeps) {
    this.#deps = deps
  }

  /** @returns as `Judging.evaluate`, of a request in its session */
  ofRequest(exchange: Exchange): Promise<Evaluation | undefined> {
    const { session, chat } = exchange
    const input = inputOf(exchange, 'request', chat)
    if (session !== undefined) {
      input.session = session
      input.calledFrom = chat.calledFrom
      input.recalled = (turns) => {
        exchange.recalled = turns
      }
    }
    return this.#ask(exchange, input, chat, exchange.route.spoken.judged?.request ?? 'chat', true)
  }

  /**
   * The verdict over an upstream's answer; a session remembers only tool results of it.
   * @param raised called where the encoder is asked about it
   */
  ofAnswer(exchange: Exchange, content: ChatContent, raised?: () => void): Promise<Evaluation | undefined> {
    const { judged } = exchange.route.spoken
    const input = inputOf(exchange, judged?.answeredAs ?? 'answer', content)
    input.raised = raised
    // A tool's result is judged like a request, since it comes back in one.
    if (judged?.answer === 'mcp_result') {
      input.session = exchange.session
      input.isBrought = true
    }
    return this.#ask(exchange, input, content, judged?.answer ?? 'answer')
  }

  #ask(
    exchange: Exchange,
    input: EvaluationInput,
    content: ChatContent,
    surface: Surface,
    isRequest = false
  ): Promise<Evaluation | undefined> {
    const { judging, clock } = this.#deps
    const { route, inbound, policy } = exchange
    const { caller, requestId } = inbound
    const sentTo = { upstream: route.upstream, model: modelOf(exchange) }
    const asked = { surface, route: route.id, caller, requestId, sentTo }
    const began = clock.monotonic()
    return judging.evaluate(input, policy, asked, route.onFailure === 'open').then(
      (found) => {
        exchange.evaluationMs += clock.monotonic() - began
        if (found === undefined) {
          noteUnjudged(exchange, 'evaluator_failure')
          return undefined
        }
        const evaluation = refuseDecoded(exchange, found, content)
        const recorded = this.#record(exchange, asked, evaluation, input, content)
        if (isRequest) exchange.requestVerdict = evaluation
        return recorded
      },
      (error: unknown) => {
        exchange.evaluationMs += clock.monotonic() - began
        throw error
      }
    )
  }

  /** @returns a promise only where the answer waits for the commit of its row */
  #record(
    exchange: Exchange,
    asked: Asked,
    evaluation: Evaluation,
    input: EvaluationInput,
    content: ChatContent
  ): Evaluation | Promise<Evaluation> {
    const { route, policy } = exchange
    const committed = this.#deps.judging.record(asked, evaluation, input, {
      beyond: beyondVerdict(exchange, input.direction, content),
      redact: route.redact,
      policy,
      isOfMinors: speaksOfMinors(exchange)
    })
    keepStricter(exchange, evaluation)
    return committed === undefined ? evaluation : committed.then(() => evaluation)
  }

  /**
   * Notes content of an answer that is not judged. @param reason one of the metric's: a kind of media, or `output_off`
   */
  passUnjudged(exchange: Exchange, reason: string): void {
    this.#deps.metrics.notEvaluated.inc({ reason })
    noteUnjudged(exchange, reason)
  }

  /** Notes media that a route passes unjudged. */
  passMedia(exchange: Exchange, { media }: ChatContent): void {
    for (const each of media) {
      const unjudged = unjudgedIn(each)
      if (unjudged !== undefined) this.passUnjudged(exchange, unjudged)
    }
  }
}

const noPictures: EvaluationInput['pictures'] = []

function inputOf(
  { context, settled, inbound, prompts, route }: Exchange,
  direction: Direction,
  content: ChatContent
): EvaluationInput {
  const { parts, joined, media } = content
  const pictures = media.length === 0 ? noPictures : media.flatMap(({ picture }) => picture ?? [])
  return {
    parts: parts.some(isMarked) ? parts.map(marked) : parts,
    joined,
    context,
    settled: direction === 'request' ? settled : undefined,
    whose: inbound.caller.lineage,
    session: undefined,
    direction,
    prompts,
    names: route.redact.includes('names') && route.mode === 'enforce',
    pictures,
    seen(seen) {
      for (const each of media) if (each.picture === seen) each.isSeen = true
    },
    exceptions: undefined,
    recalled: undefined,
    raised: undefined,
    cancel: inbound.cancel
  }
}

/** Also true for an answer whose request speaks of minors. */
function speaksOfMinors({ requestVerdict }: Exchange): boolean {
  return requestVerdict?.detections.some(({ category }) => category === 'sexual_minors') === true
}

/** The client's name of a model; a value without the form of a name is text, and text is never recorded. */
export function modelOf({ chat: { model } }: Exchange): string | undefined {
  return model !== undefined && modelForm.test(model) ? model : undefined
}

function keepStricter(exchange: Exchange, evaluation: Evaluation): void {
  const { verdict } = exchange
  if (verdict === undefined || strictest(verdict.decision, evaluation.decision) !== verdict.decision) {
    exchange.verdict = evaluation
  }
}

/** Makes a verdict stricter for a reason outside its texts, for the headers too. */
export function raise(exchange: Exchange, evaluation: Evaluation, floor: Decision): Evaluation {
  const decision = strictest(evaluation.decision, floor)
  if (decision === evaluation.decision) return evaluation
  const raised = { ...evaluation, decision, is_blocked: decision === 'forbid' }
  if (evaluation === exchange.requestVerdict) exchange.requestVerdict = raised
  keepStricter(exchange, raised)
  return raised
}

/** Where something else counts it. */
function noteUnjudged(exchange: Exchange, reason: string): void {
  exchange.unjudged ??= new Set()
  exchange.unjudged.add(reason)
}

const outputOff: readonly string[] = ['output_off']

/** @returns what the row of a verdict says was no part of it; undefined where all of it was */
function beyondVerdict(
  { route }: Exchange,
  direction: Direction,
  { media }: ChatContent
): readonly string[] | undefined {
  const isOff = direction === 'request' && route.output === 'off'
  if (media.length === 0) return isOff ? outputOff : undefined
  const beyond = new Set(media.flatMap((each) => unjudgedIn(each) ?? []))
  if (isOff) beyond.add('output_off')
  return beyond.size === 0 ? undefined : [...beyond]
}

/** A key, its value and what either decodes to share a pointer; marks keep their findings apart and never leave this file. */
const keyMark = '#'

export function markOf({ isKey, isDecoded }: ChatPart): string {
  return isDecoded ? decodedMark : isKey ? keyMark : ''
}

function isMarked({ isKey, isDecoded }: ChatPart): boolean {
  return isKey === true || isDecoded === true
}

function marked(part: ChatPart): ChatPart {
  const mark = markOf(part)
  return mark === '' ? part : { ...part, pointer: part.pointer + mark }
}

/** Refuses content whose redaction is impossible: spans in encoded form, or in a file that is no text. */
function refuseDecoded({ route }: Exchange, evaluation: Evaluation, { parts }: ChatContent): Evaluation {
  if (route.redact.length === 0) return evaluation
  const files = filesIn(parts)
  const isFixed = (pointer = '') => pointer.endsWith(decodedMark) || (files?.get(pointer) ?? 'writable') !== 'writable'
  const causes = evaluation.detections.filter(
    (detection) => isFixed(detection.pointer) && replacementOf(detection, route.redact) !== undefined
  )
  if (causes.length === 0 || route.mode === 'observe') return evaluation
  const rules = new Set([...evaluation.matched_rules, ...causes.map(({ rule }) => rule)])
  return { ...evaluation, decision: 'forbid', is_blocked: true, matched_rules: [...rules] }
}

/** The route's redactions, as replacements in the judged content. */
function redactions(exchange: Exchange, content: ChatContent, evaluation: Evaluation): Replacement[] {
  const { redact } = exchange.route
  if (redact.length === 0) return []
  const keys = new Set<string>()
  for (const { isKey, pointer } of content.parts) if (isKey) keys.add(pointer + keyMark)
  const replacements: Replacement[] = []
  for (const detection of evaluation.detections) {
    const { pointer, span } = detection
    const text = replacementOf(detection, redact)
    // A header is judged and not forwarded: only what has a pointer into the body is rewritten.
    if (text === undefined || pointer?.startsWith('/') !== true) continue
    const { start, end } = span
    replacements.push(
      keys.has(pointer)
        ? { pointer: pointer.slice(0, -keyMark.length), start, end, text, isKey: true }
        : { pointer, start, end, text }
    )
  }
  return replacements
}

/** Applies the route's redactions to a body. @returns whether it was changed */
export function redactBody(
  exchange: Exchange,
  body: JsonObject,
  content: ChatContent,
  evaluation: Evaluation
): boolean {
  const replacements = redactions(exchange, content, evaluation)
  if (replacements.length === 0) return false
  const files = filesIn(content.parts)
  if (files === undefined) rewriteTree(body, replacements)
  else {
    const inFiles = replacements.filter(({ pointer }) => files.has(pointer))
    rewriteTree(
      body,
      replacements.filter(({ pointer }) => !files.has(pointer))
    )
    rewriteFiles(body, inFiles)
  }
  exchange.redacted += replacements.length
  return true
}

const noReplacements: readonly Replacement[] = []

/**
 * Releases held text of a stream, redacted as its verdict says.
 * @param upTo by channel, how much of it; undefined: everything
 * @param evaluation undefined: as it stands
 * @returns the frames
 */
export function releaseHeld(
  exchange: Exchange,
  stream: ReplyStream,
  upTo: ReadonlyMap<string, number> | undefined,
  content: ChatContent,
  evaluation: Evaluation | undefined
): string {
  const replacements = evaluation === undefined ? noReplacements : redactions(exchange, content, evaluation)
  const { frames, redacted } = stream.release(upTo, replacements)
  exchange.redacted += redacted
  return frames
}
