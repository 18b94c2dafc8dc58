/** What the API says of work beside the queue: messages to the webhook, and exceptions. */
export interface Delivery {
  delivery_id: string
  event: string
  review_id: string | null
  state: 'waiting' | 'dead'
  attempts: number
  last_error: string | null
  created_at: string
  next_attempt_at: string | null
  key_id: string | null
}

export interface Exception {
  exception_id: string
  state: 'proposed' | 'accepted' | 'rejected' | 'revoked' | 'expired'
  evaluation_id: string
  policy: string
  rules: string[]
  scope: 'key' | 'account'
  key_id: string
  note: string | null
  proposed_by: string
  proposed_at: string
  decided_by: string | null
  decided_at: string | null
  expires_at: string | null
}
