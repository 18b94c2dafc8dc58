/**
 * Google's Gemini API, v1 and v1beta: generateContent, its streamed twin, the count of tokens and the embeddings. The model
 * and the operation stand in the path: `models/{model}:generateContent`.
 */
import type { Dialect, Framing, Target } from './dialect.js'
import { names } from './gemini/names.js'
import { forgetTokens, readReply } from './gemini/reply.js'
import { readBatchEmbed, readCountTokens, readEmbed, readGenerate } from './gemini/request.js'
import { PartSound, sampleFormat } from './gemini/sound.js'
import { GenerateStreamShape } from './gemini/stream.js'
import { denied, error, errorFrame, filtered, frameEnd, frameOf, turn } from './gemini/write.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { readNumbers, turnless } from './turnless.js'
import { everyLeaf } from './walk.js'

const model = /[A-Za-z0-9_-][A-Za-z0-9._-]{0,255}/
const pageQuery = { pageSize: /^\d{1,4}$/, pageToken: /^[A-Za-z0-9_.~-]{1,1024}$/ }

/** With `alt=sse` a client gets events, otherwise a JSON array. */
const framing = ({ query }: Target): Framing => (/[?&]alt=sse(?:&|$)/.test(query) ? 'sse' : 'json-array')

/** The published paths of an operation. */
function pathsOf(operation: string): string[] {
  return ['/v1beta/models', '/v1/models', '/v1beta/tunedModels'].map((folder) => `${folder}/{model}:${operation}`)
}

const shared = {
  id: 'gemini',
  parameters: { model },
  passPaths: [
    { path: '/v1beta/models', query: pageQuery },
    { path: '/v1beta/models/:id', parameter: new RegExp(`^${model.source}$`) }
  ],
  auth: 'x-goog-api-key',
  keyHeaders: ['x-goog-api-key'],
  query: { alt: /^json$/ },
  // Names and versions of libraries.
  requestHeaders: {
    'x-goog-api-client': { form: /^[\w.+-]{1,64}\/[\w.+~:/-]{0,64}(?: [\w.+-]{1,64}\/[\w.+~:/-]{0,64}){0,15}$/ }
  },
  responseHeaders: {},
  readError: (body) => everyLeaf(body, names),
  offender: offenderBy(/^(?:\/generateContentRequest)?\/contents\/\d+|^\/requests\/\d+/, names),
  error,
  denied,
  errorFrame: (fault, requestId, target) => errorFrame(framing(target), fault, requestId)
} as const satisfies Partial<Dialect>

const generate = {
  ...shared,
  hasTurns: true,
  isConversation: true,
  readReply,
  framing,
  openStream: (target) => new HeldStream(new GenerateStreamShape(framing(target))),
  spelledSound: () => new PartSound(),
  sampleFormat: (_, claim) => sampleFormat(claim),
  turn,
  turnStream: (facts) => {
    const form = framing(facts.target)
    return frameOf(form, turn(facts), true) + frameEnd(form, true)
  },
  filtered,
  forgetTokens
} as const satisfies Partial<Dialect>

export const geminiGenerate: Dialect = {
  ...generate,
  suffix: ':generateContent',
  paths: pathsOf('generateContent'),
  readRequest: readGenerate(false)
}

export const geminiStream: Dialect = {
  ...generate,
  suffix: ':streamGenerateContent',
  paths: pathsOf('streamGenerateContent'),
  query: { alt: /^(?:sse|json)$/ },
  readRequest: readGenerate(true)
}

const numbers = { ...shared, ...turnless(shared) }

export const geminiCount: Dialect = {
  ...numbers,
  suffix: ':countTokens',
  isConversation: true,
  paths: pathsOf('countTokens'),
  readRequest: readCountTokens,
  readReply: readNumbers('totalTokens', names)
}

export const geminiEmbed: Dialect = {
  ...numbers,
  suffix: ':embedContent',
  paths: pathsOf('embedContent'),
  readRequest: readEmbed,
  readReply: readNumbers('embedding', names)
}

export const geminiBatchEmbed: Dialect = {
  ...numbers,
  suffix: ':batchEmbedContents',
  paths: pathsOf('batchEmbedContents'),
  readRequest: readBatchEmbed,
  readReply: readNumbers('embeddings', names)
}
