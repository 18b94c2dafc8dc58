/** `GET /api/v1/alerts`: the present alerts, and whether anybody is notified of them. */
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { NoticeSettings } from '../base/settings.js'
import { nameSchemas } from '../edge/doc-names.js'
import { managed } from '../edge/facts.js'
import { errorResponses, managedErrors, NoQuery } from '../edge/schemas.js'
import { alertKinds } from '../notices/kinds.js'
import type { Watch } from '../notices/watch.js'

const time = Type.String({ format: 'date-time' })
const count = Type.Optional(Type.Integer())
const share = Type.Optional(Type.Number({ minimum: 0, maximum: 1 }))
const Alert = Type.Object({
  alert_id: Type.String({ examples: ['alt_01jd8x1r5v9y2k3m4n5p6q7r8s'] }),
  kind: Type.Enum([...alertKinds]),
  subject: Type.Union([Type.String(), Type.Null()], {
    description:
      'The subject: name of a judge, an upstream or a node, or id of a key; null for kinds with a single subject.'
  }),
  since: time,
  summary: Type.String({ description: 'The sentence that people get, with names, counts and times.' }),
  page: Type.String({ description: 'The page of the dashboard to go to.', examples: ['reviews'] }),
  facts: Type.Object(
    {
      count: Type.Optional(Type.Integer({ description: 'How many wait, were given up, were lost, or failed.' })),
      of: count,
      oldest_age_seconds: count,
      share,
      usual_share: share,
      window_seconds: count,
      expires_at: Type.Optional(time),
      prefix: Type.Optional(Type.String({ description: 'What is shown of a key.' })),
      nodes: Type.Optional(Type.Array(Type.String(), { description: 'Where it was seen.' }))
    },
    { description: 'What the sentence is made of; each kind has its own.' }
  )
})
const AlertList = Type.Object({
  alerts: Type.Array(Alert, { description: 'In force, the oldest first.' }),
  notices: Type.Object(
    { webhook: Type.Boolean(), email: Type.Boolean() },
    { description: 'Which ways to tell people are configured.' }
  )
})
nameSchemas({ Alert, AlertList })

export function registerAlerts(
  app: FastifyInstance,
  alerts: Pick<Watch, 'alerts'>,
  { webhook, email }: Pick<NoticeSettings, 'webhook' | 'email'>
): void {
  app.route({
    method: 'GET',
    url: '/api/v1/alerts',
    config: { access: managed('safety:metrics') },
    schema: {
      operationId: 'listAlerts',
      summary: 'Alerts in force',
      description:
        'Reviews that wait too long, undelivered messages, a failing storage, an unusual share of stops, expiring keys, and failing judges, encoder and upstreams. Covers every process of every node; the failing storage is reported by the answering process only.',
      tags: ['operations'],
      querystring: NoQuery,
      response: { 200: AlertList, ...errorResponses('validation_error', ...managedErrors) }
    },
    handler: async () => ({
      alerts: await alerts.alerts(),
      notices: { webhook: webhook !== undefined, email: email !== undefined }
    })
  })
}
