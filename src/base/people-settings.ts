/** Compiled settings of the sections about people: reviews and signing in. Durations in ms, sizes in bytes. */

/** Bounds of the review queue: the share of a key and its rotations, that of an account, the total, its bytes. */
export const reviewBounds = ['key', 'account', 'total', 'bytes'] as const
export type ReviewBound = (typeof reviewBounds)[number]
/** How many reviews may be pending and unexpired at once; of `bytes`, how much of their sealed texts. */
export type ReviewBounds = Readonly<Record<ReviewBound, number>>

export interface ReviewSettings {
  /** How long a review waits, and its permit holds, from its creation; ms. */
  expiryMs: number
  /** Whether a key may decide what it caused itself: for demonstrations. */
  allowOwn: boolean
  /** Whether only the demo backend allows it. */
  allowOwnByDemo?: boolean
  /** Whether a permit takes two different people. */
  twoPerson: boolean
  /** How long a claim keeps others from deciding, ms. */
  claimMs: number
  /** How long a diverted request waits for its decision before it is answered, ms; 0: not at all. */
  holdMs: number
  /** How long texts are kept after the decision or the expiry, ms. */
  retentionMs: number
  /** Most reviews that may wait for a decision. */
  maxOpen: ReviewBounds
  webhook: WebhookSettings | undefined
}

export const sampleKinds = ['off', 'stopped', 'share'] as const
/** Which texts are kept: none, stopped ones, or a share of all. */
export type SampleKind = (typeof sampleKinds)[number]

export interface SampleSettings {
  what: SampleKind
  /** The share of everything, 0..1, where `what` is `share`. */
  share: number
  /** How many are kept for each account. */
  rows: number
  /** How much of their sealed texts. */
  bytes: number
  /** How long each is kept, ms. */
  retentionMs: number
}

export const webhookFormats = ['json', 'slack'] as const
export type WebhookFormat = (typeof webhookFormats)[number]

export interface WebhookSettings {
  url: string
  /** Signs what is sent. `whsec_` and base64, or any text. */
  secret: string
  format: WebhookFormat
}

export const userRoles = ['viewer', 'reviewer', 'admin'] as const
/** Roles of people who sign in, from the least to the most rights. */
export type UserRole = (typeof userRoles)[number]

export interface SignInSettings {
  /** Idle time after which a session ends, ms. */
  idleMs: number
  /** Longest session, ms. */
  absoluteMs: number
  /** How long a confirmation of identity stays fresh, ms. */
  confirmMs: number
  /** The public address; undefined: the listener's own. */
  publicUrl: string | undefined
  oidc: OidcSettings | undefined
}

export interface OidcSettings {
  /** Values of the claim that let people read samples; undefined: the provider says nothing of that. */
  samples: readonly string[] | undefined
  issuer: string
  clientId: string
  clientSecret: string | undefined
  /** Where the provider sends the browser back to: our own callback, as the provider knows it. */
  redirectUri: string
  scope: string
  /** The claim with a person's roles, a text or a list of texts. */
  roleClaim: string
  /** Its values for each role; the highest match counts. */
  roles: Readonly<Partial<Record<UserRole, readonly string[]>>>
  /** Role without a match; undefined: such people may not sign in. */
  defaultRole: UserRole | undefined
}
