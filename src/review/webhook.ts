/**
 * What is sent to a webhook, and how it is signed: the Standard Webhooks specification (standardwebhooks.com), so that its
 * libraries verify it. Identifiers, rules and scores; never a text, a note or a context.
 */
import { createHmac } from 'node:crypto'
import type { WebhookFormat } from '../base/settings.js'
import { shownPrefix } from '../identity/key-format.js'
import type { SelfRotation } from '../identity/key-service.js'
import type { DeliveryRow } from '../storage/contracts/delivery-store.js'
import type { ReviewRow } from '../storage/contracts/review-store.js'
import { newId } from '../storage/id.js'
import { reviewStatus } from './record.js'

export const reviewEvents = ['review.created', 'review.approved', 'review.decided'] as const
export type ReviewEvent = (typeof reviewEvents)[number]
/** A key has rotated itself. */
export const keyRotated = 'key.rotated'
export type WebhookEvent = ReviewEvent | typeof keyRotated

/** One message for the outbox, due at once. */
export function delivery(
  event: WebhookEvent,
  { account, subject, body }: Pick<DeliveryRow, 'account' | 'subject' | 'body'>,
  now: number
): DeliveryRow {
  const fresh = { state: 'waiting', attempts: 0, nextAt: now, lastError: null, createdAt: now } as const
  return { deliveryId: newId('whd', now), account, event, subject, body, ...fresh }
}

/** The body of the message that a key has rotated itself: an owner who did not ask for that has lost a key. */
export function rotationBody({ old, successor, at, graceEndsAt }: SelfRotation, format: WebhookFormat): string {
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
  const text = `The key ${data.prefix} (${data.key_id}) rotated itself: ${data.rotated_to_prefix} (${data.rotated_to}) takes its place, and it ends at ${data.ends_at}. If that was not its owner, revoke the lineage ${data.lineage}.`
  return JSON.stringify({ text })
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

/** The headers of one attempt. @param at wall time, ms: receivers refuse what is signed long ago, which stops replays */
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
