/**
 * The stage that judges a whole answer, and the verdict that every answer shares. `read.ts` reads it, `stream.ts` judges
 * streamed answers.
 */

import { isUtf8 } from 'node:buffer'
import type { ChatContent, ChatReply, Json, JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { strictestAct } from '../../base/unscannable.js'
import { type Denial, refusalOf } from '../../dialects/denial.js'
import type { TextAnswers } from '../../dialects/dialect.js'
import { isObject } from '../../dialects/rewrite.js'
import type { SessionStore } from '../../policy/evaluate/session.js'
import type { Evaluation } from '../../policy/evaluation.js'
import type { Denials } from '../denials.js'
import { answerSession, type Exchange, isIdentifier, type Reply } from '../exchange.js'
import { addVerdictHeaders, clientHeaders, jsonType, mediaTypes, refusalHeaders } from '../headers.js'
import { turnFacts } from '../reply.js'
import type { MediaStage } from '../request/media.js'
import type { ReviewDesk } from '../review.js'
import { credentialRefused } from '../upstream/answered.js'
import { UnreadFailure } from '../upstream/failure.js'
import { discard, type UpstreamAnswer } from '../upstream/send.js'
import { raise, redactBody, type Verdicts } from '../verdict.js'
import {
  type AnswerValue,
  readDecoded,
  readValue,
  refuseCredential,
  refuseSpelledCredential,
  unusable
} from './read.js'
import { isSoundType, readSound } from './sound.js'

/** Media types that the log may name where they replace an answer. Any other type is the upstream's own words. */
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

export interface Judged {
  /** Undefined: as it came. */
  body: JsonObject | undefined
  /** Where it was refused. */
  headers?: Record<string, string>
  /** Where it is not the upstream's. */
  status?: number
}

/** An answer that is passed on as it came. */
const asItCame: Judged = { body: undefined }

/** The verdict where none is asked for. */
const unasked: Promise<undefined> = Promise.resolve(undefined)

export interface AnswerDeps {
  media: Pick<MediaStage, 'readAnswer'>
  verdicts: Verdicts
  denials: Denials
  reviews: ReviewDesk
  /** Without sessions no request is linked to the answer that it continues. */
  sessions: Pick<SessionStore, 'get' | 'update'> | undefined
  /** Bytes of an answer that is not streamed. */
  answerLimit: number
}

export class Answers {
  readonly #deps: AnswerDeps

  constructor(deps: AnswerDeps) {
    this.#deps = deps
  }

  /**
   * Judges a whole answer, or the error in its place.
   * @throws Fault `upstream_error`, `upstream_timeout`, `evaluator_unavailable`, `storage_unavailable`
   */
  judge(exchange: Exchange, answer: UpstreamAnswer): Promise<Reply> {
    const type = mediaType(answer)
    const ok = isOk(answer)
    const { answersWithSound, textAnswers } = exchange.route.spoken
    if (answer.status === 401) {
      discard(answer.body)
      throw credentialRefused(answer.key)
    }
    if (ok && answersWithSound === true && isSoundType(type)) return this.#passSound(exchange, answer, type)
    if (ok && textAnswers?.types.has(type) === true) return this.#judgeText(exchange, answer, type, textAnswers)
    if (answer.status >= 400) return this.#judgeFailure(exchange, answer, type)
    // A redirect is not followed: it could lead to a host that is not in the configuration.
    if (!ok || !isJson(type)) {
      discard(answer.body)
      throw unusable(said(answer, type))
    }
    const read = readValue(answer, this.#deps.answerLimit, isObject, unusable)
    return read instanceof Promise
      ? read.then((read) => this.#judgeValue(exchange, answer, read))
      : this.#judgeValue(exchange, answer, read)
  }

  #judgeValue(exchange: Exchange, answer: UpstreamAnswer, { value, bytes }: AnswerValue<JsonObject>): Promise<Reply> {
    this.passIfOff(exchange)
    return this.ofReply(exchange, value, answer.key).then((judged) =>
      replyOf(exchange, answer, judged, jsonType, judged.body === undefined ? bytes : JSON.stringify(judged.body))
    )
  }

  /** Judges an error. Of one that is not readable the status passes, which tells a client whether to try again. */
  async #judgeFailure(exchange: Exchange, answer: UpstreamAnswer, type: string): Promise<Reply> {
    const unread = (internal: string, cause?: unknown) =>
      new UnreadFailure(exchange, answer, `${said(answer, type)}: ${internal}`, cause)
    if (!isJson(type)) {
      discard(answer.body)
      throw unread('not JSON')
    }
    const { value, bytes } = await readValue(answer, this.#deps.answerLimit, isError, unread)
    this.passIfOff(exchange)
    const isList = Array.isArray(value)
    const judged = await this.ofError(exchange, isList ? { error: value } : value, answer.key)
    const changed = isList ? judged.body?.error : judged.body
    return replyOf(exchange, answer, judged, jsonType, changed === undefined ? bytes : JSON.stringify(changed))
  }

  /** @param type one of those that the dialect names */
  async #judgeText(exchange: Exchange, answer: UpstreamAnswer, type: string, form: TextAnswers): Promise<Reply> {
    const bytes = await readDecoded(answer, this.#deps.answerLimit, unusable)
    if (!isUtf8(bytes)) throw new Fault('upstream_error', { internal: 'the answer is not UTF-8' })
    const value = form.read(bytes.toString())
    refuseCredential(answer.key, value)
    this.passIfOff(exchange)
    const judged = await this.ofReply(exchange, value, answer.key)
    // A withheld answer was replaced by an error.
    if (judged.status !== undefined) return replyOf(exchange, answer, judged, jsonType, JSON.stringify(judged.body))
    const text = judged.body === undefined ? bytes : form.write(judged.body)
    return replyOf(exchange, answer, judged, `${type}; charset=utf-8`, text)
  }

  /** @param type one of those that are known for sound */
  async #passSound(exchange: Exchange, answer: UpstreamAnswer, type: string): Promise<Reply> {
    this.passIfOff(exchange)
    const frames = readSound(answer)
    const first = await frames.next()
    this.passSound(exchange)
    const headers = clientHeaders(exchange.route.spoken, answer, exchange.chat.model)
    headers['content-type'] = type
    addVerdictHeaders(headers, exchange, exchange.verdict)
    const reply: Reply = { status: answer.status, headers, body: Buffer.from(first.value, 'latin1') }
    // A sound that is cut off has no error frame: only its connection breaks.
    return first.done ? reply : { ...reply, rest: { encoding: 'latin1', frames, broken: () => '' } }
  }

  /** Counts an answer whose sound is not judged. */
  passSound(exchange: Exchange): void {
    if (exchange.route.spoken.answersWithSound === true) this.#deps.verdicts.passUnjudged(exchange, 'audio')
  }

  /** Counts an answer that is not judged at all. */
  passIfOff(exchange: Exchange): void {
    if (exchange.route.output === 'off') this.#deps.verdicts.passUnjudged(exchange, 'output_off')
  }

  /**
   * Judges one whole reply that is read already, and acts on the verdict.
   * @param key the credential that was used: never shown to a client
   */
  ofReply(exchange: Exchange, body: JsonObject, key: string | undefined): Promise<Judged> {
    const { route } = exchange
    const content = route.spoken.readReply(body)
    if (content === undefined) throw new Fault('upstream_error', { internal: 'not an answer of this dialect' })
    refuseSpelledCredential(key, content)
    if (route.output === 'off') return Promise.resolve(this.fork(exchange, content.id)).then(() => asItCame)
    const judge = () =>
      this.verdictOf(exchange, content).then((evaluation) => this.act(exchange, body, content, evaluation))
    return content.media.length === 0 ? judge() : this.#deps.media.readAnswer(exchange, content, body).then(judge)
  }

  /** Acts on the verdict over a reply. @param content the judged texts of it */
  act(
    exchange: Exchange,
    body: JsonObject,
    content: ChatContent,
    evaluation: Evaluation | undefined
  ): Judged | Promise<Judged> {
    const { route } = exchange
    if (evaluation === undefined || route.mode === 'observe') return asItCame
    const { decision } = evaluation
    switch (decision) {
      case 'permit':
        return redactReply(exchange, body, content, evaluation)
      case 'forbid':
        return this.#withhold(exchange, body, content, evaluation)
      case 'divert':
      case 'depends':
        return this.#review(exchange, body, content, evaluation)
      default:
        decision satisfies never
        throw new Error('unknown decision')
    }
  }

  async #withhold(exchange: Exchange, body: JsonObject, content: ChatContent, evaluation: Evaluation): Promise<Judged> {
    const { spoken } = exchange.route
    const stopped = { decision: 'forbid', direction: 'answer', content, evaluation } as const
    const denial = await this.#deps.denials.of(exchange, stopped)
    if (!spoken.hasTurns) return errorFor(exchange, denial)
    return {
      body: spoken.filtered(body, turnFacts(exchange, denial)),
      headers: refusalHeaders('content_filter', denial.pointer, denial.wording.end_user.language)
    }
  }

  async #review(exchange: Exchange, body: JsonObject, content: ChatContent, evaluation: Evaluation): Promise<Judged> {
    const { spoken } = exchange.route
    const denial = await this.#deps.reviews.ofAnswer(exchange, content, evaluation, JSON.stringify(body))
    if (!spoken.hasTurns) return errorFor(exchange, denial)
    const facts = turnFacts(exchange, denial)
    return {
      body: denial.decision === 'forbid' ? spoken.filtered(body, facts) : spoken.turn(facts),
      headers: refusalHeaders(refusalOf(denial).code, denial.pointer, denial.wording.end_user.language)
    }
  }

  /**
   * The text of an upstream's error is judged as well; a client gets it with its status only if it passes.
   * @throws Fault `upstream_error` where it does not
   */
  async ofError(exchange: Exchange, body: JsonObject, key: string | undefined): Promise<Judged> {
    const { route } = exchange
    if (route.output === 'off') return asItCame
    const content = route.spoken.readError(body)
    refuseSpelledCredential(key, content)
    const evaluation = await this.#evaluate(exchange, content)
    if (evaluation === undefined || route.mode === 'observe') return asItCame
    if (evaluation.decision !== 'permit') {
      throw new Fault('upstream_error', { internal: 'the error itself was withheld' })
    }
    return redactReply(exchange, body, content, evaluation)
  }

  /**
   * The verdict over an answer, or over its held part. Unreadable content counts against it as the route says.
   * @param raised called where the encoder is asked about it
   */
  verdictOf(exchange: Exchange, content: ChatReply, raised?: () => void): Promise<Evaluation | undefined> {
    const forked = this.fork(exchange, content.id)
    return forked === undefined
      ? this.#verdictOn(exchange, content, raised)
      : forked.then(() => this.#verdictOn(exchange, content, raised))
  }

  #verdictOn(exchange: Exchange, content: ChatReply, raised?: () => void): Promise<Evaluation | undefined> {
    const { media, parts } = content
    // Events with sound alone come many times a second, and hold nothing to judge.
    if (parts.length === 0 && exchange.route.spoken.answersWithSound === true) return unasked
    if (media.length > 0 && parts.length === 0 && strictestAct(exchange.route.unscannable, media) === 'permit') {
      this.#deps.verdicts.passMedia(exchange, content)
      return unasked
    }
    return this.#evaluate(exchange, content, raised)
  }

  #evaluate(exchange: Exchange, content: ChatContent, raised?: () => void): Promise<Evaluation | undefined> {
    const verdict = this.#deps.verdicts.ofAnswer(exchange, content, raised)
    return content.media.length === 0 ? verdict : verdict.then((found) => this.#withMedia(exchange, content, found))
  }

  /** Makes a verdict stricter for unreadable content, as the route says. */
  #withMedia(exchange: Exchange, content: ChatContent, evaluation: Evaluation | undefined): Evaluation | undefined {
    if (evaluation === undefined) return undefined
    const { route } = exchange
    const act = strictestAct(route.unscannable, content.media)
    if (route.mode === 'enforce' && act !== 'permit') {
      return raise(exchange, evaluation, act === 'deny' ? 'forbid' : 'divert')
    }
    this.#deps.verdicts.passMedia(exchange, content)
    return evaluation
  }

  /**
   * Stores the session under the answer's id, once, so that later requests can continue from this answer. @param id see
   * `ChatReply.id`
   */
  fork(exchange: Exchange, id: string | undefined): Promise<void> | undefined {
    const { session, chat, inbound } = exchange
    const { sessions } = this.#deps
    if (chat.isKept !== true || sessions === undefined || session === undefined) return undefined
    if (exchange.isForked || id === undefined || !isIdentifier(id)) return undefined
    exchange.isForked = true
    return copySession(sessions, session, answerSession(inbound.caller.accountId, id))
  }
}

function replyOf(
  exchange: Exchange,
  answer: UpstreamAnswer,
  judged: Judged,
  type: string,
  body: string | Buffer
): Reply {
  const headers = clientHeaders(exchange.route.spoken, answer, exchange.chat.model)
  headers['content-type'] = type
  if (judged.headers !== undefined) Object.assign(headers, judged.headers)
  addVerdictHeaders(headers, exchange, exchange.verdict)
  return { status: judged.status ?? answer.status, headers, body }
}

/**
 * The error for an answer that has no room for a sentence: with a success status clients would take the error for the
 * answer.
 */
function errorFor({ route, inbound }: Exchange, denial: Denial): Judged {
  const { status, code } = refusalOf(denial)
  return {
    status,
    body: route.spoken.denied(denial, inbound.requestId),
    headers: refusalHeaders(code, denial.pointer, denial.wording.developer.language)
  }
}

async function copySession(sessions: Pick<SessionStore, 'get' | 'update'>, from: string, to: string): Promise<void> {
  const state = await sessions.get(from)
  if (state !== undefined) await sessions.update(to, () => state)
}

function redactReply(exchange: Exchange, body: JsonObject, content: ChatContent, evaluation: Evaluation): Judged {
  if (!redactBody(exchange, body, content, evaluation)) return asItCame
  exchange.route.spoken.forgetTokens(body)
  return { body }
}

/** Told by the media type; a type that whole answers share counts only where a stream was requested. */
export function isStreamed({ route, chat, inbound }: Exchange, answer: UpstreamAnswer): boolean {
  if (!isOk(answer)) return false
  const framing = route.spoken.framing(inbound.target)
  return mediaType(answer) === mediaTypes[framing].received && (framing === 'sse' || chat.stream)
}

/** Google writes the error of a stream that is an array as an array, and that of its endpoint for OpenAI's clients. */
function isError(value: Json): value is JsonObject | JsonObject[] {
  return Array.isArray(value) ? value.length > 0 && value.every(isObject) : isObject(value)
}

function isJson(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json')
}

/** What is logged of an answer that is not read. */
function said({ status }: UpstreamAnswer, type: string): string {
  return `status ${status}, type ${knownTypes.has(type) ? type : 'another'}`
}

function isOk({ status }: UpstreamAnswer): boolean {
  return status >= 200 && status < 300
}

function mediaType({ headers }: UpstreamAnswer): string {
  const type = headers['content-type'] ?? ''
  const end = type.indexOf(';')
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase()
}
