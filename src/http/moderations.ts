/**
 * `POST /v1/moderations` in OpenAI's published shape, from the same evaluator, so that a client that already calls it
 * only changes its base URL. Each element of an array is judged, and counted, as one call.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { Fault, invalid } from '../errors.js'
import type { Admission } from '../identity/admission.js'
import type { Evaluation, Scores } from '../policy/evaluation.js'
import { setLimitHeaders } from './edge.js'
import { maxInputText } from './evaluate-input.js'
import { callerOf } from './facts.js'
import type { Judge } from './judge.js'
import { errorResponses, keyErrors, NoQuery } from './schemas.js'

const Text = Type.String({ minLength: 1, maxLength: maxInputText })
const TextPart = Type.Object({ type: Type.Literal('text'), text: Text }, { additionalProperties: false })

const ModerationInput = Type.Object(
  {
    input: Type.Union([
      Text,
      Type.Array(Text, { minItems: 1, maxItems: 100 }),
      Type.Array(TextPart, { minItems: 1, maxItems: 100 })
    ]),
    model: Type.Optional(Type.String({ maxLength: 200 }))
  },
  { additionalProperties: false }
)
type ModerationInput = Static<typeof ModerationInput>

/**
 * OpenAI's thirteen categories, each read from ours. Where theirs is finer than ours (`hate/threatening`), it is the
 * smaller of the two scores it needs.
 */
const published: Record<string, (scores: Scores) => number> = {
  harassment: (s) => s.harassment,
  'harassment/threatening': (s) => Math.min(s.harassment, s.violence),
  hate: (s) => s.hate,
  'hate/threatening': (s) => Math.min(s.hate, s.violence),
  illicit: (s) => Math.max(s.illicit, s.cyber_misuse, s.weapons),
  'illicit/violent': (s) => s.weapons,
  'self-harm': (s) => s.self_harm,
  'self-harm/intent': (s) => s.self_harm,
  'self-harm/instructions': (s) => s.self_harm,
  sexual: (s) => Math.max(s.sexual, s.sexual_minors),
  'sexual/minors': (s) => s.sexual_minors,
  violence: (s) => s.violence,
  'violence/graphic': (s) => s.violence
}

/** A category counts from here: the middle band of the shipped constitutions, where a text is no longer simply permitted. */
const categoryThreshold = 0.4

export interface ModerationsDeps {
  judge: Judge
  admission: Pick<Admission, 'charge'>
}

export function registerModerations(app: FastifyInstance, { judge, admission }: ModerationsDeps): void {
  app.route<{ Body: ModerationInput }>({
    method: 'POST',
    url: '/v1/moderations',
    config: { access: { posture: 'key', scope: 'safety:evaluate', cost: 1 } },
    schema: {
      summary: 'Moderate texts in OpenAI’s shape',
      tags: ['safety'],
      querystring: NoQuery,
      body: ModerationInput,
      response: errorResponses('validation_error', ...keyErrors, 'rate_limit_exceeded', 'evaluator_unavailable')
    },
    async handler(request, reply) {
      const texts = readTexts(request.body.input)
      if (texts.length > 1) {
        const outcome = await admission.charge(callerOf(request), texts.length - 1)
        if (outcome instanceof Fault) throw outcome
        setLimitHeaders(reply, outcome)
      }
      const results = []
      for (const text of texts) results.push(readResult(await judge.text(text, { surface: 'moderations' })))
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

function readResult({ decision, scores }: Evaluation) {
  const category_scores = Object.fromEntries(Object.entries(published).map(([name, read]) => [name, read(scores)]))
  return {
    flagged: decision !== 'permit',
    categories: Object.fromEntries(
      Object.entries(category_scores).map(([name, score]) => [name, score >= categoryThreshold])
    ),
    category_scores,
    category_applied_input_types: Object.fromEntries(Object.keys(published).map((name) => [name, ['text']]))
  }
}
