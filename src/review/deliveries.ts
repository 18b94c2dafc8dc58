/**
 * Delivers the outbox to webhooks and by e-mail, until a message is accepted or given up: then it stays visible as a
 * dead letter.
 */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import { isId } from '../base/ids.js'
import { isoOrNull, isoTime } from '../base/units.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import { type Channel, channels, type DeliveryRow, type DeliveryStore } from '../storage/contracts/reviews.js'
import type { Reviewer } from './review.js'
import { isAlertEvent, type Send } from './webhook.js'

/** Pauses before further attempts: about eight hours in all, so that an outage at night is survived or noticed. */
const pausesMs = [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 18_000_000]
/**
 * Lease of a delivery under way: no other process takes it until its process counts as dead. An attempt takes at most
 * half of it.
 */
const leaseMs = 60_000
const lookEveryMs = 5_000
const atOnce = 4
/** Most messages that wait in memory. */
const mostDirect = 20
const defaultPage = 100

export interface DeliveryRecord {
  delivery_id: string
  /** The channel of the receiver. */
  channel: Channel
  event: string
  /** The subject: a review, a key, or a kind of alert. */
  review_id: string | null
  state: 'waiting' | 'dead'
  attempts: number
  last_error: string | null
  created_at: string
  next_attempt_at: string | null
  key_id: string | null
  alert: string | null
}

/** The outcome of one attempt. */
export interface DeliveryOutcome {
  channel: Channel
  /** `failed`: it is tried again. */
  result: 'delivered' | 'failed' | 'dead'
  /** The error, in words without secrets. */
  error: string | undefined
}

export interface DeliveriesDeps {
  deliveries: DeliveryStore
  clock: Clock
  /** The senders of the configured channels; read at each use. */
  senders(): Partial<Record<Channel, Send>>
  outcome(outcome: DeliveryOutcome): void
  /** Told the error of each look at the outbox, or undefined where it succeeded. */
  rounds(error: unknown): void
}

export class Deliveries {
  readonly #deps: DeliveriesDeps
  #running: Promise<void> | undefined
  #again = false
  readonly #timer: NodeJS.Timeout
  /** Messages in memory, each with the timer of its next attempt. */
  readonly #direct = new Map<string, NodeJS.Timeout | undefined>()
  readonly #attempts = new Set<Promise<void>>()
  #isClosed = false

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.kick(), lookEveryMs)
    this.#timer.unref()
  }

  /** Sends due messages in the background. */
  kick(): void {
    if (this.#running !== undefined) {
      this.#again = true
      return
    }
    this.#running = this.#drain()
      .then(() => this.#deps.rounds(undefined), this.#deps.rounds)
      .finally(() => {
        this.#running = undefined
        if (!this.#again) return
        this.#again = false
        this.kick()
      })
  }

  async #drain(): Promise<void> {
    const { deliveries, clock, senders } = this.#deps
    for (;;) {
      const known = senders()
      const now = clock.now()
      const due = await deliveries.take({
        channels: channels.filter((channel) => known[channel] !== undefined),
        now,
        leasedUntil: now + leaseMs,
        limit: atOnce
      })
      if (due.length === 0) return
      await Promise.all(due.map((row) => this.#deliver(row, known[row.channel]!)))
    }
  }

  async #deliver(row: DeliveryRow, send: Send): Promise<void> {
    const { deliveries, clock, outcome } = this.#deps
    const { channel } = row
    const error = await send(row, clock.now())
    if (error === undefined) {
      await deliveries.remove(row.deliveryId)
      return outcome({ channel, result: 'delivered', error })
    }
    const pause = pausesMs[row.attempts]
    const nextAt = pause === undefined ? null : clock.now() + pause
    await deliveries.fail(row.deliveryId, { attempts: row.attempts + 1, nextAt, error })
    outcome({ channel, result: nextAt === null ? 'dead' : 'failed', error })
  }

  /** Sends messages from memory, to report a failing storage: retried like all others, but lost with the process. */
  direct(rows: readonly DeliveryRow[]): void {
    for (const row of rows) {
      if (this.#direct.size < mostDirect) this.#attempt(row)
      else this.#deps.outcome({ channel: row.channel, result: 'dead', error: 'too many wait' })
    }
  }

  #attempt(row: DeliveryRow): void {
    const { clock, senders, outcome } = this.#deps
    const { channel, deliveryId, attempts } = row
    const send = senders()[channel]
    if (this.#isClosed || send === undefined) return void this.#direct.delete(deliveryId)
    this.#direct.set(deliveryId, undefined)
    const attempt = send(row, clock.now()).then((error) => {
      const pause = error === undefined ? undefined : pausesMs[attempts]
      outcome({ channel, result: error === undefined ? 'delivered' : pause === undefined ? 'dead' : 'failed', error })
      if (pause === undefined || this.#isClosed) return void this.#direct.delete(deliveryId)
      const timer = setTimeout(() => this.#attempt({ ...row, attempts: attempts + 1 }), pause)
      timer.unref()
      this.#direct.set(deliveryId, timer)
    })
    this.#attempts.add(attempt)
    void attempt.finally(() => this.#attempts.delete(attempt))
  }

  /** Oldest first. @param page.state default both */
  async list(
    reviewer: Reviewer,
    { state, limit = defaultPage, cursor }: { state?: DeliveryRow['state']; limit?: number; cursor?: string } = {}
  ): Promise<{ deliveries: DeliveryRecord[]; next_cursor?: string }> {
    requireReviewer(reviewer)
    if (cursor !== undefined && !isId('whd', cursor)) {
      throw invalid('query.cursor', 'invalid_format', 'cursor must be a next_cursor of an earlier answer.')
    }
    const page = { state, after: cursor, limit: limit + 1 }
    const rows = await this.#deps.deliveries.list(reviewer.accountId, page)
    const deliveries = rows.slice(0, limit).map(deliveryRecord)
    return rows.length > limit ? { deliveries, next_cursor: deliveries.at(-1)!.delivery_id } : { deliveries }
  }

  /** Restarts the attempts of a dead letter. */
  async retry(reviewer: Reviewer, deliveryId: string): Promise<DeliveryRecord> {
    requireReviewer(reviewer)
    const { deliveries, clock } = this.#deps
    const row = isId('whd', deliveryId)
      ? await deliveries.revive(reviewer.accountId, deliveryId, clock.now())
      : undefined
    if (row === undefined) throw new Fault('not_found', { message: 'There is no such dead letter.' })
    this.kick()
    return deliveryRecord(row)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#isClosed = true
    this.#again = false
    for (const timer of this.#direct.values()) clearTimeout(timer)
    await Promise.all([this.#running, ...this.#attempts])
  }
}

function deliveryRecord(row: DeliveryRow): DeliveryRecord {
  return {
    delivery_id: row.deliveryId,
    channel: row.channel,
    event: row.event,
    review_id: isId('rev', row.subject) ? row.subject : null,
    state: row.state,
    attempts: row.attempts,
    last_error: row.lastError,
    created_at: isoTime(row.createdAt),
    next_attempt_at: isoOrNull(row.nextAt),
    key_id: isId('key', row.subject) ? row.subject : null,
    alert: isAlertEvent(row.event) ? row.subject : null
  }
}

function requireReviewer({ scopes }: Reviewer): void {
  if (!holds(scopes, 'pdp:adjudicate')) throw insufficientScope('pdp:adjudicate', scopes)
}
