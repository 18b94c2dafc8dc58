/**
 * OpenAI's Realtime API: a conversation over a WebSocket. Each event of a client is read as a request of its own, each
 * response as a streamed answer; the relay in `proxy/realtime/` holds the two together.
 */
import { randomUUID } from 'node:crypto'
import type { ChatReply, JsonObject } from '../chat.js'
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

export const openaiRealtime: Dialect = {
  ...family,
  ...turnless(family),
  id: 'openai-realtime',
  suffix: '',
  paths: ['/v1/realtime'],
  isSocket: true,
  keyHeaders: ['sec-websocket-protocol'],
  // Not `call_id`: the sound of such a call goes another way, unseen.
  query: { model, intent: /^transcription$/ },
  readRequest: readEvent,
  readReply: (event: JsonObject): ChatReply | undefined =>
    typeof event.type === 'string' ? everyLeaf(event, names) : undefined,
  framing: () => 'ndjson',
  openStream: () => new HeldStream(new RealtimeStreamShape('response.done', () => `event_${randomUUID()}`)),
  offender: offenderBy(/^(?:\/item\/content\/\d+|\/response\/input\/\d+)/, names)
}
