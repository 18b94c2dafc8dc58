/**
 * The upstream's transcripts of the user. They are the caller's words, so they are judged as requests once complete;
 * until then their pieces wait. A refused transcript's item is deleted from the conversation, and the answer to it is
 * cancelled.
 */
import type { JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { readTranscript } from '../../dialects/openai-realtime/request.js'
import { parseJson } from '../../json/parse.js'
import { refuseCredential } from '../answer/read.js'
import { refusalOf } from './requests.js'
import type { Session } from './session.js'

export const transcriptPrefix = 'conversation.item.input_audio_transcription.'

interface Pending {
  pieces: string[]
  spelled: string
}

export class Transcripts {
  readonly #session: Session
  readonly #withhold: (itemId: string) => void
  readonly #pending = new Map<string, Pending>()
  #held = 0

  /** @param withhold called with an item that must not be shown any more */
  constructor(session: Session, withhold: (itemId: string) => void) {
    this.#session = session
    this.#withhold = withhold
  }

  async take(event: JsonObject, type: string, text: string): Promise<void> {
    const id = `${String(event.item_id)}/${String(event.content_index ?? 0)}`
    if (type === `${transcriptPrefix}delta`) {
      const pending = this.#pending.get(id) ?? { pieces: [], spelled: '' }
      this.#pending.set(id, pending)
      if (typeof event.delta === 'string') {
        pending.pieces.push(event.delta)
        pending.spelled += event.delta
      }
      this.#held += text.length
      if (this.#held > this.#session.route.hold.bytes) {
        throw new Fault('upstream_error', { internal: 'a transcript is too long' })
      }
      return
    }
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#held = 0
    await this.#settle(parseJson(text) as JsonObject, pending)
  }

  async #settle(event: JsonObject, pending: Pending | undefined): Promise<void> {
    const session = this.#session
    const spelled = pending?.spelled ?? ''
    refuseCredential(session.credential, spelled)
    // Pieces that differ from the whole are judged with it, and never shown.
    const isTold = event.transcript === spelled
    const { verdict, exchange } = await session.requests.judgeSpoken(event, readTranscript(event, spelled))
    if (!('bytes' in verdict)) {
      await session.tell(refusalOf(verdict, {}))
      if (typeof event.item_id === 'string') {
        this.#withhold(event.item_id)
        await session.command({ type: 'response.cancel' })
        await session.command({ type: 'conversation.item.delete', item_id: event.item_id })
      }
      return
    }
    session.conversation.heard(event.item_id, event.transcript)
    if (isTold && exchange.redacted === 0) {
      // Written anew, since other fields of a piece were not judged.
      const { item_id = '', content_index = 0 } = event
      for (const delta of pending?.pieces ?? []) {
        await session.tell({ type: `${transcriptPrefix}delta`, item_id, content_index, delta })
      }
    }
    await session.tell(exchange.body)
  }
}
