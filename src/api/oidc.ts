/** Sign-in with an OpenID Connect provider: the redirect to it and the callback. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Fault } from '../base/errors.js'
import { cookiesOf, readCookie, writeCookie } from '../edge/cookies.js'
import { header } from '../edge/doc-headers.js'
import type { Passage } from '../edge/same-site.js'
import { errorResponses } from '../edge/schemas.js'
import type { Oidc } from '../users/oidc.js'
import type { SessionService } from '../users/session-service.js'
import type { UserService } from '../users/user-service.js'

/** Dependencies of all ways to sign in. */
export interface AuthDeps {
  sessions: SessionService
  users: UserService
  oidc: Oidc | undefined
  /** The account of the provider's people. */
  account: string
  /** How the sign-in was sent: safely, in the clear, or a refusal. */
  passage(request: IncomingMessage): Passage
}

const path = '/api/v1/auth/oidc'
const tags = ['sign-in']
const open = { access: { posture: 'public' } } as const
const dashboard = '/dashboard/'

/** @param keep gives the browser the cookie of its session */
export function registerOidc(
  app: FastifyInstance,
  { oidc, users, sessions, account, passage }: Omit<AuthDeps, 'oidc'> & { oidc: Oidc },
  keep: (request: FastifyRequest, reply: FastifyReply, token: string) => unknown
): void {
  /**
   * A refused browser returns to its page with a reason from a closed set: if the link carried the full text, anybody
   * could make the page show any text. Programs get the fault.
   */
  async function shown(request: FastifyRequest, reply: FastifyReply, work: () => Promise<unknown>): Promise<unknown> {
    try {
      const way = passage(request.raw)
      if (way instanceof Fault) throw way
      return await work()
    } catch (error) {
      const isBrowser = (request.headers.accept ?? '').includes('text/html')
      if (!isBrowser || !(error instanceof Fault)) throw error
      const reason = typeof error.fields['reason'] === 'string' ? error.fields['reason'] : error.code
      forget(request, reply)
      return reply.redirect(`${dashboard}#/sign-in?refused=${reason}`, 303)
    }
  }
  const cookie = (request: FastifyRequest) => cookiesOf(passage(request.raw)).oidc
  const forget = (request: FastifyRequest, reply: FastifyReply) =>
    reply.header('set-cookie', writeCookie(cookie(request), '', { maxAgeSeconds: 0, sameSite: 'Lax' }))

  app.route<{ Querystring: { confirm?: '1' } }>({
    method: 'GET',
    url: `${path}/start`,
    config: open,
    schema: {
      operationId: 'startProviderSignIn',
      summary: 'Sign in with the company’s provider: redirects there',
      tags,
      querystring: Type.Object({ confirm: Type.Optional(Type.Literal('1')) }, { additionalProperties: false }),
      response: {
        303: { description: 'The provider’s page', headers: { location: header('Location') } },
        ...errorResponses('validation_error', 'secure_transport_required', 'sign_in_unavailable')
      }
    },
    handler: (request, reply) =>
      shown(request, reply, async () => {
        const { url, cookie: pending } = await oidc.start(request.query.confirm === '1')
        // Lax, since the provider's site begins the navigation back.
        reply.header('set-cookie', writeCookie(cookie(request), pending, { maxAgeSeconds: 600, sameSite: 'Lax' }))
        return reply.redirect(url, 303)
      })
  })

  app.route({
    method: 'GET',
    url: `${path}/callback`,
    config: open,
    schema: {
      operationId: 'finishProviderSignIn',
      summary: 'The way back from the provider: redirects to the dashboard, which says why where it was refused',
      tags,
      querystring: Type.Object({}, { additionalProperties: true }),
      response: {
        303: { description: 'The dashboard', headers: { location: header('Location') } },
        ...errorResponses('sign_in_failed', 'secure_transport_required', 'sign_in_unavailable', 'login_taken')
      }
    },
    handler: (request, reply) =>
      shown(request, reply, async () => {
        const target = request.raw.url ?? ''
        const query = target.slice(target.indexOf('?'))
        const vouched = await oidc.finish(query, readCookie(request.headers.cookie, cookie(request)))
        const user = await users.vouched({ account, ...vouched })
        if (user === undefined) throw new Fault('sign_in_failed', { fields: { reason: 'disabled' } })
        const { token } = await sessions.begin(user, 'oidc')
        keep(request, reply, token)
        forget(request, reply)
        return reply.redirect(dashboard, 303)
      })
  })
}
