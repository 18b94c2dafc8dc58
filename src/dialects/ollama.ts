/** Ollama's own API: chat, generate, and the embeddings. Its OpenAI-like paths are those of the other dialects. */
import type { Dialect } from './dialect.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { names } from './ollama/names.js'
import { forgetTokens, readChatReply, readGenerateReply, readVectors } from './ollama/reply.js'
import { readChat, readEmbed, readEmbeddings, readGenerate } from './ollama/request.js'
import { LinesShape } from './ollama/stream.js'
import { denied, error, line, type Operation, said, saidStream } from './ollama/write.js'
import { turnless } from './turnless.js'
import { everyLeaf } from './walk.js'

const shared = {
  id: 'ollama',
  parameters: {},
  passPaths: [{ path: '/api/tags' }, { path: '/api/version' }],
  auth: 'bearer',
  keyHeaders: [],
  query: {},
  requestHeaders: {},
  responseHeaders: {},
  readError: (body) => everyLeaf(body, names),
  offender: offenderBy(/^\/messages\/\d+|^\/input\/\d+/, names),
  error,
  denied,
  errorFrame: (fault, requestId) => line(error(fault, requestId))
} as const satisfies Partial<Dialect>

const answering = (operation: Operation) =>
  ({
    ...shared,
    suffix: `/${operation}`,
    paths: [`/api/${operation}`],
    hasTurns: true,
    framing: () => 'ndjson',
    openStream: () => new HeldStream(new LinesShape(operation)),
    turn: (facts) => said(operation, facts),
    turnStream: (facts) => saidStream(operation, facts),
    // Built anew: nothing of the answer remains.
    filtered: (_reply, facts) => said(operation, facts),
    forgetTokens
  }) as const satisfies Partial<Dialect>

export const ollamaChat: Dialect = {
  ...answering('chat'),
  isConversation: true,
  readRequest: readChat,
  readReply: readChatReply
}

export const ollamaGenerate: Dialect = {
  ...answering('generate'),
  readRequest: readGenerate,
  readReply: readGenerateReply
}

export const ollamaEmbed: Dialect = {
  ...shared,
  ...turnless(shared),
  suffix: '/embed',
  paths: ['/api/embed'],
  readRequest: readEmbed,
  readReply: readVectors('embeddings')
}

export const ollamaEmbeddings: Dialect = {
  ...shared,
  ...turnless(shared),
  suffix: '/embeddings',
  paths: ['/api/embeddings'],
  readRequest: readEmbeddings,
  readReply: readVectors('embedding')
}
