/** Sends what waits in the outbox to the webhook, until it is taken or given up: then it stays visible as a dead letter. */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import type { WebhookSettings } from '../base/settings.js'
import { isoOrNull, isoTime } from '../base/units.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import type { DeliveryRow, DeliveryStore } from '../storage/contracts/delivery-store.js'
import { isId } from '../storage/id.js'
import type { Reviewer } from './review.js'
import { webhookHeaders } from './webhook.js'

/** How long each further attempt waits: about eight hours in all, long enough for a night's outage to be noticed. */
const pausesMs = [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 18_000_000]
const attemptTimeoutMs = 10_000
/** While a delivery is under way no other process takes it; past it, its process is gone. */
const leaseMs = 60_000
const lookEveryMs = 5_000
const atOnce = 4
const defaultPage = 100

export interface DeliveryRecord {
  delivery_id: string
  event: string
  /** What it tells of: one of these two. */
  review_id: string | null
  state: 'waiting' | 'dead'
  attempts: number
  last_error: string | null
  created_at: string
  next_attempt_at: string | null
  key_id: string | null
}

export interface DeliveriesDeps {
  deliveries: DeliveryStore
  clock: Clock
  /** Read at each use. */
  settings: { readonly webhook: WebhookSettings | undefined }
  /** `delivered`, `failed` (to be tried again), `dead`. */
  outcome(result: 'delivered' | 'failed' | 'dead'): void
  failure(error: unknown): void
}

export class Deliveries {
  readonly #deps: DeliveriesDeps
  #running: Promise<void> | undefined
  #again = false
  readonly #timer: NodeJS.Timeout

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.kick(), lookEveryMs)
    this.#timer.unref()
  }

  /** Sends what is due, in the background. */
  kick(): void {
    if (this.#running !== undefined) {
      this.#again = true
      return
    }
    this.#running = this.#drain()
      .catch((error) => this.#deps.failure(error))
      .finally(() => {
        this.#running = undefined
        if (!this.#again) return
        this.#again = false
        this.kick()
      })
  }

  async #drain(): Promise<void> {
    const { deliveries, clock, settings } = this.#deps
    for (;;) {
      const { webhook } = settings
      if (webhook === undefined) return
      const now = clock.now()
      const due = await deliveries.take({ now, leasedUntil: now + leaseMs, limit: atOnce })
      if (due.length === 0) return
      await Promise.all(due.map((row) => this.#deliver(row, webhook)))
    }
  }

  async #deliver(row: DeliveryRow, webhook: WebhookSettings): Promise<void> {
    const { deliveries, clock, outcome } = this.#deps
    const error = await attempt(row, webhook, clock.now())
    if (error === undefined) {
      await deliveries.remove(row.deliveryId)
      return outcome('delivered')
    }
    const pause = pausesMs[row.attempts]
    const nextAt = pause === undefined ? null : clock.now() + pause
    await deliveries.fail(row.deliveryId, { attempts: row.attempts + 1, nextAt, error })
    outcome(nextAt === null ? 'dead' : 'failed')
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

  /** Tries a dead letter from the beginning again. */
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
    this.#again = false
    await this.#running
  }
}

/** @returns what went wrong, in words that name no secret; undefined where it was taken */
async function attempt(row: DeliveryRow, { url, secret }: WebhookSettings, now: number): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: webhookHeaders(row.deliveryId, row.body, now, secret),
      body: row.body,
      // An address comes from the configuration alone.
      redirect: 'manual',
      signal: AbortSignal.timeout(attemptTimeoutMs)
    })
    await response.body?.cancel()
    return response.ok ? undefined : `answered ${response.status}`
  } catch (error) {
    const { name, cause } = error as Error
    const code = (cause as NodeJS.ErrnoException | undefined)?.code
    return name === 'TimeoutError' ? `no answer within ${attemptTimeoutMs / 1000} s` : `not reached (${code ?? name})`
  }
}

function deliveryRecord(row: DeliveryRow): DeliveryRecord {
  return {
    delivery_id: row.deliveryId,
    event: row.event,
    review_id: isId('rev', row.subject) ? row.subject : null,
    state: row.state,
    attempts: row.attempts,
    last_error: row.lastError,
    created_at: isoTime(row.createdAt),
    next_attempt_at: isoOrNull(row.nextAt),
    key_id: isId('key', row.subject) ? row.subject : null
  }
}

function requireReviewer({ scopes }: Reviewer): void {
  if (!holds(scopes, 'pdp:adjudicate')) throw insufficientScope('pdp:adjudicate', scopes)
}
