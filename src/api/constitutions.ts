/** The constitutions API (docs/api.md, section 5): read, store a version, activate it, roll back. */
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import type { JsonObject } from '../base/chat.js'
import type { Clock } from '../base/clock.js'
import { invalid } from '../base/errors.js'
import type { ConstitutionService } from '../constitutions/constitution-service.js'
import type { TrialReport, TrialRequest, TrialText } from '../constitutions/trial.js'
import { dialects } from '../dialects/index.js'
import { checkContextSize } from '../edge/evaluate-input.js'
import { callerOf, managed } from '../edge/facts.js'
import { bodyErrors, errorResponses, managedErrors, NoQuery, Page } from '../edge/schemas.js'
import type { Actor, Caller } from '../identity/caller.js'
import type { ReplayRequest } from '../samples/replay.js'
import {
  Activate,
  Activated,
  ActivationList,
  ActiveConstitution,
  ConstitutionList,
  ConstitutionParams,
  PutConstitution,
  StoredVersion,
  Trial,
  type TrialTextObject,
  TryConstitution,
  VersionList,
  VersionParams,
  VersionWithSource
} from './constitution-schemas.js'
import { readSampleFilter } from './samples.js'

const path = '/api/v1/constitutions'
const read = { access: managed('constitutions:read') }
const write = { access: managed('constitutions:write') }
/** Confirmed, since an activation may let more through. */
const enforce = { access: managed('constitutions:write', { confirmed: true }) }
const tags = ['constitutions']
const readErrors = errorResponses('validation_error', ...managedErrors, 'not_found')
const writeErrors = [...bodyErrors, ...managedErrors, 'not_found', 'overloaded'] as const

/** @throws Fault `validation_error` where neither or both of a text and a chat are given, or the context is too large */
function readTrialText(given: Static<typeof TrialTextObject>, i: number): TrialText {
  const { input_text, chat, role, history, ...rest } = given
  checkContextSize(given.context as JsonObject | undefined, `texts.${i}.context`)
  const common = { ...rest, context: given.context as JsonObject | undefined }
  if (chat === undefined) {
    if (input_text === undefined) throw invalid(`texts.${i}.input_text`, 'missing', 'Give an input_text or a chat.')
    return { ...common, input_text, role, history }
  }
  for (const [field, value] of Object.entries({ input_text, role, history }))
    if (value !== undefined) throw invalid(`texts.${i}.${field}`, 'unknown_field', 'A chat says this itself.')
  const { parts, joined, media } = dialects['openai-chat'][0].readRequest(chat as unknown as JsonObject, {
    params: {},
    query: ''
  })
  if (media.length > 0) throw invalid(`texts.${i}.chat`, 'wrong_type', 'Images, audio and files are not judged here.')
  return { ...common, input_text: '', chat: { parts, joined } }
}

type OfName = { Params: Static<typeof ConstitutionParams> }

export interface ConstitutionsDeps {
  constitutions: ConstitutionService
  tryOut(actor: Actor, name: string, request: TrialRequest): Promise<TrialReport>
  /** The same over samples. */
  replay(actor: Caller, name: string, request: ReplayRequest): Promise<TrialReport>
  clock: Clock
}

export function registerConstitutions(app: FastifyInstance, deps: ConstitutionsDeps): void {
  const { constitutions, tryOut, replay, clock } = deps
  app.route({
    method: 'GET',
    url: path,
    config: read,
    schema: {
      operationId: 'listConstitutions',
      summary: 'List the constitutions and what is in force',
      tags,
      querystring: NoQuery,
      response: {
        200: ConstitutionList,
        ...errorResponses('validation_error', ...managedErrors)
      }
    },
    handler: (request) => constitutions.list(callerOf(request))
  })

  app.route<OfName>({
    method: 'GET',
    url: `${path}/:name`,
    config: read,
    schema: {
      operationId: 'getConstitution',
      summary: 'Read the version in force, with its text',
      tags,
      params: ConstitutionParams,
      querystring: NoQuery,
      response: { 200: ActiveConstitution, ...readErrors }
    },
    handler: (request) => constitutions.get(callerOf(request), request.params.name)
  })

  app.route<OfName & { Querystring: Static<typeof Page> }>({
    method: 'GET',
    url: `${path}/:name/versions`,
    config: read,
    schema: {
      operationId: 'listConstitutionVersions',
      summary: 'List the versions of a constitution, newest first',
      tags,
      params: ConstitutionParams,
      querystring: Page,
      response: {
        200: VersionList,
        ...readErrors
      }
    },
    handler: (request) => constitutions.versions(callerOf(request), request.params.name, request.query)
  })

  app.route<{ Params: Static<typeof VersionParams> }>({
    method: 'GET',
    url: `${path}/:name/versions/:version`,
    config: read,
    schema: {
      operationId: 'getConstitutionVersion',
      summary: 'Read one version, with its text',
      tags,
      params: VersionParams,
      querystring: NoQuery,
      response: { 200: VersionWithSource, ...readErrors }
    },
    handler: (request) => constitutions.version(callerOf(request), request.params.name, request.params.version)
  })

  app.route<OfName & { Querystring: Static<typeof Page> }>({
    method: 'GET',
    url: `${path}/:name/activations`,
    config: read,
    schema: {
      operationId: 'listConstitutionActivations',
      summary: 'What was put in force, when and by whom, newest first',
      tags,
      params: ConstitutionParams,
      querystring: Page,
      response: {
        200: ActivationList,
        ...readErrors
      }
    },
    handler: (request) => constitutions.activations(callerOf(request), request.params.name, request.query)
  })

  app.route<OfName & { Body: Static<typeof PutConstitution> }>({
    method: 'PUT',
    url: `${path}/:name`,
    config: write,
    schema: {
      operationId: 'createConstitutionVersion',
      summary: 'Store a new version; what is in force stays so',
      description: 'A text equal to the latest version returns that version, without warnings: 200 instead of 201.',
      tags,
      params: ConstitutionParams,
      querystring: NoQuery,
      body: PutConstitution,
      response: {
        200: StoredVersion,
        201: StoredVersion,
        ...errorResponses(...writeErrors)
      }
    },
    async handler(request, reply) {
      const { created, version, warnings } = await constitutions.put(
        callerOf(request),
        request.params.name,
        request.body
      )
      return reply.code(created ? 201 : 200).send({ ...version, warnings })
    }
  })

  app.route<OfName & { Body: Static<typeof Activate> }>({
    method: 'POST',
    url: `${path}/:name/activate`,
    config: enforce,
    schema: {
      operationId: 'activateConstitutionVersion',
      summary: 'Put a version in force; an older one is the way back',
      description:
        'Read and compiled completely before it judges anything. No request is dropped: those under way keep the old version.',
      tags,
      params: ConstitutionParams,
      querystring: NoQuery,
      body: Activate,
      response: {
        200: Activated,
        ...errorResponses(...writeErrors, 'confirmation_required', 'active_changed')
      }
    },
    handler: (request) => constitutions.activate(callerOf(request), request.params.name, request.body)
  })

  app.route<OfName & { Body: Static<typeof TryConstitution> }>({
    method: 'POST',
    url: `${path}/:name/test`,
    config: read,
    schema: {
      operationId: 'testConstitution',
      summary: 'Dry run: the decisions of a version over texts, beside those in force',
      description:
        'Creates no review, changes no session, counts nothing and asks no judge. With `explain`, each verdict has an explanation and the changes that would flip it.',
      tags,
      params: ConstitutionParams,
      querystring: NoQuery,
      body: TryConstitution,
      response: {
        200: Trial,
        ...errorResponses(...writeErrors, 'evaluator_unavailable')
      }
    },
    handler(request) {
      const { texts: given, samples, explain, ...candidate } = request.body
      if (given === undefined && samples === undefined)
        throw invalid('texts', 'missing', 'There is nothing to try: give texts, or samples.')
      if (given !== undefined && samples !== undefined)
        throw invalid('texts', 'unknown_field', 'Give texts or samples, not both.')
      if (samples !== undefined) {
        if (explain === true) throw invalid('explain', 'unknown_value', 'Samples are tried without explanations.')
        const { limit, ...filter } = samples
        const wanted = { ...readSampleFilter(filter, clock.now(), 'samples'), ...(limit !== undefined && { limit }) }
        return replay(callerOf(request), request.params.name, { ...candidate, samples: wanted } as ReplayRequest)
      }
      const texts = given!.map((text, i) => (typeof text === 'string' ? text : readTrialText(text, i)))
      return tryOut(callerOf(request), request.params.name, { ...request.body, texts } as TrialRequest)
    }
  })
}
