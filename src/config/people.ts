/** Compiles the sections about people: reviews, the audit, signing in (`people-schema.ts` has their schemas). */
import type { Settings } from '../base/settings.js'
import { parseDuration, parseSize } from '../base/units.js'
import type { Fail } from './problem.js'
import type { FileConfig } from './schema.js'

const ms = (text: string) => parseDuration(text) as number

/**
 * @param demo whether the demo backend answers: a newcomer with a single key should see the whole course of a review
 */
export function compileReview({ review = {} }: FileConfig, demo: boolean): Settings['review'] {
  const { webhook } = review
  return {
    expiryMs: ms(review.expiry ?? '24h'),
    allowOwn: review.allow_own ?? demo,
    allowOwnByDemo: review.allow_own === undefined && demo,
    twoPerson: review.two_person ?? false,
    claimMs: ms(review.claim ?? '10m'),
    holdMs: ms(review.hold ?? '0s'),
    retentionMs: ms(review.retention ?? '30d'),
    maxOpen: {
      key: review.max_open_per_key ?? 500,
      account: review.max_open_per_account ?? 5_000,
      total: review.max_open ?? 10_000,
      bytes: parseSize(review.max_open_bytes ?? '1GiB') as number
    },
    webhook: webhook === undefined ? undefined : { ...webhook, format: webhook.format ?? 'json' }
  }
}

export function compileAudit({ audit = {} }: FileConfig): Settings['audit'] {
  return {
    required: audit.required ?? false,
    retentionMs: ms(audit.retention ?? '365d'),
    decisions: audit.decisions ?? 'all'
  }
}

export function compileSamples({ samples = {} }: FileConfig): Settings['samples'] {
  return {
    what: samples.what ?? 'off',
    share: samples.share ?? 0.01,
    rows: samples.rows ?? 10_000,
    bytes: parseSize(samples.bytes ?? '256MiB') as number,
    retentionMs: ms(samples.retention ?? '30d')
  }
}

/** @param given overrides the file */
export function compileSignIn(
  { sign_in: signIn = {} }: FileConfig,
  given: string | undefined,
  fail: Fail
): Settings['signIn'] {
  const { oidc, public_url: written } = signIn
  const publicUrl = given ?? written
  if (oidc !== undefined && publicUrl === undefined) {
    fail(['sign_in', 'public_url'], 'is missing, and oidc needs it: providers send the browser back to a fixed address')
  }
  return {
    idleMs: ms(signIn.idle ?? '30m'),
    absoluteMs: ms(signIn.absolute ?? '12h'),
    confirmMs: ms(signIn.confirm ?? '10m'),
    publicUrl: publicUrl?.replace(/\/$/, ''),
    oidc:
      oidc === undefined
        ? undefined
        : {
            issuer: oidc.issuer,
            clientId: oidc.client_id,
            clientSecret: oidc.client_secret === '' ? undefined : oidc.client_secret,
            redirectUri: `${(publicUrl ?? '').replace(/\/$/, '')}/api/v1/auth/oidc/callback`,
            scope: oidc.scope ?? 'openid email profile',
            roleClaim: oidc.role_claim ?? 'groups',
            roles: oidc.roles ?? {},
            samples: oidc.samples,
            defaultRole: oidc.default_role
          }
  }
}
