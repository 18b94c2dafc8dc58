/**
 * Clarification as a conversation: under `respond: message` a doubtful request is answered with a question, and the
 * next turn of the person settles it. The gateway remembers its questions, so that a question invented by a client has
 * no effect. An answer counts only for the text in question, and has the effect of the same topic in the caller's
 * context on the route.
 */
import { createHash, createHmac } from 'node:crypto'
import type { ChatPart, JsonObject } from '../base/chat.js'
import type { Clock } from '../base/clock.js'
import { describeError, type Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import { askedKey } from '../policy/decide/speech.js'
import type { Evaluation, Settled } from '../policy/evaluation.js'
import { type Seal, sealedFor } from '../sealing/seal.js'
import type { QuestionRow, QuestionStore } from '../storage/contracts/questions.js'
import { understood } from '../wording/answers.js'
import { looksAsked, topicsFor } from '../wording/topics.js'
import { categoryOf, type Wording } from '../wording/wording.js'
import { speechOf } from './denials.js'
import type { Exchange, Inbound } from './exchange.js'
import { markOf } from './verdict.js'

/** How long a question waits for its answer, and an answer for the next turn of its conversation. */
const keptMs = 30 * 60_000
/** Questions of one key that are kept; beyond, the oldest is forgotten. */
const mostQuestions = 100
/** Questions of one conversation that are looked up, from its end. */
const mostLookedUp = 8
/** UTF-8 bytes of a request that is kept for one that names the answer only. */
const maxKeptRequest = 32 * 1024

export interface Keeping {
  questions: QuestionStore
  /** 32 bytes; keys the digests. */
  key: Buffer
  /** Encrypts kept requests, since they hold people's texts. */
  seal: Seal
}

export interface ClarifierDeps {
  /** Undefined: nothing can be remembered, and so nothing is asked. */
  keeping: Keeping | undefined
  wording: Pick<Wording, 'asked'>
  clock: Pick<Clock, 'now'>
  metrics: Pick<Metrics, 'clarifications'>
  log: Pick<Log, 'error'>
}

/** A question that a person can be asked about a verdict. */
export interface Offer {
  /** Values of the context; the person is offered every other thing beside them. */
  topics: readonly string[]
  /** Numbers of the turns that the question is about. */
  turns: readonly number[]
}

/** Consecutive parts of one speaker. */
interface Turn {
  role: 'user' | 'assistant' | 'tool'
  /** Indexes of its parts. */
  parts: number[]
  text: string
}

export class Clarifier {
  readonly #deps: ClarifierDeps

  constructor(deps: ClarifierDeps) {
    this.#deps = deps
  }

  /**
   * Adds the earlier turns to a request that continues from one of the gateway's own questions. @returns bytes that it
   * grew by
   */
  async resume({ entry, caller }: Inbound, body: JsonObject): Promise<number> {
    const { keeping, clock } = this.#deps
    const { chain } = entry.dialect
    const after = chain?.after(body)
    if (keeping === undefined || chain === undefined || after === undefined) return 0
    const row = await this.#tried(() =>
      keeping.questions.findByAnswer(this.#digest(caller.lineage, 'answer', after), clock.now())
    )
    if (row?.sealedRequest == null) return 0
    const opened = keeping.seal.open(row.sealedRequest, sealedFor(row.questionId, 'request'))
    const { request, said } = JSON.parse(opened.toString()) as { request: JsonObject; said: string }
    chain.resume(body, request, said)
    return opened.length
  }

  /** The answers that people gave in this conversation; stores the new ones. */
  settle(exchange: Exchange): Promise<readonly Settled[] | undefined> | undefined {
    const { keeping } = this.#deps
    if (keeping === undefined || !this.#mayAsk(exchange)) return undefined
    // Most requests end here: none of their turns could be a question.
    const mayBeAnswered = exchange.chat.parts.some(({ role, text }) => role === 'assistant' && looksAsked(text))
    return mayBeAnswered ? this.#settleAll(exchange, keeping) : undefined
  }

  async #settleAll(exchange: Exchange, keeping: Keeping): Promise<readonly Settled[] | undefined> {
    const { clock } = this.#deps
    const { parts } = exchange.chat
    const turns = turnsOf(parts)
    const asked = turns
      .flatMap(({ role, text }, i) =>
        role === 'assistant' && looksAsked(text) && turns[i + 1]?.role === 'user' ? [i] : []
      )
      .slice(-mostLookedUp)
    if (asked.length === 0) return undefined
    const digests = this.#digests(exchange, turns)
    const rows = await this.#tried(() =>
      keeping.questions.find(
        asked.map((i) => digests[i]!),
        clock.now()
      )
    )
    if (rows === undefined || rows.length === 0) return undefined
    const settled: Settled[] = []
    for (const i of asked) {
      const row = rows.find(({ questionId }) => questionId === digests[i])
      if (row !== undefined) settled.push(await this.#settleOne(turns, parts, i, row, digests[i + 1]!))
    }
    return settled
  }

  async #settleOne(
    turns: readonly Turn[],
    parts: readonly ChatPart[],
    at: number,
    row: QuestionRow,
    answer: string
  ): Promise<Settled> {
    const { clock, metrics } = this.#deps
    const { questions } = this.#deps.keeping!
    const expiresAt = clock.now() + keptMs
    let standing: QuestionRow | undefined = row
    if (row.answer === null) {
      const topic = understood(turns[at + 1]!.text, row.topics) ?? null
      standing = await this.#tried(() => questions.settle(row.questionId, { answer, topic, expiresAt }))
      if (standing?.answer === answer) metrics.clarifications.inc({ outcome: topic === null ? 'unclear' : 'settled' })
    } else if (row.expiresAt - clock.now() < keptMs / 2) {
      await this.#tried(() => questions.extend(row.questionId, expiresAt))
    }
    // Only the first answer counts; a different one settles nothing.
    const topic = standing?.answer === answer ? (standing.topic ?? undefined) : undefined
    const isUsers = (index: number) => parts[index]!.role === 'user'
    return {
      parts: row.turns.flatMap((turn) => turns[turn]?.parts ?? []).filter(isUsers),
      beside: [...turns[at]!.parts.filter((index) => looksAsked(parts[index]!.text)), ...turns[at + 1]!.parts],
      topic
    }
  }

  /** @returns undefined where no question to the person could settle the verdict */
  async offer(exchange: Exchange, evaluation: Evaluation): Promise<Offer | undefined> {
    const speech = speechOf(exchange.policy)
    if (this.#deps.keeping === undefined || speech === undefined || !this.#mayAsk(exchange)) return undefined
    if (categoryOf({ evaluation, speech }) === 'self_harm') return undefined
    const { detections, matched_rules: rules } = evaluation
    const deciding = detections.filter(({ rule }) => rules.includes(rule))
    const asked = await this.#deps.wording.asked(speech)
    if (asked !== undefined && !deciding.every(({ category }) => asked.includes(category))) return undefined
    const turns = turnsAbout(exchange.chat.parts, deciding)
    const topics = topicsFor(speech, rules)
    return turns === undefined || topics.length === 0 ? undefined : { topics, turns }
  }

  /** @param said the question as the person reads it. @returns false where it could not be kept: then it must not be asked */
  async remember(exchange: Exchange, { topics, turns }: Offer, said: string): Promise<boolean> {
    const { keeping, clock, metrics } = this.#deps
    const { chat, inbound, body } = exchange
    const { lineage } = inbound.caller
    const all: Turn[] = [...turnsOf(chat.parts), { role: 'assistant', parts: [], text: said }]
    const questionId = this.#digests(exchange, all).at(-1)!
    const { chain } = inbound.entry.dialect
    const request = chain && JSON.stringify({ request: chain.kept(body), said })
    const isKept = request !== undefined && Buffer.byteLength(request) <= maxKeptRequest
    const askedAt = clock.now()
    const row: QuestionRow = {
      questionId,
      lineage,
      topics,
      turns,
      askedAt,
      expiresAt: askedAt + keptMs,
      answer: null,
      topic: null,
      answerId: isKept ? this.#digest(lineage, 'answer', chain!.idOf(inbound.requestId)) : null,
      sealedRequest: isKept ? keeping!.seal.seal(Buffer.from(request), sealedFor(questionId, 'request')) : null
    }
    const kept = await this.#tried(() => keeping!.questions.ask(row, mostQuestions).then(() => true))
    metrics.clarifications.inc({ outcome: kept === true ? 'asked' : 'not_kept' })
    return kept === true
  }

  /** Whether an answer could have an effect on this route: it has at most the effect of the caller's own context. */
  #mayAsk({ route }: Exchange): boolean {
    const { respond, mode, spoken, contextKeys } = route
    return respond === 'message' && mode === 'enforce' && spoken.isConversation === true && contextKeys.has(askedKey)
  }

  /** By turn, the digest of the conversation up to its end. */
  #digests({ inbound, route }: Exchange, turns: readonly Turn[]): string[] {
    const chained = createHash('sha256')
    return turns.map(({ role, text }) => {
      const said = text.normalize('NFC').replace(/\s+/g, ' ').trim()
      chained.update(`${role} ${said.length} ${said}\n`)
      return this.#digest(inbound.caller.lineage, route.constitution, chained.copy().digest('hex'))
    })
  }

  #digest(...of: readonly string[]): string {
    return createHmac('sha256', this.#deps.keeping!.key).update(JSON.stringify(of)).digest('hex')
  }

  /** Without the store nothing is settled, and nothing is asked: the request is judged as it stands. */
  async #tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#deps.log.error({ err: describeError(error) }, 'questions to people cannot be kept or found')
      return undefined
    }
  }
}

function turnsOf(parts: readonly ChatPart[]): Turn[] {
  const turns: Turn[] = []
  for (const [i, { role, isKey, isDecoded, text }] of parts.entries()) {
    if (isKey === true || isDecoded === true || text === '') continue
    if (role !== 'user' && role !== 'assistant' && role !== 'tool') continue
    const last = turns.at(-1)
    if (last?.role !== role) turns.push({ role, parts: [i], text })
    else {
      last.parts.push(i)
      // Clients repeat a question together with the text around it; the question alone identifies it.
      if (looksAsked(text) && role === 'assistant') last.text = text
      else if (!(role === 'assistant' && looksAsked(last.text))) last.text += `\n${text}`
    }
  }
  return turns
}

/** @returns undefined where the words of others caused the verdict: the person cannot explain those */
function turnsAbout(parts: readonly ChatPart[], deciding: Evaluation['detections']): number[] | undefined {
  const turns = turnsOf(parts)
  if (turns.at(-1)?.role !== 'user') return undefined
  const about = new Set<number>()
  for (const { pointer, layer } of deciding) {
    const index = parts.findIndex((part) => part.pointer + markOf(part) === pointer)
    const turn = turns.findIndex((each) => each.parts.includes(index))
    if (turn === -1 || turns[turn]!.role !== 'user') return undefined
    about.add(turn)
    // What was found where texts meet is about all that follow.
    if (layer.startsWith('joined')) {
      for (let i = turn + 1; i < turns.length; i++) if (turns[i]!.role === 'user') about.add(i)
    }
  }
  return about.size === 0 ? undefined : [...about].sort((a, b) => a - b)
}
