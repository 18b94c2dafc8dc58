/** `GET /api/v1/status`: version and age of this process, its policies, and every setting that weakens the guard. */
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type SampleKind, sampleKinds } from '../base/settings.js'
import { isoTime } from '../base/units.js'
import { nameSchemas } from '../edge/doc-names.js'
import { managed } from '../edge/facts.js'
import { errorResponses, managedErrors, NoQuery } from '../edge/schemas.js'
import type { ProcessReport } from '../observe/presence.js'

const time = Type.String({ format: 'date-time' })
const policies = Type.Array(Type.Object({ name: Type.String(), version: Type.String() }))
const Process = Type.Object({
  node: Type.String(),
  worker: Type.Union([Type.Integer(), Type.Null()], { description: 'Its number on the node; null where it is alone.' }),
  pid: Type.Integer(),
  version: Type.String(),
  runtime: Type.String(),
  started_at: time,
  seen_at: time,
  state: Type.Enum(['serving', 'silent'], {
    description: 'silent: no report for 35 s; shown for an hour. A process that ends in order is removed.'
  }),
  answers: Type.Boolean({ description: 'Whether it is the one that answers.' }),
  configuration: Type.Object({ loaded_at: time, age_seconds: Type.Number() }),
  policies,
  weakenings: Type.Array(Type.String())
})
const Status = Type.Object({
  version: Type.String({ description: 'Of the answering process, like the uptime and the configuration.' }),
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
    dropped: Type.Number({
      description: 'Rows that any process lost because the storage was down for too long; must stay 0.'
    })
  }),
  samples: Type.Enum([...sampleKinds], { description: 'Of what texts are kept as samples.' }),
  policies,
  weakenings: Type.Array(Type.String(), {
    description: 'Settings in force in any process that let more through than the default does.'
  }),
  terms_url: Type.Union([Type.String(), Type.Null()], {
    description: 'Address of the terms of use that creating a key accepts; null without terms.'
  }),
  exceptions: Type.Integer({ description: 'Accepted exceptions that hold now.' }),
  processes: Type.Array(Process, {
    description: 'Every process of every node, by its own report of the last ten seconds.'
  })
})
nameSchemas({ Process, Status })

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
  samples: SampleKind
  policies: readonly { name: string; version: string }[]
  weakenings: readonly string[]
  terms_url: string | null
  exceptions: number
  processes: readonly ProcessReport[]
}

export function registerStatus(app: FastifyInstance, report: () => Promise<StatusReport>): void {
  app.route({
    method: 'GET',
    url: '/api/v1/status',
    config: { access: managed('safety:metrics') },
    schema: {
      operationId: 'getStatus',
      summary: 'Version, age of the configuration, policies and weakening settings in force',
      tags: ['operations'],
      querystring: NoQuery,
      response: { 200: Status, ...errorResponses('validation_error', ...managedErrors) }
    },
    async handler() {
      const { startedAt, loadedAt, now, demo, processes, weakenings, audit, ...rest } = await report()
      const serving = processes.filter(({ isSilent }) => !isSilent)
      return {
        ...rest,
        weakenings: [...new Set([...weakenings, ...serving.flatMap(({ weakenings }) => weakenings)])],
        audit: {
          ...audit,
          dropped: serving.reduce((sum, { isSelf, auditDropped }) => sum + (isSelf ? 0 : auditDropped), audit.dropped)
        },
        processes: processes.map((process) => processRecord(process, now)),
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

function processRecord(process: ProcessReport, now: number) {
  const { node, worker, pid, version, runtime, startedAt, seenAt, isSilent, isSelf, loadedAt, ...rest } = process
  return {
    node,
    worker,
    pid,
    version,
    runtime,
    started_at: isoTime(startedAt),
    seen_at: isoTime(seenAt),
    state: isSilent ? 'silent' : 'serving',
    answers: isSelf,
    configuration: { loaded_at: isoTime(loadedAt), age_seconds: Math.round((now - loadedAt) / 1000) },
    policies: rest.policies,
    weakenings: rest.weakenings
  }
}
