/**
 * OpenAI's Realtime API: a conversation over a WebSocket. Each event of a client is read as a request of its own, each
 * response as a streamed answer; the relay in `proxy/realtime/` holds the two together.
 */
import { randomUUID } from 'node:crypto'
import type { ChatReply, JsonObject } from '../base/chat.js'
import { apiVersion, clientRequestId } from './azure-openai.js'
import type { Dialect } from './dialect.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { family } from './openai/family.js'
import { names } from './openai-realtime/names.js'
import { readEvent } from './openai-realtime/request.js'
import { RealtimeStreamShape } from './openai-realtime/stream.js'
import { turnless } from './turnless.js'
import { everyLeaf } from './walk.js'

const model = /^(?:[A-Za-z0-9._~:-]|%3A|%2F){1,256}$/i

/** Refused paths: they would open sessions that bypass the gateway. */
function refused(base: string, names: readonly string[]): Readonly<Record<string, string>> {
  const keys = `Keys for a session of a client's own are not handed out: with one a client would reach the upstream past the gateway. Open ${base} with a key of the gateway.`
  const calls = `Calls are not served: their sound goes past the gateway. Open ${base} as a WebSocket.`
  return Object.fromEntries(
    names.map((name) => [name.startsWith('/') ? name : `${base}/${name}`, name === 'calls' ? calls : keys])
  )
}

export const openaiRealtime: Dialect = {
  ...family,
  ...turnless(family),
  id: 'openai-realtime',
  suffix: '',
  paths: ['/v1/realtime'],
  isSocket: true,
  keyHeaders: ['sec-websocket-protocol'],
  // Not `call_id`: the sound of such a call takes another way, past the gateway.
  query: { model, intent: /^transcription$/ },
  readRequest: readEvent,
  readReply: (event: JsonObject): ChatReply | undefined =>
    typeof event.type === 'string' ? everyLeaf(event, names) : undefined,
  framing: () => 'ndjson',
  openStream: () => new HeldStream(new RealtimeStreamShape('response.done', () => `event_${randomUUID()}`)),
  refusedPaths: refused('/v1/realtime', ['client_secrets', 'sessions', 'transcription_sessions', 'calls']),
  offender: offenderBy(/^(?:\/item\/content\/\d+|\/response\/input\/\d+)/, names)
}

/** Azure OpenAI's paths for the same, by deployment or by the v1 API: learn.microsoft.com/azure/ai-services/openai/realtime-audio-reference. */
function azure(path: string, query: Dialect['query'], names: readonly string[]): Dialect {
  return {
    ...openaiRealtime,
    suffix: path,
    paths: [path],
    passPaths: [],
    auth: 'api-key',
    keyHeaders: [...openaiRealtime.keyHeaders, 'api-key'],
    query: { ...query, intent: /^transcription$/, 'api-version': apiVersion },
    requestHeaders: { ...openaiRealtime.requestHeaders, ...clientRequestId },
    refusedPaths: refused(path, names)
  }
}

export const azureRealtime: readonly Dialect[] = [
  azure('/openai/realtime', { deployment: model }, ['/openai/realtimeapi/sessions']),
  azure('/openai/v1/realtime', { model }, ['client_secrets', 'calls'])
]
