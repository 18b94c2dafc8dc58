/**
 * agentgateway's webhook: asked before a request and after an answer, told to pass or to reject. A rejection carries the
 * error that OpenAI's clients read. Shapes: agentgateway, crates/agentgateway/src/llm/policy/webhook.rs.
 */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import type { JsonObject } from '../../base/chat.js'
import { invalid } from '../../base/errors.js'
import { dialects } from '../../dialects/index.js'
import { readingCaller } from '../../dialects/walk.js'
import { nameSchemas } from '../../edge/doc-names.js'
import { errorResponses, judgedErrors, NoQuery } from '../../edge/schemas.js'
import { createGuard, type GuardDeps, type Question } from './guard.js'

/** `/request` and `/response` are put behind it by agentgateway. */
export const agentgatewayPath = '/guards/agentgateway'

const Message = Type.Object({ role: Type.String() }, { additionalProperties: true })
const PromptMessages = Type.Object(
  { body: Type.Object({ messages: Type.Array(Message, { minItems: 1 }) }, { additionalProperties: true }) },
  { additionalProperties: true }
)
const ResponseChoices = Type.Object(
  {
    body: Type.Object(
      { choices: Type.Array(Type.Object({ message: Message }, { additionalProperties: true })) },
      { additionalProperties: true }
    )
  },
  { additionalProperties: true }
)

const Action = Type.Object({
  action: Type.Object(
    {
      reason: Type.Optional(Type.String()),
      body: Type.Optional(Type.String({ description: 'What the client is sent; only where it is rejected.' })),
      status_code: Type.Optional(Type.Integer())
    },
    { additionalProperties: false }
  )
})

nameSchemas({
  AgentgatewayRequest: PromptMessages,
  AgentgatewayResponse: ResponseChoices,
  AgentgatewayAction: Action
})

const [openai] = dialects['openai-chat']

export function registerAgentgateway(app: FastifyInstance, deps: GuardDeps): void {
  register(app, deps, 'request', PromptMessages, ({ body }: Static<typeof PromptMessages>) => ({
    content: readingCaller(Number.POSITIVE_INFINITY, () =>
      openai.readRequest(body as unknown as JsonObject, { params: {}, query: '' })
    ),
    direction: 'request'
  }))
  register(app, deps, 'response', ResponseChoices, ({ body }: Static<typeof ResponseChoices>) => {
    const content = openai.readReply(body as unknown as JsonObject)
    if (content === undefined) throw invalid('body.choices', 'wrong_type', 'body.choices must be a list of choices.')
    return { content, direction: 'answer' }
  })
}

function register<Body>(
  app: FastifyInstance,
  deps: GuardDeps,
  name: 'request' | 'response',
  body: Type.TSchema,
  readQuestion: (body: Body) => Question
): void {
  const url = `${agentgatewayPath}/${name}`
  const guard = createGuard(deps, url)
  app.route({
    method: 'POST',
    url,
    config: { access: { posture: 'key', scope: 'safety:evaluate', cost: 1 } },
    schema: {
      operationId: name === 'request' ? 'guardAgentgatewayRequest' : 'guardAgentgatewayResponse',
      summary: `agentgateway’s webhook, ${name}`,
      tags: ['guards'],
      querystring: NoQuery,
      body,
      response: { 200: Action, ...errorResponses(...judgedErrors) }
    },
    async handler(request, reply) {
      const { evaluation, refusal } = await guard(request, reply, readQuestion(request.body as Body))
      const rules = evaluation?.matched_rules.join(', ') ?? ''
      if (refusal === undefined) return { action: { reason: 'permit' } }
      const reason = rules === '' ? refusal.code : `${refusal.code}: ${rules}`
      return { action: { body: JSON.stringify(refusal.body), status_code: refusal.status, reason } }
    }
  })
}
