/**
 * A guard with one text in and one flat object out, for hooks built from templates, like Kong's ai-custom-guardrail,
 * which reads single fields of the answer. Shapes: developer.konghq.com/plugins/ai-custom-guardrail.
 */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import type { JsonObject } from '../../base/chat.js'
import { nameSchemas } from '../../edge/doc-names.js'
import { maxInputText } from '../../edge/evaluate-input.js'
import { errorResponses, judgedErrors, NoQuery } from '../../edge/schemas.js'
import { createGuard, factsOf, type GuardDeps } from './guard.js'

export const flatPath = '/guards/flat'

const FlatRequest = Type.Object(
  {
    text: Type.String({ maxLength: maxInputText }),
    source: Type.Optional(Type.Enum(['INPUT', 'OUTPUT'], { description: 'Whose words: INPUT by default.' })),
    context: Type.Optional(Type.Object({}, { additionalProperties: true }))
  },
  { additionalProperties: false }
)

const FlatReply = Type.Object(
  {
    is_blocked: Type.Boolean({ description: 'True unless the text is permitted.' }),
    block_message: Type.String({ description: 'A sentence for the client; empty where the text is permitted.' })
  },
  { additionalProperties: true }
)

nameSchemas({ FlatGuardRequest: FlatRequest, FlatGuardAnswer: FlatReply })

export function registerFlat(app: FastifyInstance, deps: GuardDeps): void {
  const guard = createGuard(deps, flatPath)
  app.route<{ Body: Static<typeof FlatRequest> }>({
    method: 'POST',
    url: flatPath,
    config: { access: { posture: 'key', scope: 'safety:evaluate', cost: 1 } },
    schema: {
      operationId: 'guardFlat',
      summary: 'One text, one flat answer (Kong’s custom guardrail)',
      tags: ['guards'],
      querystring: NoQuery,
      body: FlatRequest,
      response: { 200: FlatReply, ...errorResponses(...judgedErrors) }
    },
    async handler(request, reply) {
      const { text, source, context } = request.body
      const isAnswer = source === 'OUTPUT'
      const parts = text === '' ? [] : [{ role: isAnswer ? 'assistant' : 'user', text, pointer: '/text' } as const]
      const ruling = await guard(request, reply, {
        content: { parts, joined: [], media: [] },
        direction: isAnswer ? 'answer' : 'request',
        context: context as JsonObject | undefined
      })
      const { message, ...facts } = factsOf(ruling)
      return { is_blocked: ruling.refusal !== undefined, block_message: message ?? '', ...facts }
    }
  })
}
