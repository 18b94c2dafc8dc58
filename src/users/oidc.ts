/**
 * Sign-in with a company's own provider: OpenID Connect's authorisation code flow with PKCE (OpenID Connect Core, RFC
 * 7636), by openid-client. The pending state is sealed into a cookie, so that nothing is stored here for people who
 * never return.
 */
import type { Configuration, IDToken } from 'openid-client'
import type { Clock } from '../base/clock.js'
import { Fault } from '../base/errors.js'
import { type OidcSettings, type UserRole, userRoles } from '../base/settings.js'
import { isLoopbackUrl } from '../base/units.js'

/** A person whom the provider has authenticated. */
export interface Vouched {
  issuer: string
  subject: string
  login: string
  role: UserRole
  /** Undefined: the provider says nothing of that. */
  readsSamples: boolean | undefined
}

export interface Oidc {
  /** @param confirm asks the provider to authenticate the person again, even with a session there */
  start(confirm: boolean): Promise<{ url: string; cookie: string }>
  /** @throws Fault `sign_in_failed` for every inconsistency */
  finish(query: string, cookie: string | undefined): Promise<Vouched & { confirmed: boolean }>
}

/** Seals the cookie; see `sealing/seal.ts`. */
export interface Sealer {
  seal(bytes: Uint8Array, belongsTo: string): Buffer
  open(sealed: Uint8Array, belongsTo: string): Buffer
}

interface Pending {
  state: string
  nonce: string
  verifier: string
  confirm: boolean
  startedAt: number
}

const belongsTo = 'oidc'
/** How long a person may take at the provider, ms. */
export const pendingMs = 10 * 60_000

export function createOidc(settings: OidcSettings, seal: Sealer, clock: Clock): Oidc {
  const { issuer, clientId, clientSecret, redirectUri } = settings
  let discovered: Promise<Configuration> | undefined

  /**
   * Loads the library and the provider's metadata when needed, so that a provider that is down does not stop the start.
   */
  async function provider() {
    const openid = await import('openid-client')
    // Plain HTTP would let anyone on the way sign in as anyone.
    const options = isLoopbackUrl(issuer) ? { execute: [openid.allowInsecureRequests] } : {}
    discovered ??= openid
      .discovery(new URL(issuer), clientId, clientSecret, undefined, options)
      .catch((error: unknown) => {
        discovered = undefined
        throw new Fault('sign_in_unavailable', { cause: error })
      })
    return { openid, config: await discovered }
  }

  const saidBy = (claims: IDToken): unknown[] =>
    [claims[settings.roleClaim]].flat().filter((value) => typeof value === 'string')

  function roleOf(claims: IDToken): UserRole | undefined {
    const said = saidBy(claims)
    const fitting = userRoles.filter((role) => settings.roles[role]?.some((value) => said.includes(value)))
    return fitting.at(-1) ?? settings.defaultRole
  }

  return {
    async start(confirm) {
      const { openid, config } = await provider()
      const pending: Pending = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
        confirm,
        startedAt: clock.now()
      }
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        ...(confirm ? { prompt: 'login', max_age: '0' } : {})
      })
      const cookie = seal.seal(Buffer.from(JSON.stringify(pending)), belongsTo).toString('base64url')
      return { url: url.href, cookie }
    },

    async finish(query, cookie) {
      const pending = openPending(cookie)
      const { openid, config } = await provider()
      const claims = await openid
        .authorizationCodeGrant(config, new URL(`${redirectUri}${query}`), {
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          pkceCodeVerifier: pending.verifier,
          idTokenExpected: true,
          // Seconds: an authentication from before the redirect does not count.
          ...(pending.confirm ? { maxAge: Math.ceil((clock.now() - pending.startedAt) / 1000) + 1 } : {})
        })
        .then((tokens) => tokens.claims())
        .catch((error: unknown) => {
          throw (error as { error?: unknown } | null)?.error === 'access_denied'
            ? failed('denied', error)
            : failed('not_accepted', error)
        })
      if (claims === undefined) throw failed('nobody')
      const role = roleOf(claims)
      if (role === undefined) throw failed('no_role')
      const named = [claims['email'], claims['preferred_username'], claims.sub].find((name) => typeof name === 'string')
      return {
        issuer: claims.iss,
        subject: claims.sub,
        login: named as string,
        role,
        readsSamples: settings.samples?.some((value) => saidBy(claims).includes(value)),
        confirmed: pending.confirm
      }
    }
  }

  function openPending(cookie: string | undefined): Pending {
    try {
      const pending: Pending = JSON.parse(seal.open(Buffer.from(cookie ?? '', 'base64url'), belongsTo).toString())
      if (clock.now() < pending.startedAt + pendingMs) return pending
    } catch (error) {
      throw failed('not_begun', error)
    }
    throw failed('too_late')
  }
}

/** Reasons for a failed sign-in; the dashboard has a sentence for each. */
const reasons = {
  denied: 'it was refused or given up at the provider',
  not_accepted: 'the provider’s answer was not accepted',
  nobody: 'the provider vouched for nobody',
  no_role: 'the provider gives this person no role here',
  not_begun: 'this browser did not begin the sign-in',
  too_late: 'the sign-in took too long'
} as const

function failed(reason: keyof typeof reasons, cause?: unknown): Fault {
  const internal = reasons[reason]
  return new Fault('sign_in_failed', {
    message: `The sign-in did not succeed: ${internal}.`,
    fields: { reason },
    internal,
    cause
  })
}
