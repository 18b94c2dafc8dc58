/**
 * LiteLLM's generic guardrail API: a LiteLLM proxy asks before and after each call, and uses the masked texts of the
 * answer. Shapes: docs.litellm.ai/docs/adding_provider/generic_guardrail_api.
 */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { type ChatContent, type ChatPart, decodedMark, type Json, type JsonObject, type Role } from '../../base/chat.js'
import { dialects } from '../../dialects/index.js'
import { isObject, type Replacement, splice } from '../../dialects/rewrite.js'
import { Turns } from '../../dialects/turns.js'
import { append, Collector, readingCaller } from '../../dialects/walk.js'
import { nameSchemas } from '../../edge/doc-names.js'
import { errorResponses, judgedErrors, NoQuery } from '../../edge/schemas.js'
import { type Category, categories } from '../../policy/evaluation.js'
import { createGuard, type GuardDeps, type Question } from './guard.js'

/** Given by LiteLLM; it is put behind the `api_base` of its configuration. */
export const litellmPath = '/beta/litellm_basic_guardrail_api'

const maybe = <T extends Type.TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]))
const AnyObjects = Type.Array(Type.Object({}, { additionalProperties: true }))

const LiteLLMRequest = Type.Object(
  {
    texts: maybe(Type.Array(Type.String())),
    images: maybe(Type.Array(Type.String())),
    tools: maybe(AnyObjects),
    tool_calls: maybe(AnyObjects),
    structured_messages: maybe(AnyObjects),
    input_type: Type.Enum(['request', 'response']),
    litellm_trace_id: maybe(Type.String()),
    additional_provider_specific_params: maybe(
      Type.Object(
        {
          context: Type.Optional(Type.Object({}, { additionalProperties: true })),
          redact: Type.Optional(Type.Array(Type.Enum(['personal_data', 'secrets'])))
        },
        { additionalProperties: true }
      )
    )
  },
  { additionalProperties: true }
)
type LiteLLMRequest = Static<typeof LiteLLMRequest>

const LiteLLMReply = Type.Object(
  {
    action: Type.Enum(['NONE', 'BLOCKED', 'GUARDRAIL_INTERVENED']),
    blocked_reason: Type.Optional(Type.String()),
    texts: Type.Optional(Type.Array(Type.String(), { description: 'As many as were sent, in their order.' }))
  },
  { additionalProperties: false }
)

nameSchemas({ LiteLLMGuardRequest: LiteLLMRequest, LiteLLMGuardAnswer: LiteLLMReply })

export function registerLiteLLM(app: FastifyInstance, deps: GuardDeps): void {
  const guard = createGuard(deps, litellmPath)
  app.route<{ Body: LiteLLMRequest }>({
    method: 'POST',
    url: litellmPath,
    config: { access: { posture: 'key', scope: 'safety:evaluate', cost: 1 } },
    schema: {
      operationId: 'guardLiteLLM',
      summary: 'LiteLLM’s generic guardrail API',
      tags: ['guards'],
      querystring: NoQuery,
      body: LiteLLMRequest,
      response: { 200: LiteLLMReply, ...errorResponses(...judgedErrors) }
    },
    async handler(request, reply) {
      const { body } = request
      const { evaluation, refusal } = await guard(request, reply, readQuestion(body))
      if (refusal !== undefined) return { action: 'BLOCKED', blocked_reason: `${refusal.code}: ${refusal.message}` }
      const redact: readonly Category[] = body.additional_provider_specific_params?.redact ?? []
      const found = new Map<string, Replacement[]>()
      for (const { category, pointer = '', span } of evaluation!.detections) {
        if (!redact.includes(category)) continue
        if (pointer.endsWith(decodedMark)) {
          return { action: 'BLOCKED', blocked_reason: 'content_filter: What is to be redacted is encoded.' }
        }
        const replacement = { ...span, pointer, text: `<${category.toUpperCase()}>` }
        const own = found.get(pointer)
        if (own === undefined) found.set(pointer, [replacement])
        else own.push(replacement)
      }
      const texts = (body.texts ?? []).map((text, i) => splice(text, found.get(`/texts/${i}`) ?? []))
      return texts.some((text, i) => text !== body.texts![i])
        ? { action: 'GUARDRAIL_INTERVENED', texts }
        : { action: 'NONE' }
    }
  })
}

const [openai] = dialects['openai-chat']
const noTarget = { params: {}, query: '' }

/**
 * `texts` are those of the messages without their roles. Where the messages are present, their roles are used, and
 * their further content is judged too, joined as the dialect joins it. Data about LiteLLM's own key and headers reaches no model and is not judged.
 */
function readQuestion(body: LiteLLMRequest): Question {
  const direction = body.input_type === 'request' ? 'request' : 'answer'
  const others = readOthers(body)
  const roles = new Map<string, Role>()
  // If several speakers have the same text, it counts as the user's, which is the strictest reading.
  for (const { role, text } of others.parts) if (role === 'user' || !roles.has(text)) roles.set(text, role)
  const out = new Collector(new Set(categories))
  const turns = new Turns(out)
  const texts = body.texts ?? []
  for (const [i, text] of texts.entries()) {
    const role = direction === 'answer' ? 'assistant' : (roles.get(text) ?? 'user')
    turns.add(role, [out.text(role, text, `/texts/${i}`)])
  }
  turns.end()
  const joined = addOthers(out, others)
  for (const i of (body.images ?? []).keys()) out.media.push({ pointer: `/images/${i}`, kind: 'image' })
  const { additional_provider_specific_params: params, litellm_trace_id: session } = body
  const parts = out.parts.map((part) => (part.isDecoded ? { ...part, pointer: `${part.pointer}${decodedMark}` } : part))
  const content = { parts, joined, media: out.media }
  return { content, direction, context: params?.context as JsonObject | undefined, session: session ?? undefined }
}

/**
 * Adds what the texts lack. A text that they have stands in its place among them: its n-th place in the messages is its
 * n-th among the texts.
 * @returns all runs
 */
function addOthers(out: Collector, others: ChatContent): number[][] {
  const places = new Map<string, number[]>()
  for (const [i, { text }] of out.parts.entries()) {
    const own = places.get(text)
    if (own === undefined) places.set(text, [i])
    else own.push(i)
  }
  const met = new Map<string, number>()
  const moved = others.parts.map((part) => {
    const own = places.get(part.text)
    if (own === undefined) return out.parts.push(part) - 1
    const n = met.get(part.text) ?? 0
    met.set(part.text, n + 1)
    return own[Math.min(n, own.length - 1)]!
  })
  append(out.media, others.media)
  const joined = new Map(out.joined.map((run) => [String(run), run]))
  for (const run of others.joined) {
    const here = run.map((index) => moved[index]!)
    joined.set(String(here), here)
  }
  return [...joined.values()]
}

function readOthers({ structured_messages: messages, tools, tool_calls: calls }: LiteLLMRequest): ChatContent {
  const parts: ChatPart[] = []
  const joined: number[][] = []
  const media: ChatContent['media'] = []
  const take = (content: ChatContent | undefined) => {
    const before = parts.length
    append(parts, content?.parts ?? [])
    for (const run of content?.joined ?? []) joined.push(run.map((index) => index + before))
    append(media, content?.media ?? [])
  }
  const given = (messages ?? []) as unknown as Json[]
  if (given.length > 0 && given.every((each) => isObject(each) && typeof each.role === 'string')) {
    take(readingCaller(Number.POSITIVE_INFINITY, () => openai.readRequest({ messages: given }, noTarget)))
  } else if (given.length > 0) take(openai.readError({ messages: given }))
  if (tools) take(openai.readRequest({ messages: [{ role: 'system' }], tools: tools as unknown as Json }, noTarget))
  if (calls) take(openai.readReply({ choices: [{ message: { tool_calls: calls as unknown as Json } }] }))
  return { parts, joined, media }
}
