/** The API of an account's people, for its administrators. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { named } from '../edge/doc-names.js'
import { callerOf, managed } from '../edge/facts.js'
import { errorResponses, managedErrors, NoQuery } from '../edge/schemas.js'
import type { UserService } from '../users/user-service.js'
import {
  ChangeUser,
  Invitation,
  InvitationParams,
  Invite,
  PendingInvitation,
  User,
  UserParams
} from './auth-schemas.js'
import { json, listOf, objectText, sendTexts } from './pages.js'

const path = '/api/v1/auth/users'
const invitationsPath = '/api/v1/auth/invitations'
const tags = ['sign-in']
const change = { access: managed('*', { confirmed: true }) }

/** In the fragment, which browsers do not send, so that no log contains it. */
export function invitationPath(token: string): string {
  return `/dashboard/#/welcome?token=${token}`
}

export function registerUsers(app: FastifyInstance, users: UserService): void {
  app.route({
    method: 'GET',
    url: path,
    config: { access: managed('*') },
    schema: {
      operationId: 'listUsers',
      summary: 'List the people of the account',
      tags,
      querystring: NoQuery,
      response: {
        200: named('UserList', Type.Object({ users: Type.Array(User) })),
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    handler(request, reply) {
      const all = listOf(async (page) => {
        const { users: rows, next_cursor: next } = await users.list(callerOf(request), page)
        return { rows, next }
      })
      return sendTexts(reply.type(json), objectText({}, 'users', all))
    }
  })

  app.route<{ Body: Static<typeof Invite> }>({
    method: 'POST',
    url: invitationsPath,
    config: change,
    schema: {
      operationId: 'createInvitation',
      summary: 'Invite someone by a link that works once, for 24 hours',
      tags,
      querystring: NoQuery,
      body: Invite,
      response: { 201: Invitation, ...errorResponses('validation_error', ...managedErrors, 'confirmation_required') }
    },
    async handler(request, reply) {
      const invitation = await users.invite(callerOf(request), request.body.role, request.body.reads_samples)
      return reply.code(201).send({ ...invitation, path: invitationPath(invitation.token) })
    }
  })

  app.route({
    method: 'GET',
    url: invitationsPath,
    config: { access: managed('*') },
    schema: {
      operationId: 'listInvitations',
      summary: 'List the invitations that nobody has used yet',
      tags,
      querystring: NoQuery,
      response: {
        200: named('InvitationList', Type.Object({ invitations: Type.Array(PendingInvitation) })),
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    handler: async (request) => ({ invitations: await users.invitations(callerOf(request)) })
  })

  app.route<{ Params: Static<typeof InvitationParams> }>({
    method: 'DELETE',
    url: `${invitationsPath}/:invitation_id`,
    config: { access: managed('*') },
    schema: {
      operationId: 'withdrawInvitation',
      summary: 'Withdraw an invitation: its link works no more',
      tags,
      params: InvitationParams,
      querystring: NoQuery,
      response: { 204: Type.Null(), ...errorResponses('validation_error', ...managedErrors, 'not_found') }
    },
    async handler(request, reply) {
      await users.withdraw(callerOf(request), request.params.invitation_id)
      return reply.code(204).send()
    }
  })

  app.route<{ Params: Static<typeof UserParams>; Body: Static<typeof ChangeUser> }>({
    method: 'PATCH',
    url: `${path}/:user_id`,
    config: change,
    schema: {
      operationId: 'updateUser',
      summary: 'Change someone’s role, or disable them: then they are signed out everywhere',
      tags,
      params: UserParams,
      querystring: NoQuery,
      body: ChangeUser,
      response: {
        200: User,
        ...errorResponses('validation_error', ...managedErrors, 'confirmation_required', 'not_found', 'last_admin')
      }
    },
    handler: (request) => users.change(callerOf(request), request.params.user_id, request.body)
  })
}
