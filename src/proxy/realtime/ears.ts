/**
 * What a session hears with, where its route has sound scanned: the formats that its sound is in, as the upstream tells
 * them, and what says what is spoken in a piece.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { type FormatTold, formatIn, usualFormat } from '../../dialects/openai-realtime/sound.js'
import { isObject } from '../../dialects/rewrite.js'
import type { SoundFormat } from '../../dialects/sound.js'
import type { UnreadReason } from '../../files/file.js'
import { Ear } from '../sound/ear.js'

/** How long an upstream has to say in which format it takes sound, ms. */
const longestSettling = 10_000

/** Events in which an upstream tells what holds for a session. */
const sessionTold = /^(?:transcription_)?session\.(?:created|updated)$/
/** Those by which a client changes it. */
export const sessionChange = /^(?:transcription_)?session\.update$/

interface Change {
  /** The client's own name for the event. */
  id: string | null
  input: FormatTold
}

export class Ears extends Ear {
  #input: FormatTold
  #output: FormatTold = usualFormat
  /** Changes of the session that the upstream has not answered, in their order, by the gateway's name for the event. */
  readonly #changes = new Map<string, Change>()
  #whenSettled: (() => void)[] = []

  /**
   * The format that the client's next sound will be taken for.
   * @throws Fault `unscannable_content` where the upstream does not say it, or says one that cannot be heard
   */
  async inputFormat(): Promise<SoundFormat> {
    const late = new AbortController()
    if (!this.#isSettled) {
      const settled = new Promise<void>((resolve) => this.#whenSettled.push(resolve))
      const waited = setTimeout(longestSettling, undefined, { signal: late.signal, ref: false }).catch(() => undefined)
      await Promise.race([settled, waited])
      late.abort()
    }
    if (this.#isSettled && typeof this.#input === 'object') return this.#input
    throw unheard(this.#isSettled ? 'unsupported_type' : 'too_slow', '/audio')
  }

  /** What a response says of its own format counts for it. */
  outputFormat(response: JsonObject | undefined): FormatTold {
    return (response === undefined ? undefined : formatIn(response, 'output')) ?? this.#output
  }

  get #isSettled(): boolean {
    return this.#changes.size === 0 && this.#input !== undefined
  }

  /**
   * Told of a change of the session that is sent on: until the upstream has answered it, nobody knows what sound will be
   * taken for. The event gets a name that no other event has.
   */
  changes(event: JsonObject): void {
    const { session, event_id: own } = event
    const input = isObject(session) ? formatIn(session, 'input') : undefined
    // No client can know it, and give it to another event.
    const id = `event_${randomUUID()}`
    this.#changes.set(id, { id: typeof own === 'string' ? own : null, input })
    event.event_id = id
  }

  /**
   * Told of each event of the upstream. An error gets back the name that the client gave to what it is about.
   * @returns whether it did
   */
  told(event: JsonObject): boolean {
    const { type, session, error } = event
    let isRenamed = false
    if (sessionTold.test(String(type)) && isObject(session)) {
      const input = formatIn(session, 'input')
      this.#output = formatIn(session, 'output') ?? this.#output
      const [next] = this.#changes
      if (String(type).endsWith('.updated') && next !== undefined) {
        const [id, { input: wanted }] = next
        // Told of a change of something else, sound would be taken for what it was before this one.
        if (wanted === undefined || input === undefined || isSame(wanted, input)) this.#changes.delete(id)
        this.#input = input ?? wanted ?? this.#input
      } else this.#input = input ?? this.#input
      this.#input ??= usualFormat
    } else if (type === 'error' && isObject(error) && typeof error.event_id === 'string') {
      const change = this.#changes.get(error.event_id)
      if (change === undefined) return false
      this.#changes.delete(error.event_id)
      error.event_id = change.id
      isRenamed = true
    }
    if (this.#isSettled) {
      for (const resolve of this.#whenSettled) resolve()
      this.#whenSettled = []
    }
    return isRenamed
  }
}

function isSame(one: FormatTold, other: FormatTold): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other
  return one.coding === other.coding && one.rate === other.rate
}

export function unheard(reason: UnreadReason, pointer: string): Fault {
  return new Fault('unscannable_content', {
    message: `The event holds content that cannot be evaluated (audio: ${reason}).`,
    fields: { details: { pointer, reason } }
  })
}
