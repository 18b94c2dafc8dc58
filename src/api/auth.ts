/** Signing in to the dashboard: sessions, invitations, people. A session stands in for a key on the management API only. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { Fault } from '../base/errors.js'
import { isoTime } from '../base/units.js'
import { cookiesOf, readCookie, writeCookie } from '../edge/cookies.js'
import { named } from '../edge/doc-names.js'
import { crossSiteFault } from '../edge/same-site.js'
import { errorResponses, NoQuery } from '../edge/schemas.js'
import { scopesOf } from '../users/roles.js'
import type { SignedIn } from '../users/user.js'
import { Accept, ChangePassword, Confirm, SessionState, SignIn, SignOut } from './auth-schemas.js'
import { type AuthDeps, registerOidc } from './oidc.js'

const path = '/api/v1/auth'
const tags = ['sign-in']
const open = { access: { posture: 'public' } } as const
const person = { access: { posture: 'person' } } as const
/** How long a browser is recognised as one in which someone signed in. */
const deviceSeconds = 365 * 86_400

export function registerAuth(app: FastifyInstance, deps: AuthDeps): void {
  const { sessions, users, oidc } = deps

  /** Refuses requests from other sites and in the clear, before a secret is read. */
  function requireSafe(request: FastifyRequest): void {
    const passage = deps.passage(request.raw)
    const fault = passage instanceof Fault ? passage : crossSiteFault(request.raw)
    if (fault !== undefined) throw fault
  }
  const stateOf = (signedIn: SignedIn) => {
    const { endsAt, confirmedUntil } = sessions.limitsOf(signedIn)
    const { user } = signedIn
    return {
      signed_in: true,
      user: {
        user_id: user.userId,
        login: user.login,
        role: user.role,
        signs_in_with: user.passwordHash === null ? 'oidc' : 'password'
      },
      scopes: [...scopesOf(user)],
      ends_at: isoTime(endsAt),
      confirmed_until: isoTime(confirmedUntil)
    }
  }
  async function signedInBy(token: string): Promise<SignedIn> {
    const signedIn = await sessions.find(token)
    if (signedIn === undefined) throw new Fault('sign_in_failed')
    return signedIn
  }
  const cookies = (request: FastifyRequest) => cookiesOf(deps.passage(request.raw))
  const keep = (request: FastifyRequest, reply: FastifyReply, token: string) =>
    reply.header('set-cookie', writeCookie(cookies(request).session, token))
  const attemptOf = (request: FastifyRequest) => ({
    address: request.sluicegate.address,
    device: readCookie(request.headers.cookie, cookies(request).device)
  })

  app.route({
    method: 'GET',
    url: `${path}/session`,
    config: open,
    schema: {
      operationId: 'getSession',
      summary: 'Who is signed in, and how one can sign in',
      tags,
      querystring: NoQuery,
      response: { 200: SessionState, ...errorResponses('validation_error', 'cross_site_request') }
    },
    async handler(request) {
      const passage = deps.passage(request.raw)
      if (passage instanceof Fault)
        return { signed_in: false, ways: { password: false, oidc: false }, why: passage.message }
      const how = { ways: { password: true, oidc: oidc !== undefined }, plain_http: passage === 'plain' }
      const token = readCookie(request.headers.cookie, cookiesOf(passage).session)
      if (token === undefined) return { signed_in: false, ...how }
      const fault = crossSiteFault(request.raw)
      if (fault !== undefined) throw fault
      const signedIn = await sessions.find(token)
      return signedIn === undefined ? { signed_in: false, ...how } : { ...stateOf(signedIn), ...how }
    }
  })

  app.route<{ Body: Static<typeof SignIn> }>({
    method: 'POST',
    url: `${path}/sign-in`,
    config: open,
    schema: {
      operationId: 'signIn',
      summary: 'Sign in with a password',
      tags,
      querystring: NoQuery,
      body: SignIn,
      response: { 200: SessionState, ...errorResponses(...signInErrors) }
    },
    async handler(request, reply) {
      requireSafe(request)
      const { token, device } = await sessions.signIn({ ...request.body, ...attemptOf(request) })
      keep(request, reply, token)
      reply.header('set-cookie', writeCookie(cookies(request).device, device, { maxAgeSeconds: deviceSeconds }))
      return stateOf(await signedInBy(token))
    }
  })

  app.route<{ Body: Static<typeof Accept> }>({
    method: 'POST',
    url: `${path}/accept`,
    config: open,
    schema: {
      operationId: 'acceptInvitation',
      summary: 'Use an invitation: choose a login and a password, and be signed in',
      tags,
      querystring: NoQuery,
      body: Accept,
      response: { 201: SessionState, ...errorResponses(...signInErrors, 'invitation_invalid', 'login_taken') }
    },
    async handler(request, reply) {
      requireSafe(request)
      const { token } = await sessions.begin(await users.accept(request.body), 'invitation')
      keep(request, reply, token)
      return reply.code(201).send(stateOf(await signedInBy(token)))
    }
  })

  app.route<{ Body: Static<typeof Confirm> }>({
    method: 'POST',
    url: `${path}/confirm`,
    config: person,
    schema: {
      operationId: 'confirmSignIn',
      summary: 'Prove again who you are, for what needs a fresh proof',
      tags,
      querystring: NoQuery,
      body: Confirm,
      response: { 200: SessionState, ...errorResponses(...signInErrors, 'sign_in_required') }
    },
    async handler(request) {
      await sessions.confirm(signedInOf(request), request.body.password, attemptOf(request))
      return stateOf(await signedInBy(readCookie(request.headers.cookie, cookies(request).session) ?? ''))
    }
  })

  app.route<{ Body: Static<typeof ChangePassword> }>({
    method: 'POST',
    url: `${path}/password`,
    config: person,
    schema: {
      operationId: 'changePassword',
      summary: 'Change your password; every other session of yours ends',
      tags,
      querystring: NoQuery,
      body: ChangePassword,
      response: { 204: Type.Null(), ...errorResponses(...signInErrors, 'sign_in_required') }
    },
    async handler(request, reply) {
      const { current, password } = request.body
      const signedIn = signedInOf(request)
      await sessions.confirm(signedIn, current, attemptOf(request))
      await users.changePassword(signedIn, password)
      return reply.code(204).send()
    }
  })

  app.route<{ Body: Static<typeof SignOut> }>({
    method: 'POST',
    url: `${path}/sign-out`,
    config: person,
    schema: {
      operationId: 'signOut',
      summary: 'Sign out here, or everywhere',
      tags,
      querystring: NoQuery,
      body: SignOut,
      response: {
        200: named('SignedOut', Type.Object({ ended: Type.Integer({ description: 'Sessions that ended.' }) })),
        ...errorResponses('validation_error', 'sign_in_required', 'cross_site_request')
      }
    },
    async handler(request, reply) {
      reply.header('set-cookie', writeCookie(cookies(request).session, '', { maxAgeSeconds: 0 }))
      return sessions.signOut(signedInOf(request), request.body.everywhere === true)
    }
  })

  if (oidc !== undefined) registerOidc(app, { ...deps, oidc }, keep)
}

/** Errors of routes that check a password. */
const signInErrors = [
  'validation_error',
  'sign_in_failed',
  'cross_site_request',
  'secure_transport_required',
  'rate_limit_exceeded',
  'storage_unavailable'
] as const

/** The signed-in person, on a route for people. */
function signedInOf(request: FastifyRequest): SignedIn {
  const { signedIn } = request.sluicegate
  if (signedIn === undefined) throw new Error('the route is for people but admits none')
  return signedIn
}
