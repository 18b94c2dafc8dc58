/** What the configuration becomes of what people are told of: which alerts there are, and to whom they go. Durations in ms. */
import type { WebhookSettings } from './people-settings.js'

/** `implicit`: TLS from the first byte; `starttls`: before anything else is said; `none`: to this machine alone. */
export const mailSecurities = ['starttls', 'implicit', 'none'] as const
export type MailSecurity = (typeof mailSecurities)[number]

export interface EmailSettings {
  host: string
  port: number
  tls: MailSecurity
  /** PEM text of a private authority, already read; undefined: the authorities that Node knows. */
  ca: string | undefined
  /** Undefined: the server asks for none. */
  login: { user: string; password: string } | undefined
  from: string
  to: readonly string[]
}

/** When something is an alert; undefined: never. */
export interface AlertSettings {
  /** Either is enough. */
  reviewsWaiting: { count: number; ageMs: number } | undefined
  /** Messages that were given up. */
  deadLetters: number | undefined
  /** How long the storage must have taken nothing. */
  storageDownMs: number | undefined
  stops: StopsSettings | undefined
  /** How long before its end a key is told of. */
  keysExpiringMs: number | undefined
  /** Whether judges, the encoder and upstreams are watched. */
  failing: boolean
}

/** When the share of what is stopped is unusual: see `notices/stops.ts`. */
export interface StopsSettings {
  windowMs: number
  /** So many times the usual share, or the usual share divided by it. */
  factor: number
  /** By so much at least, of 1. */
  difference: number
  /** With fewer evaluations a share says nothing. */
  least: number
}

export interface NoticeSettings extends AlertSettings {
  webhook: WebhookSettings | undefined
  email: EmailSettings | undefined
  /** How often is looked. */
  everyMs: number
  /** After how long people are reminded, once. */
  remindMs: number
}
