/** The answer's half of the funnel, for an answer that comes as a whole. Its streamed twin is `stream.ts`. */

import type { ChatContent, Json, JsonObject } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import { refusalOf } from '../dialects/denial.js'
import { isObject, rewriteTree } from '../dialects/rewrite.js'
import { decodeBody } from '../edge/body.js'
import { parseJson } from '../json/parse.js'
import type { Evaluation } from '../policy/evaluation.js'
import { countMedia, judgeContent, storeAnswer } from './answer-verdict.js'
import type { UpstreamAnswer } from './ask.js'
import { refuseCredential, refuseSpelledCredential } from './credential.js'
import { fork } from './earlier.js'
import { defaultAnswerLimit, type Exchange, type Reply } from './exchange.js'
import { codingOf, discard, readAll } from './forward.js'
import { clientHeaders } from './headers.js'
import { passUnjudged } from './receipt.js'
import { addVerdictHeaders, jsonType, refusalHeaders, turnFacts } from './reply.js'
import { judgeStream } from './stream.js'
import { denialOf, evaluate, redactions } from './verdict.js'
import { mediaTypes } from './wire.js'

/** What is named in the log where it comes in the place of an answer. Anything else is the upstream's own words. */
const knownTypes: ReadonlySet<string> = new Set([
  '',
  'application/json',
  'application/octet-stream',
  'application/problem+json',
  'application/x-ndjson',
  'text/event-stream',
  'text/html',
  'text/plain'
])

/** An answer has more values than a request may: a long one with token probabilities holds hundreds of thousands. */
const answerNodes = 1_000_000

/** @throws Fault `upstream_error`, `upstream_timeout`, `evaluator_unavailable`, `storage_unavailable` */
export async function judgeAnswer(exchange: Exchange, answer: UpstreamAnswer): Promise<Reply> {
  const type = mediaType(answer)
  const ok = answer.status >= 200 && answer.status < 300
  const isOff = exchange.route.output === 'off'
  if (ok && isStreamed(exchange, type)) {
    if (isOff) passUnjudged(exchange, 'output_off')
    return judgeStream(exchange, answer)
  }
  // A redirect is not followed: it could lead to a host that is not in the configuration.
  if ((!ok && answer.status < 400) || !(type === 'application/json' || type.endsWith('+json'))) {
    discard(answer.body)
    throw new Fault('upstream_error', {
      internal: `status ${answer.status}, type ${knownTypes.has(type) ? type : 'another'}`
    })
  }
  const { value, bytes } = await readValue(exchange, answer)
  if (isOff) passUnjudged(exchange, 'output_off')
  const judged = await (ok ? judgeReply(exchange, value, answer.key) : judgeError(exchange, value, answer.key))
  const headers = clientHeaders(exchange.route.spoken, answer, exchange.chat.model)
  headers['content-type'] = jsonType
  if (judged.headers !== undefined) Object.assign(headers, judged.headers)
  addVerdictHeaders(headers, exchange)
  return { status: answer.status, headers, body: judged.body === undefined ? bytes : JSON.stringify(judged.body) }
}

interface AnswerValue {
  value: JsonObject
  bytes: string | Buffer
}

interface Judged {
  /** Undefined: as it came. */
  body: JsonObject | undefined
  headers?: Record<string, string>
}

/**
 * @returns the value, and its text: the bytes as they came, since the strict reader let in only what every reader takes
 * for the same value; a serialisation of the value where the reader replaced something (lone surrogates, always escaped)
 */
async function readValue(exchange: Exchange, answer: UpstreamAnswer): Promise<AnswerValue> {
  const limit = exchange.deps.answerLimit ?? defaultAnswerLimit
  const coding = codingOf(answer)
  const { body } = answer
  const isPlain = coding === undefined || coding === 'identity'
  if (isPlain && Buffer.isBuffer(body) && body.length <= limit) return readDecoded(answer, body)
  const bytes = await readAll(answer, limit)
  let decoded: Buffer
  try {
    decoded = await decodeBody(bytes, codingOf(answer), limit)
  } catch (cause) {
    throw unreadable(cause)
  }
  return readDecoded(answer, decoded)
}

function readDecoded(answer: UpstreamAnswer, decoded: Buffer): AnswerValue {
  let value: Json
  try {
    value = parseJson(decoded, { nodes: answerNodes })
  } catch (cause) {
    throw unreadable(cause)
  }
  if (!isObject(value)) throw new Fault('upstream_error', { internal: 'the answer is not an object' })
  refuseCredential(answer.key, value)
  return { value, bytes: decoded.includes('\\u') ? JSON.stringify(value) : decoded }
}

function unreadable(cause: unknown): Fault {
  return new Fault('upstream_error', { cause, internal: 'the answer is not readable' })
}

async function judgeReply(exchange: Exchange, body: JsonObject, key: string | undefined): Promise<Judged> {
  const { route } = exchange
  const content = route.spoken.readReply(body)
  if (content === undefined) throw new Fault('upstream_error', { internal: 'not an answer of this dialect' })
  refuseSpelledCredential(key, content)
  if (route.output === 'off') {
    await fork(exchange, content.id)
    return { body: undefined }
  }
  const evaluation = await judgeContent(exchange, content)
  if (evaluation === undefined || route.mode === 'observe') return { body: undefined }
  const { decision } = evaluation
  switch (decision) {
    case 'permit':
      return { body: redactReply(exchange, body, content, evaluation) }
    case 'forbid': {
      const denial = denialOf(exchange, 'forbid', 'answer', content, evaluation)
      return {
        body: route.spoken.filtered(body, turnFacts(exchange, denial)),
        headers: refusalHeaders('content_filter', denial.pointer)
      }
    }
    case 'divert':
    case 'depends': {
      const denial = await storeAnswer(exchange, content, evaluation, JSON.stringify(body))
      const facts = turnFacts(exchange, denial)
      return {
        body: denial.decision === 'forbid' ? route.spoken.filtered(body, facts) : route.spoken.turn(facts),
        headers: refusalHeaders(refusalOf(denial).code, denial.pointer)
      }
    }
    default:
      decision satisfies never
      throw new Error('unknown decision')
  }
}

function redactReply(
  exchange: Exchange,
  body: JsonObject,
  content: ChatContent,
  evaluation: Evaluation
): JsonObject | undefined {
  const replacements = redactions(exchange, content, evaluation)
  if (replacements.length === 0) return undefined
  rewriteTree(body, replacements)
  exchange.route.spoken.forgetTokens(body)
  exchange.redacted += replacements.length
  return body
}

/** What an upstream says when it fails is its words too; a client gets them with their status only if they pass. */
async function judgeError(exchange: Exchange, body: JsonObject, key: string | undefined): Promise<Judged> {
  const { route } = exchange
  if (route.output === 'off') return { body: undefined }
  const content = route.spoken.readError(body)
  refuseSpelledCredential(key, content)
  const judged = await evaluate(exchange, 'answer', content, undefined)
  const evaluation = judged === undefined ? undefined : countMedia(exchange, content, judged)
  if (evaluation === undefined || route.mode === 'observe') return { body: undefined }
  if (evaluation.decision !== 'permit') {
    throw new Fault('upstream_error', { internal: 'the error itself was withheld' })
  }
  return { body: redactReply(exchange, body, content, evaluation) }
}

/** By its media type; one that whole answers have too counts where a stream was asked for. */
function isStreamed({ route, chat, inbound }: Exchange, type: string): boolean {
  const framing = route.spoken.framing(inbound.target)
  return type === mediaTypes[framing].received && (framing === 'sse' || chat.stream)
}

function mediaType({ headers }: UpstreamAnswer): string {
  const type = headers['content-type'] ?? ''
  const end = type.indexOf(';')
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase()
}
