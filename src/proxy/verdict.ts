/** Asking the evaluator, and what its verdict means for redaction and for the sentence a client gets. */
import { type ChatContent, type ChatPart, decodedMark } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import type { Denial, StoppingDecision } from '../dialects/denial.js'
import type { Replacement } from '../dialects/rewrite.js'
import type { Surface } from '../observe/record.js'
import {
  type Decision,
  type Detection,
  type Evaluation,
  type EvaluationInput,
  strictest
} from '../policy/evaluation.js'
import type { Exchange } from './exchange.js'
import { beyondVerdict, noteUnjudged } from './receipt.js'

/**
 * @returns undefined where no verdict could be had and the route says `on_failure: open`
 * @throws Fault `evaluator_unavailable` where no complete verdict could be had
 */
export async function evaluate(
  exchange: Exchange,
  direction: 'request' | 'answer',
  content: ChatContent,
  session: string | undefined
): Promise<Evaluation | undefined> {
  const { deps, policy, context, inbound, prompts } = exchange
  const began = deps.clock.monotonic()
  const surface = direction === 'request' ? 'chat' : 'answer'
  const parts = content.parts.some(({ isKey, isDecoded }) => isKey || isDecoded)
    ? content.parts.map(marked)
    : content.parts
  const input: EvaluationInput = {
    parts,
    joined: content.joined,
    context,
    session,
    direction,
    whose: inbound.caller.lineage,
    prompts,
    exceptions: deps.exceptions(inbound.caller),
    cancel: inbound.cancel
  }
  if (direction === 'answer') {
    exchange.isRaised = false
    input.raised = () => {
      exchange.isRaised = true
    }
  }
  if (session !== undefined) {
    input.recalled = (turns) => {
      exchange.recalled = turns
    }
  }
  let evaluation: Evaluation
  try {
    evaluation = refuseDecoded(exchange, await deps.evaluator.evaluate(input, policy))
  } catch (error) {
    // Who has left is not waited for, and nothing is passed without a verdict on their behalf.
    if (inbound.cancel.reason !== undefined) throw inbound.cancel.reason
    // More than is judged at once is the caller's to mend: it passes under no setting.
    if (error instanceof Fault) throw error
    return await passOrThrow(exchange, surface, error)
  } finally {
    exchange.evaluationMs += deps.clock.monotonic() - began
  }
  const { caller, requestId } = inbound
  const beyond = beyondVerdict(exchange, direction, content)
  const committed = deps.record({ surface, evaluation, caller, route: exchange.route.id, requestId, parts, beyond })
  if (
    exchange.verdict === undefined ||
    strictest(exchange.verdict.decision, evaluation.decision) !== exchange.verdict.decision
  ) {
    exchange.verdict = evaluation
  }
  if (committed !== undefined) await committed
  return evaluation
}

/** A verdict made stricter by something that no text tells, for the headers too. */
export function raise(exchange: Exchange, evaluation: Evaluation, floor: Decision): Evaluation {
  const decision = strictest(evaluation.decision, floor)
  if (decision === evaluation.decision) return evaluation
  const raised = { ...evaluation, decision, is_blocked: decision === 'forbid' }
  if (exchange.verdict !== undefined) {
    exchange.verdict =
      strictest(exchange.verdict.decision, decision) === exchange.verdict.decision ? exchange.verdict : raised
  }
  return raised
}

/** A key, its value and what either decodes to share a pointer; marks keep their findings apart and never leave this file. */
const keyMark = '#'

function markOf({ isKey, isDecoded }: ChatPart): string {
  return isDecoded ? decodedMark : isKey ? keyMark : ''
}

function marked(part: ChatPart): ChatPart {
  const mark = markOf(part)
  return mark === '' ? part : { ...part, pointer: part.pointer + mark }
}

/** What is to be redacted and stands in encoded form cannot be rewritten there, so it does not pass. */
function refuseDecoded({ route }: Exchange, evaluation: Evaluation): Evaluation {
  const causes = evaluation.detections.filter(
    ({ category, pointer }) =>
      (route.redact as readonly string[]).includes(category) && pointer?.endsWith(decodedMark) === true
  )
  if (causes.length === 0 || route.mode === 'observe') return evaluation
  const rules = new Set([...evaluation.matched_rules, ...causes.map(({ rule }) => rule)])
  return { ...evaluation, decision: 'forbid', is_blocked: true, matched_rules: [...rules] }
}

/** @throws Fault `evaluator_unavailable` unless the route says `on_failure: open` */
async function passOrThrow(exchange: Exchange, surface: Surface, error: unknown): Promise<undefined> {
  const { deps, route, inbound } = exchange
  const passed = route.onFailure === 'open'
  const { requestId, caller } = inbound
  const committed = deps.unjudged({ surface, route: route.id, requestId, caller, error, passed })
  if (!passed) throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, cause: error })
  await committed
  noteUnjudged(exchange, 'evaluator_failure')
}

/** What the route redacts, as replacements in the judged content. */
export function redactions(exchange: Exchange, content: ChatContent, evaluation: Evaluation): Replacement[] {
  const { redact } = exchange.route
  if (redact.length === 0) return []
  const keys = new Set(content.parts.flatMap((part) => (part.isKey ? [part.pointer + keyMark] : [])))
  return evaluation.detections
    .filter(
      // A header is judged and not forwarded: only what has a pointer into the body is rewritten.
      (detection) => (redact as readonly string[]).includes(detection.category) && detection.pointer?.startsWith('/')
    )
    .map(({ pointer, span, category }) => {
      const text = `<${category.toUpperCase()}>`
      return keys.has(pointer!)
        ? { pointer: pointer!.slice(0, -keyMark.length), ...span, text, isKey: true }
        : { pointer: pointer!, ...span, text }
    })
}

export function denialOf(
  exchange: Exchange,
  decision: StoppingDecision,
  direction: 'request' | 'answer',
  content: ChatContent,
  evaluation: Evaluation
): Denial {
  // Where no text is to blame, what could not be read is.
  const cause = causeOf(evaluation) ?? content.media[0]?.pointer
  return {
    decision,
    direction,
    evaluation,
    pointer: cause === undefined ? undefined : exchange.route.spoken.offender(plainPointer(content, cause)),
    reviewId: exchange.reviewId
  }
}

/** The finding that weighs most among those that bear on the decision. */
function causeOf({ detections, matched_rules: rules }: Evaluation): string | undefined {
  let best: Detection | undefined
  for (const detection of detections) {
    if (detection.pointer === undefined || !rules.includes(detection.rule)) continue
    if (best === undefined || detection.confidence > best.confidence) best = detection
  }
  return best?.pointer
}

function plainPointer(content: ChatContent, pointer: string): string {
  const part = content.parts.find((each) => markOf(each) !== '' && each.pointer + markOf(each) === pointer)
  return part?.pointer ?? pointer
}
