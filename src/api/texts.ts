/** The API of the sentences that people read in place of stopped content: docs/texts.md. */
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { audiences, occasions, type TextsSource } from '../base/texts.js'
import { nameSchemas } from '../edge/doc-names.js'
import { callerOf, managed } from '../edge/facts.js'
import { errorResponses, managedErrors, NoQuery } from '../edge/schemas.js'
import { categories } from '../policy/evaluation.js'
import { inUse, type TextsRecord, type TextsService } from '../wording/texts-service.js'

const path = '/api/v1/texts'
const tags = ['texts']
const closed = { additionalProperties: false }

const PutTexts = Type.Object(
  {
    texts: Type.Object(
      {},
      { additionalProperties: true, description: 'As `texts` of the configuration: docs/texts.md.' }
    ),
    version: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The version that was edited; if another is in force now, 409.'
      })
    )
  },
  closed
)
const Query = Type.Object(
  { language: Type.Optional(Type.String({ pattern: '^[a-z]{2,3}$', description: 'Default: en.' })) },
  closed
)
const Texts = Type.Object({
  version: Type.Integer({ description: '0: nothing was written over the API.' }),
  texts: Type.Object({}, { additionalProperties: true, description: 'What was written over the API.' }),
  changed_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  changed_by: Type.Union([Type.String(), Type.Null()]),
  languages: Type.Array(Type.String(), { description: 'Those in which something can be told.' }),
  sentences: Type.Array(
    Type.Object({
      audience: Type.Enum([...audiences]),
      occasion: Type.Enum(['any', ...occasions]),
      category: Type.Enum(['default', ...categories]),
      text: Type.String(),
      from: Type.Enum(['configuration', 'api', 'shipped'])
    }),
    { description: 'What is told in the language that was asked for.' }
  )
})

nameSchemas({ Texts, PutTextsRequest: PutTexts })

/** @param configured the texts of the configuration, which come before those of the API */
export function registerTexts(app: FastifyInstance, texts: TextsService, configured: TextsSource | undefined): void {
  const shown = (record: TextsRecord, language = 'en') => ({
    ...record,
    languages: texts.languages(configured, record.texts),
    sentences: inUse(language, configured, record.texts)
  })

  app.route<{ Querystring: Static<typeof Query> }>({
    method: 'GET',
    url: path,
    config: { access: managed('constitutions:read') },
    schema: {
      operationId: 'getTexts',
      summary: 'Read the texts that people are told',
      tags,
      querystring: Query,
      response: { 200: Texts, ...errorResponses('validation_error', ...managedErrors, 'not_found') }
    },
    handler: async (request) => shown(await texts.get(callerOf(request)), request.query.language)
  })

  app.route<{ Body: Static<typeof PutTexts> }>({
    method: 'PUT',
    url: path,
    config: { access: managed('constitutions:write') },
    schema: {
      operationId: 'putTexts',
      summary: 'Replace the texts that were written over the API',
      description:
        'In force on every node within a second. Texts of the configuration and of constitutions take precedence.',
      tags,
      querystring: NoQuery,
      body: PutTexts,
      response: { 200: Texts, ...errorResponses('validation_error', ...managedErrors, 'not_found', 'active_changed') }
    },
    async handler(request) {
      const { texts: given, version } = request.body
      return shown(await texts.put(callerOf(request), given, version))
    }
  })
}
