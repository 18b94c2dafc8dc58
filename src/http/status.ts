/** `GET /api/v1/status`: what runs here, since when, by which policy, and every setting in force that weakens the guard. */
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { isoTime } from '../units.js'
import { managed } from './facts.js'
import { errorResponses, managedErrors, NoQuery } from './schemas.js'

const time = Type.String({ format: 'date-time' })
const Status = Type.Object({
  version: Type.String(),
  node: Type.String({ description: 'The name of the process in the audit.' }),
  runtime: Type.String({ examples: ['v24.11.0'] }),
  started_at: time,
  uptime_seconds: Type.Number(),
  configuration: Type.Object({
    loaded_at: time,
    age_seconds: Type.Number(),
    demo: Type.Boolean({ description: 'Whether the built-in demo backend answers chats.' })
  }),
  storage: Type.Object({ kind: Type.String({ examples: ['sqlite'] }), available: Type.Boolean() }),
  audit: Type.Object({
    required: Type.Boolean(),
    dropped: Type.Number({ description: 'Rows lost because the storage was down for too long; must stay 0.' })
  }),
  policies: Type.Array(Type.Object({ name: Type.String(), version: Type.String() })),
  weakenings: Type.Array(Type.String(), {
    description: 'Settings in force that let more through than the default does.'
  }),
  exceptions: Type.Integer({ description: 'Accepted exceptions that hold now.' })
})
export type StatusReport = {
  version: string
  node: string
  runtime: string
  startedAt: number
  loadedAt: number
  now: number
  demo: boolean
  storage: { kind: string; available: boolean }
  audit: { required: boolean; dropped: number }
  policies: readonly { name: string; version: string }[]
  weakenings: readonly string[]
  exceptions: number
}

export function registerStatus(app: FastifyInstance, report: () => Promise<StatusReport>): void {
  app.route({
    method: 'GET',
    url: '/api/v1/status',
    config: { access: managed('safety:metrics') },
    schema: {
      summary: 'Version, age of the configuration, policies and weakening settings in force',
      tags: ['operations'],
      querystring: NoQuery,
      response: { 200: Status, ...errorResponses('validation_error', ...managedErrors) }
    },
    async handler() {
      const { startedAt, loadedAt, now, demo, ...rest } = await report()
      return {
        ...rest,
        started_at: isoTime(startedAt),
        uptime_seconds: Math.round((now - startedAt) / 1000),
        configuration: {
          loaded_at: isoTime(loadedAt),
          age_seconds: Math.round((now - loadedAt) / 1000),
          demo
        }
      }
    }
  })
}
