/**
 * `POST /v1/moderations` in OpenAI's published shape, from the same evaluator, so that a client that already calls it
 * only changes its base URL. Each element of an array is judged, and counted, as one call.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { Fault, invalid } from '../base/errors.js'
import { severalAtOnce } from '../base/several.js'
import { nameSchemas } from '../edge/doc-names.js'
import { maxInputText } from '../edge/evaluate-input.js'
import { callerOf } from '../edge/facts.js'
import { judgedErrors, NoQuery, openaiErrorResponses } from '../edge/schemas.js'
import { compileValidator } from '../edge/validate.js'
import type { Admission } from '../identity/admission.js'
import { limitHeaders } from '../limits/fault.js'
import { withinBand } from '../policy/decide/decide.js'
import type { Assessment } from '../policy/evaluate/evaluator.js'
import type { Category, Scores } from '../policy/evaluation.js'
import type { Assessor } from './assess.js'

/** Errors of this path have OpenAI's shape, since its clients are SDKs of that API. */
export const moderationsPath = '/v1/moderations'

/** Elements of one call: each is judged and counted by itself. */
const maxElements = 100

const Text = Type.String({ minLength: 1, maxLength: maxInputText })
const TextPart = Type.Object({ type: Type.Literal('text'), text: Text }, { additionalProperties: false })
const Texts = Type.Array(Text, { minItems: 1, maxItems: maxElements })
const TextParts = Type.Array(TextPart, { minItems: 1, maxItems: maxElements })

const ModerationInput = Type.Object(
  { input: Type.Union([Text, Texts, TextParts]), model: Type.Optional(Type.String({ maxLength: 200 })) },
  { additionalProperties: false }
)
type ModerationInput = Static<typeof ModerationInput>

/** Chooses the variant that the caller means, so that an error names its place, not "none of the three". */
const rest = { additionalProperties: true }
const validateFields = compileValidator(
  Type.Object({ ...ModerationInput.properties, input: Type.Unknown() }, { additionalProperties: false }),
  'body'
)
const validateText = compileValidator(Type.Object({ input: Text }, rest), 'body')
const validateTexts = compileValidator(Type.Object({ input: Texts }, rest), 'body')
const validateParts = compileValidator(Type.Object({ input: TextParts }, rest), 'body')

function validate(value: unknown): Fault | undefined {
  const fault = validateFields(value)
  if (fault !== undefined) return fault
  const { input } = value as { input: unknown }
  if (!Array.isArray(input)) return validateText(value)
  const image = input.findIndex((element) => (element as { type?: unknown } | null)?.type === 'image_url')
  if (image >= 0) {
    return new Fault('unscannable_content', {
      message: `The field "input.${image}" is an image, which is not evaluated: send elements {"type": "text", "text": …}.`,
      fields: { details: { pointer: `/input/${image}` } }
    })
  }
  return (typeof input[0] === 'object' && input[0] !== null ? validateParts : validateTexts)(value)
}

/**
 * OpenAI's thirteen categories, each read from ours. Where theirs is finer than ours (`hate/threatening`), it is the
 * smaller of the two scores it needs. Stopped content without a category of theirs counts as `illicit`, so that a
 * flagged text always has a category, as published.
 */
const published: Record<string, (scores: Scores) => number> = {
  harassment: (s) => s.harassment,
  'harassment/threatening': (s) => Math.min(s.harassment, s.violence),
  hate: (s) => s.hate,
  'hate/threatening': (s) => Math.min(s.hate, s.violence),
  illicit: (s) => Math.max(s.illicit, s.cyber_misuse, s.weapons, ...nameless.map((category) => s[category])),
  'illicit/violent': (s) => s.weapons,
  'self-harm': (s) => s.self_harm,
  'self-harm/intent': (s) => s.self_harm,
  'self-harm/instructions': (s) => s.self_harm,
  sexual: (s) => Math.max(s.sexual, s.sexual_minors),
  'sexual/minors': (s) => s.sexual_minors,
  violence: (s) => s.violence,
  'violence/graphic': (s) => s.violence
}
const nameless = [
  'prompt_injection',
  'jailbreak',
  'personal_data',
  'secrets',
  'misinformation',
  'profanity'
] as const satisfies Category[]

const names = Object.keys(published)
const byName = <T extends TSchema>(value: T) => Type.Object(Object.fromEntries(names.map((name) => [name, value])))

const ModerationReply = Type.Object({
  id: Type.String(),
  model: Type.String(),
  results: Type.Array(
    Type.Object({
      flagged: Type.Boolean({ description: 'True unless the text is permitted.' }),
      categories: byName(Type.Boolean()),
      category_scores: byName(Type.Number({ minimum: 0, maximum: 1 })),
      category_applied_input_types: byName(Type.Array(Type.Literal('text')))
    })
  )
})

nameSchemas({ CreateModerationRequest: ModerationInput, Moderation: ModerationReply })

/** Elements judged concurrently: one that waits for a judge must not delay all others. */
const atOnce = 4

export interface ModerationsDeps {
  assessor: Assessor
  admission: Pick<Admission, 'charge'>
}

export function registerModerations(app: FastifyInstance, { assessor, admission }: ModerationsDeps): void {
  app.route<{ Body: ModerationInput }>({
    method: 'POST',
    url: moderationsPath,
    config: { access: { posture: 'key', scope: 'safety:evaluate', cost: 1 } },
    schema: {
      operationId: 'createModeration',
      summary: 'Moderate texts in OpenAI’s shape',
      tags: ['safety'],
      querystring: NoQuery,
      body: ModerationInput,
      response: {
        200: ModerationReply,
        ...openaiErrorResponses(...judgedErrors, 'unscannable_content')
      }
    },

    validatorCompiler: ({ schema, httpPart }) => {
      const check = httpPart === 'body' ? validate : compileValidator(schema as object, 'query')
      return (value) => {
        const error = check(value)
        return error === undefined ? true : { error }
      }
    },
    async handler(request, reply) {
      const texts = readTexts(request.body.input)
      if (texts.length > 1) {
        const caller = callerOf(request)
        if (texts.length > caller.limitPerMinute) {
          const most = caller.limitPerMinute
          throw invalid(
            'input',
            'too_long',
            `The field "input" has more elements than this key may judge in a minute: at most ${most}.`
          )
        }
        const outcome = await admission.charge(caller, texts.length - 1)
        if (outcome instanceof Fault) throw outcome
        reply.headers(limitHeaders(outcome))
      }
      const options = {
        surface: 'moderations',
        route: moderationsPath,
        caller: callerOf(request),
        requestId: request.sluicegate.id,
        response: reply.raw
      } as const
      const results = await severalAtOnce(texts, atOnce, async (text) =>
        readResult(await assessor.assess(text, options))
      )
      request.sluicegate.decision = results.some(({ flagged }) => flagged) ? 'forbid' : 'permit'
      return {
        id: `modr-${randomBytes(12).toString('hex')}`,
        model: request.body.model ?? 'omni-moderation-latest',
        results
      }
    }
  })
}

/** An array of parts is one text in pieces and has one result, as published; an array of strings has one each. */
function readTexts(input: ModerationInput['input']): string[] {
  if (typeof input === 'string') return [input]
  if (input.every((element) => typeof element === 'string')) return input
  const text = (input as { text: string }[]).map((part) => part.text).join('\n')
  if (text.length > maxInputText) {
    throw invalid(
      'input',
      'too_long',
      `The field "input" is too long: at most ${maxInputText} characters in all are allowed.`
    )
  }
  return [text]
}

/** Each score is clamped to the band of its category's decision, so that scores, flags and decision agree. */
function readResult({ evaluation, categories, bands }: Assessment) {
  const scores = { ...evaluation.scores }
  for (const category of nameless) scores[category] = 0
  for (const verdict of categories) {
    const counts = verdict.decision !== 'permit' || !(nameless as readonly Category[]).includes(verdict.category)
    scores[verdict.category] = counts ? withinBand(verdict, bands) : 0
  }
  const category_scores = Object.fromEntries(names.map((name) => [name, published[name]!(scores)]))
  return {
    flagged: evaluation.decision !== 'permit',
    categories: Object.fromEntries(names.map((name) => [name, category_scores[name]! >= bands.middle])),
    category_scores,
    category_applied_input_types: Object.fromEntries(names.map((name) => [name, ['text']]))
  }
}
