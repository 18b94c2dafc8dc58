/** The key management API (docs/api.md, section 3). The service decides what a caller may do with which key. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { nameSchemas } from '../edge/doc-names.js'
import { callerOf, managed } from '../edge/facts.js'
import {
  CreateKey,
  errorResponses,
  KeyPage,
  KeyParams,
  KeyRecord,
  managedErrors,
  NoQuery,
  OfLineage
} from '../edge/schemas.js'
import type { KeyService } from '../identity/key-service.js'
import { json, listOf, objectText, sendTexts } from './pages.js'

const path = '/api/v1/ssaas/keys'
/** No scope here: a key without `*` may still look after itself, so the service decides. */
const access = managed()
/** Both reveal a key: they need a confirmed identity, so that an unlocked desk is not enough. */
const handingOut = managed(undefined, { confirmed: true })

const fullKey = Type.String({ description: 'The full key, shown once.' })
const KeyList = Type.Object({ keys: Type.Array(KeyRecord), next_cursor: Type.Optional(Type.String()) })
const CreatedKey = Type.Object({ key: fullKey, record: KeyRecord })
const RotatedKey = Type.Object({ key: fullKey, record: KeyRecord, previous: KeyRecord })
const RevokedKeys = Type.Object({ keys: Type.Array(KeyRecord) })
nameSchemas({ KeyList, CreatedKey, RotatedKey, RevokedKeys })

export function registerKeys(app: FastifyInstance, keys: KeyService): void {
  app.route<{ Querystring: Static<typeof KeyPage> }>({
    method: 'GET',
    url: path,
    config: { access },
    schema: {
      operationId: 'listKeys',
      summary: 'List the account’s keys',
      tags: ['keys'],
      querystring: KeyPage,
      response: {
        200: KeyList,
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    async handler(request, reply) {
      const caller = callerOf(request)
      const { limit, cursor, lineage } = request.query
      if (limit !== undefined) return keys.list(caller, { limit, cursor, lineage })
      const all = listOf(async (page) => {
        const { keys: rows, next_cursor: next } = await keys.list(caller, { ...page, lineage })
        return { rows, next }
      }, cursor)
      return sendTexts(reply.type(json), objectText({}, 'keys', all))
    }
  })

  app.route<{ Body: Static<typeof CreateKey> }>({
    method: 'POST',
    url: path,
    config: { access: { ...handingOut, scope: '*' } },
    schema: {
      operationId: 'createKey',
      summary: 'Create a key',
      tags: ['keys'],
      querystring: NoQuery,
      body: CreateKey,
      response: {
        201: CreatedKey,
        ...errorResponses('validation_error', ...managedErrors, 'confirmation_required')
      }
    },
    async handler(request, reply) {
      return reply.code(201).send(await keys.create(callerOf(request), request.body))
    }
  })

  app.route<{ Params: Static<typeof KeyParams> }>({
    method: 'DELETE',
    url: `${path}/:key_id`,
    config: { access },
    schema: {
      operationId: 'revokeKey',
      summary: 'Revoke a key at once',
      tags: ['keys'],
      params: KeyParams,
      querystring: NoQuery,
      response: { 200: KeyRecord, ...errorResponses(...managedErrors, 'not_found') }
    },
    handler: (request) => keys.revoke(callerOf(request), request.params.key_id)
  })

  app.route<{ Querystring: Static<typeof OfLineage> }>({
    method: 'DELETE',
    url: path,
    config: { access: managed('*') },
    schema: {
      operationId: 'revokeKeyLineage',
      summary: 'Revoke every key of a chain of rotations at once, whoever rotated it',
      tags: ['keys'],
      querystring: OfLineage,
      response: {
        200: RevokedKeys,
        ...errorResponses('validation_error', ...managedErrors, 'not_found')
      }
    },
    handler: (request) => keys.revokeLineage(callerOf(request), request.query.lineage)
  })

  app.route<{ Params: Static<typeof KeyParams> }>({
    method: 'POST',
    url: `${path}/:key_id/rotate`,
    config: { access: handingOut },
    schema: {
      operationId: 'rotateKey',
      summary: 'Rotate a key; the old one works for 5 more minutes',
      tags: ['keys'],
      params: KeyParams,
      querystring: NoQuery,
      response: {
        201: RotatedKey,
        ...errorResponses(
          ...managedErrors,
          'confirmation_required',
          'not_found',
          'key_retiring',
          'key_revoked',
          'key_expired'
        )
      }
    },
    async handler(request, reply) {
      return reply.code(201).send(await keys.rotate(callerOf(request), request.params.key_id))
    }
  })
}
