/** Compiled settings of notices: the alerts, and their receivers. Durations in ms. */
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

/** Thresholds of alerts; undefined: never. */
export interface AlertSettings {
  /** Either is enough. */
  reviewsWaiting: { count: number; ageMs: number } | undefined
  /** Number of dead letters. */
  deadLetters: number | undefined
  /** How long the storage must have failed. */
  storageDownMs: number | undefined
  stops: StopsSettings | undefined
  /** How long before its end a key is reported. */
  keysExpiringMs: number | undefined
  /** Whether judges, the encoder and upstreams are watched. */
  failing: boolean
}

/** When the share of stopped content is unusual: see `notices/stops.ts`. */
export interface StopsSettings {
  windowMs: number
  /** A share above the usual one times this, or below it divided by this, is unusual. */
  factor: number
  /** Least difference from the usual share, 0..1. */
  difference: number
  /** Least evaluations for a meaningful share. */
  least: number
}

export interface NoticeSettings extends AlertSettings {
  webhook: WebhookSettings | undefined
  email: EmailSettings | undefined
  /** Time between checks. */
  everyMs: number
  /** Time until the single reminder. */
  remindMs: number
}
