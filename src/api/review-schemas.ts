/** Schemas of the reviews API: they validate input and describe it in the OpenAPI document. */
import Type from 'typebox'
import { roles } from '../base/chat.js'
import { named, nameSchemas } from '../edge/doc-names.js'
import { Category, Detection, Page } from '../edge/schemas.js'
import { categories } from '../policy/evaluation.js'
import { alertEvents, keyRotated, reviewEvents } from '../review/webhook.js'
import { channels, reviewSurfaces } from '../storage/contracts/reviews.js'

const closed = { additionalProperties: false }
const time = Type.String({ format: 'date-time' })
const timeOrNull = (description: string) => Type.Union([time, Type.Null()], { description })
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const statuses = ['pending', 'permitted', 'forbidden', 'expired'] as const
const ReviewState = named('ReviewState', Type.Enum([...statuses]))
const duration = (description: string) => Type.String({ maxLength: 20, description, examples: ['10m'] })

export const ReviewId = Type.String({ pattern: '^rev_[0-9A-Za-z]{1,40}$' })
export const ReviewParams = Type.Object({ review_id: ReviewId })

export const ReviewQuery = Type.Object(
  {
    ...Page.properties,
    status: Type.Optional(Type.Enum([...statuses])),
    category: Type.Optional(Type.Enum([...categories], { description: 'Of any of its detections.' })),
    key_id: Type.Optional(Type.String({ pattern: '^key_[0-9A-Za-z]{1,40}$', description: 'The key that caused it.' })),
    older_than: Type.Optional(duration('Opened at least so long ago.')),
    newer_than: Type.Optional(duration('Opened at most so long ago.')),
    order: Type.Optional(Type.Enum(['newest', 'oldest'], { description: 'Default newest.' }))
  },
  closed
)

/** Fields for the causing key; the rest is for reviewers. */
const statusFields = {
  review_id: Type.String(),
  status: ReviewState,
  surface: Type.Enum([...reviewSurfaces]),
  route: Type.String(),
  policy: Type.String(),
  created_at: time,
  expires_at: time,
  decided_at: timeOrNull('When it was decided.'),
  used_at: timeOrNull('When the permit let its request pass.')
}
export const Review = Type.Object({
  ...statusFields,
  key_id: Type.String(),
  decided_by: textOrNull('A key or a user.'),
  claimed_by: textOrNull('Who has it before them now.'),
  claimed_until: timeOrNull('Until then nobody else decides it.'),
  approved_by: textOrNull('Under the two-person rule, who permitted it first.'),
  approved_at: timeOrNull('When they did.'),
  risk_score: Type.Number(),
  matched_rules: Type.Array(Type.String()),
  categories: Type.Array(Category),
  detections: Type.Array(Detection),
  digest: Type.String({ description: 'SHA-256 of the canonical request, hex.' }),
  purged_at: timeOrNull('When its texts were deleted.')
})
export const ReviewDetail = Type.Object({
  ...Review.properties,
  text: textOrNull('The canonical request, JSON; null once deleted.'),
  context: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
  history: Type.Union([Type.Array(Type.Object({ role: Type.Enum([...roles]), text: Type.String() })), Type.Null()], {
    description:
      'Earlier turns that it does not repeat, oldest first: those of its session as far as remembered; for an answer, the request too. Null without either.'
  }),
  note: textOrNull('What was said with the decision.'),
  approval_note: textOrNull('What was said with the first of two permits.')
})
/** Either one, depending on the caller. */
export const ReviewReply = Type.Object(statusFields, {
  additionalProperties: true,
  description: 'A reviewer gets the whole review, text included; the key that caused it gets these fields.'
})

export const Adjudicate = Type.Object(
  {
    review_id: ReviewId,
    decision: Type.Enum(['permit', 'forbid']),
    note: Type.Optional(Type.String({ maxLength: 2000 }))
  },
  closed
)

export const DeliveryParams = Type.Object({ delivery_id: Type.String({ pattern: '^whd_[0-9A-Za-z]{1,40}$' }) })
export const DeliveryQuery = Type.Object(
  { ...Page.properties, state: Type.Optional(Type.Enum(['waiting', 'dead'])) },
  closed
)
export const Delivery = Type.Object({
  delivery_id: Type.String({ description: 'The webhook-id of every attempt.' }),
  channel: Type.Enum([...channels], {
    description: 'The receiver: review.webhook, notices.webhook or notices.email of the configuration.'
  }),
  event: Type.Enum([...reviewEvents, keyRotated, ...alertEvents]),
  review_id: textOrNull('The review that it tells of.'),
  state: Type.Enum(['waiting', 'dead']),
  attempts: Type.Integer(),
  last_error: textOrNull('Why the last attempt failed.'),
  created_at: time,
  next_attempt_at: timeOrNull('Null where it was given up.'),
  key_id: textOrNull('The key that it tells of.'),
  alert: textOrNull('The kind of alert that it tells of.')
})

export const ReviewList = Type.Object({ reviews: Type.Array(Review), next_cursor: Type.Optional(Type.String()) })
export const DeliveryList = Type.Object({
  deliveries: Type.Array(Delivery),
  next_cursor: Type.Optional(Type.String())
})

nameSchemas({
  Review,
  ReviewDetail,
  ReviewStatus: ReviewReply,
  ReviewList,
  DecideReviewRequest: Adjudicate,
  Delivery,
  DeliveryList
})
