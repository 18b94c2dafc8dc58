/**
 * Sluicegate as a library: a Fastify plugin that registers the whole gateway under a prefix of a host application.
 *
 * ```ts
 * import Fastify from 'fastify'
 * import sluicegate from 'sluicegate'
 *
 * const app = Fastify()
 * await app.register(sluicegate, { prefix: '/guard', config: 'gateway.yaml' })
 * await app.listen({ port: 3000 })
 * ```
 */
import type { FastifyPluginAsync } from 'fastify'
import { type LibraryOptions, openForLibrary } from './main/library.js'

export type { ChatPart, ChatReply, ChatRequest, Json, JsonObject, Role } from './base/chat.js'
export type { Clock } from './base/clock.js'
export { type ErrorCode, errorTable, Fault } from './base/errors.js'
export type { Settings } from './base/settings.js'
export { ConfigError } from './config/problem.js'
export type { Detector, Finding } from './detectors/detector.js'
export type { Dialect } from './dialects/dialect.js'
export type { LibraryOptions } from './main/library.js'
export type { Category, Decision, Detection, Evaluation, Evaluator } from './policy/evaluation.js'

/** Options of the plugin; `prefix` is Fastify's own. */
export interface SluicegateOptions extends LibraryOptions {}

/**
 * Registers the API, the guarded chat routes and their documents in a scope of their own: the host's parsers, validators,
 * hooks and error handlers are neither used nor changed. Closes what it opened when the host closes.
 * @throws ConfigError where the configuration is not valid
 */
const sluicegate: FastifyPluginAsync<SluicegateOptions> = async (app, options) => {
  const { gateway, close } = await openForLibrary(options)
  app.addHook('onClose', close)
  await gateway.register(app)
}

export default sluicegate
