/**
 * The reply to a client about a verdict that stops a request or an answer: the offending message, and the sentence for
 * people.
 */
import type { ChatContent } from '../base/chat.js'
import type { ReviewBound } from '../base/settings.js'
import { type Denial, occasionOf, type StoppingDecision } from '../dialects/denial.js'
import { textOfTurn, turnOf } from '../policy/evaluate/session.js'
import type { Detection, Evaluation, Speech } from '../policy/evaluation.js'
import type { Hearer, Wording } from '../wording/wording.js'
import type { Exchange } from './exchange.js'
import { markOf } from './verdict.js'

export interface Stopped {
  decision: StoppingDecision
  direction: 'request' | 'answer'
  /** The judged content. */
  content: ChatContent
  evaluation: Evaluation
  /** With `forbid`: the bound of the review queue that was reached. */
  full?: ReviewBound | undefined
  /** With `depends`: the answers that the person is offered. */
  topics?: readonly string[] | undefined
}

export class Denials {
  readonly #wording: Pick<Wording, 'speak'>

  constructor(wording: Pick<Wording, 'speak'>) {
    this.#wording = wording
  }

  async of(exchange: Exchange, stopped: Stopped): Promise<Denial> {
    const { decision, direction, content, full, topics } = stopped
    const evaluation = countedHere(stopped.evaluation, exchange)
    // Without an offending text, the cause is the unreadable content.
    const cause = causeOf(evaluation) ?? content.media[0]?.pointer
    const { reviewId } = exchange
    const happened = { occasion: occasionOf(stopped), evaluation, speech: speechOf(exchange.policy), reviewId, topics }
    const wording = await this.#wording.speak(happened, hearerOf(exchange))
    if (direction === 'answer') exchange.saidIn = wording.end_user.language
    return {
      decision,
      direction,
      evaluation,
      ...(full !== undefined && { full }),
      pointer: cause === undefined ? undefined : exchange.route.spoken.offender(plainPointer(content, cause)),
      reviewId,
      wording
    }
  }
}

/** Undefined where the constitution is not loaded: then nothing was judged by it. */
export function speechOf(policy: Exchange['policy']): Speech | undefined {
  return typeof policy === 'string' ? undefined : policy.speech
}

/** A key that does not count on the route settles nothing there. */
function countedHere(evaluation: Evaluation, { route }: Exchange): Evaluation {
  const { missing_context: missing } = evaluation
  if (missing === undefined || missing.every((key) => route.contextKeys.has(key))) return evaluation
  return { ...evaluation, missing_context: missing.filter((key) => route.contextKeys.has(key)) }
}

function hearerOf({ chat, inbound }: Exchange): Hearer {
  const { parts } = chat
  const header = inbound.headers['accept-language']
  return {
    texts: [textOfTurn(parts, turnOf(parts)), textOfTurn(parts, 0)],
    acceptLanguage: typeof header === 'string' ? header : undefined
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
