/**
 * One line of the tables of tokens. To add a kind: a line in the file of its field, with the form that its issuer documents
 * (`form.ts` says how forms are written); the table of `test/detectors/tokens.test.ts` makes one and looks for it.
 */
import type { Check } from '../checks.js'

export interface Options {
  /** 0..1; default 0.95, for a unique prefix. */
  confidence?: number
  /** If it fails the confidence is 0.7: a copy with a mistake, or a made-up value. */
  check?: Check
  /** If it fails it is no token: for forms that other text has too. */
  only?: Check
}

export interface Row extends Options {
  readonly kind: string
  readonly form: string
  readonly issuer: string
  /** Where the issuer describes it. */
  readonly docs: string
}

export type Line = readonly [kind: string, form: string, options?: Options]

export function issuer(name: string, docs: string, ...lines: readonly Line[]): Row[] {
  return lines.map(([kind, form, options]) => ({ kind, form, issuer: name, docs, ...options }))
}

/** `8-4-4-4-12` hexadecimal digits. */
export const uuid = '<8 anyhex>-<4 anyhex>-<4 anyhex>-<4 anyhex>-<12 anyhex>'

/** Letters of both cases and digits, unlike words and file names. */
export const mixed: Check = (token) => /[a-z]/.test(token) && /[A-Z]/.test(token) && /\d/.test(token)
/** A digit, or letters of both cases, unlike words. */
export const hasDigit: Check = (token) => /\d/.test(token) || (/[a-z]/.test(token) && /[A-Z]{2}/.test(token))
