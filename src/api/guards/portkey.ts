/**
 * Portkey's webhook guardrail. Portkey treats an error or a late answer as a permit, so unreadable requests are
 * answered as not permitted. `text` is the last message alone; the whole of `json` is judged. Shapes:
 * portkey.ai/docs/integrations/guardrails/bring-your-own-guardrails.
 */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import type { ChatContent, JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import type { Dialect } from '../../dialects/dialect.js'
import { dialects } from '../../dialects/index.js'
import { isObject } from '../../dialects/rewrite.js'
import { readingCaller } from '../../dialects/walk.js'
import { nameSchemas } from '../../edge/doc-names.js'
import { errorResponses, judgedErrors, NoQuery } from '../../edge/schemas.js'
import { createGuard, factsOf, type GuardDeps, type Question, type Ruling, refusalOf } from './guard.js'

export const portkeyPath = '/guards/portkey'

const AnyObject = Type.Object({}, { additionalProperties: true })

const PortkeyRequest = Type.Object(
  {
    request: Type.Object({ json: AnyObject }, { additionalProperties: true }),
    response: Type.Optional(AnyObject),
    requestType: Type.String({ description: 'chatComplete, complete or embed; another is not permitted.' }),
    eventType: Type.Enum(['beforeRequestHook', 'afterRequestHook']),
    metadata: Type.Optional(Type.Union([AnyObject, Type.Null()]))
  },
  { additionalProperties: true }
)
type PortkeyRequest = Static<typeof PortkeyRequest>

const PortkeyReply = Type.Object({
  verdict: Type.Boolean(),
  data: Type.Object({}, { additionalProperties: true, description: 'Why; for the logs of Portkey.' })
})

nameSchemas({ PortkeyGuardRequest: PortkeyRequest, PortkeyGuardAnswer: PortkeyReply })

const operations: Readonly<Record<string, Dialect>> = {
  chatComplete: dialects['openai-chat'][0],
  complete: dialects['openai-completions'][0],
  embed: dialects['openai-embeddings'][0]
}

export function registerPortkey(app: FastifyInstance, deps: GuardDeps): void {
  const guard = createGuard(deps, portkeyPath)
  app.route<{ Body: PortkeyRequest }>({
    method: 'POST',
    url: portkeyPath,
    config: { access: { posture: 'key', scope: 'safety:evaluate', cost: 1 } },
    schema: {
      operationId: 'guardPortkey',
      summary: 'Portkey’s webhook guardrail',
      tags: ['guards'],
      querystring: NoQuery,
      body: PortkeyRequest,
      response: { 200: PortkeyReply, ...errorResponses(...judgedErrors) }
    },
    async handler(request, reply) {
      let ruling: Ruling
      try {
        ruling = await guard(request, reply, readQuestion(request.body))
      } catch (error) {
        const fault = error instanceof Fault ? error : new Fault('internal_error', { cause: error })
        ruling = { evaluation: undefined, refusal: refusalOf(fault, request.sluicegate.id) }
      }
      return { verdict: ruling.refusal === undefined, data: factsOf(ruling) }
    }
  })
}

const noTarget = { params: {}, query: '' }

/** @throws Fault for what is no request or answer of the operation that it says it is */
function readQuestion({ request, response, requestType, eventType, metadata }: PortkeyRequest): Question {
  const operation = Object.hasOwn(operations, requestType) ? operations[requestType] : undefined
  if (operation === undefined) throw unreadable()
  const direction = eventType === 'beforeRequestHook' ? 'request' : 'answer'
  const context = (metadata ?? undefined) as JsonObject | undefined
  if (direction === 'request') {
    const json = request.json as JsonObject
    return {
      content: readingCaller(Number.POSITIVE_INFINITY, () => operation.readRequest(json, noTarget)),
      direction,
      context
    }
  }
  const json = (response as JsonObject | undefined)?.json
  const content: ChatContent | undefined = isObject(json) ? operation.readReply(json) : undefined
  if (content === undefined) throw unreadable()
  return { content, direction, context }
}

function unreadable(): Fault {
  return new Fault('unscannable_content', { message: 'This is no request or answer that can be evaluated.' })
}
