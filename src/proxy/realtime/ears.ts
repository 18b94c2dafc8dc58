/**
 * The hearing of a session whose route scans sound: the formats of its sound, as the upstream reports them, and the
 * transcription of pieces.
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

/** Events in which an upstream reports the state of a session. */
const sessionTold = /^(?:transcription_)?session\.(?:created|updated)$/
/** Events in which a client changes it. */
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
   * The format in which the upstream will read the client's next sound.
   * @throws Fault `unscannable_content` where the upstream reports none, or one that cannot be transcribed
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

  /** The format of a response: its own report, else the session's. */
  outputFormat(response: JsonObject | undefined): FormatTold {
    return (response === undefined ? undefined : formatIn(response, 'output')) ?? this.#output
  }

  get #isSettled(): boolean {
    return this.#changes.size === 0 && this.#input !== undefined
  }

  /**
   * Notes a change of the session that is forwarded: until the upstream answers it, the format of sound is unknown. The
   * event gets a unique name.
   */
  changes(event: JsonObject): void {
    const { session, event_id: own } = event
    const input = isObject(session) ? formatIn(session, 'input') : undefined
    // Random, so that no client can give the same name to another event.
    const id = `event_${randomUUID()}`
    this.#changes.set(id, { id: typeof own === 'string' ? own : null, input })
    event.event_id = id
  }

  /**
   * Called with each event of the upstream. In an error, restores the client's own name of the faulty event.
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
        // This may answer an earlier change of something else: then the new format does not hold yet.
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
