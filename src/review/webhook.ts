/**
 * Webhook messages and their signatures, by the Standard Webhooks specification (standardwebhooks.com), so that its
 * libraries can verify them. They hold identifiers, rules and scores; never a text, a note or a context.
 */
import { createHmac } from 'node:crypto'
import { newId } from '../base/ids.js'
import type { WebhookFormat, WebhookSettings } from '../base/settings.js'
import { shownPrefix } from '../identity/key-format.js'
import type { SelfRotation } from '../identity/key-service.js'
import type { Channel, DeliveryRow, ReviewRow } from '../storage/contracts/reviews.js'
import { reviewStatus } from './record.js'

export const reviewEvents = ['review.created', 'review.approved', 'review.decided'] as const
export type ReviewEvent = (typeof reviewEvents)[number]
/** A key has rotated itself. */
export const keyRotated = 'key.rotated'
/** Events of an alert: it began, it lasts, it ended. */
export const alertEvents = ['alert.began', 'alert.reminded', 'alert.ended'] as const
export type AlertEvent = (typeof alertEvents)[number]
export type WebhookEvent = ReviewEvent | typeof keyRotated | AlertEvent

export function isAlertEvent(event: string): event is AlertEvent {
  return (alertEvents as readonly string[]).includes(event)
}

/**
 * Sends one message within 30 s.
 * @param now wall time, ms
 * @returns the error, in words without secrets; undefined where it was accepted. Never rejects.
 */
export type Send = (message: Pick<DeliveryRow, 'deliveryId' | 'body'>, now: number) => Promise<string | undefined>

const attemptTimeoutMs = 10_000

/** One message for the outbox, due at once. */
export function delivery(
  event: WebhookEvent,
  { account, subject, body }: Pick<DeliveryRow, 'account' | 'subject' | 'body'>,
  now: number,
  channel: Channel = 'review'
): DeliveryRow {
  const fresh = { state: 'waiting', attempts: 0, nextAt: now, lastError: null, createdAt: now } as const
  return { deliveryId: newId('whd', now), account, channel, event, subject, body, ...fresh }
}

/** The message that a key has rotated itself: if its owner did not do it, the key was stolen. */
export function rotationBody(rotation: SelfRotation, format: WebhookFormat): string {
  const { old, successor, at, graceEndsAt } = rotation
  const data = {
    key_id: old.keyId,
    prefix: shownPrefix(old.environment, old.prefix),
    lineage: old.lineage,
    rotated_to: successor.keyId,
    rotated_to_prefix: shownPrefix(successor.environment, successor.prefix),
    rotated_at: new Date(at).toISOString(),
    ends_at: new Date(graceEndsAt).toISOString()
  }
  if (format === 'json') return JSON.stringify({ type: keyRotated, timestamp: data.rotated_at, data })
  return JSON.stringify({ text: rotationSentence(rotation) })
}

/** The same for people. */
export function rotationSentence({ old, successor, graceEndsAt }: SelfRotation): string {
  const named = ({ keyId, environment, prefix }: SelfRotation['old']) =>
    `${shownPrefix(environment, prefix)} (${keyId})`
  return `The key ${named(old)} rotated itself: ${named(successor)} takes its place, and it ends at ${new Date(graceEndsAt).toISOString()}. If that was not its owner, revoke the lineage ${old.lineage}.`
}

/** The body of one message. */
export function webhookBody(event: ReviewEvent, row: ReviewRow, at: number, format: WebhookFormat): string {
  const data = {
    review_id: row.reviewId,
    status: reviewStatus(row, at),
    surface: row.surface,
    route: row.route,
    policy: row.policy,
    key_id: row.keyId,
    risk_score: row.riskScore,
    matched_rules: row.matchedRules,
    categories: row.categories,
    created_at: new Date(row.createdAt).toISOString(),
    expires_at: new Date(row.expiresAt).toISOString(),
    approved_by: row.approvedBy,
    decided_by: row.decidedBy
  }
  if (format === 'slack') return JSON.stringify({ text: sentence(event, data) })
  return JSON.stringify({ type: event, timestamp: new Date(at).toISOString(), data })
}

interface Told {
  review_id: string
  status: string
  risk_score: number
  categories: readonly string[]
  route: string
  expires_at: string
  approved_by: string | null
  decided_by: string | null
}

function sentence(event: ReviewEvent, told: Told): string {
  const what = `review ${told.review_id} (${told.categories.join(', ') || 'no category'}, risk ${told.risk_score}, ${told.route})`
  switch (event) {
    case 'review.created':
      return `New ${what} waits for a decision until ${told.expires_at}.`
    case 'review.approved':
      return `${told.approved_by} permitted ${what}; it needs a second person.`
    case 'review.decided':
      return `${told.decided_by} decided ${what}: ${told.status}.`
    default:
      return event satisfies never
  }
}

/** The headers of one attempt. @param at wall time, ms: receivers refuse old signatures, which stops replays */
export function webhookHeaders(id: string, body: string, at: number, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'user-agent': 'sluicegate-webhook',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`
  }
}

/** @returns the sender of one webhook, whose address comes only from the configuration */
export function webhookSender({ url, secret }: WebhookSettings): Send {
  return async ({ deliveryId, body }, now) => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: webhookHeaders(deliveryId, body, now, secret),
        body,
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
}
