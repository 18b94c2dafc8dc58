/**
 * The client's sound, on routes that scan it. It is held until it forms a piece that can be transcribed, and forwarded
 * once its words are judged as the user's. Pieces without speech are replaced by silence; refused pieces are not
 * forwarded.
 */
import { isBase64 } from '../../base/base64.js'
import type { ChatRequest, Json, JsonObject, Media } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { isObject, pointerSegments, setOwn } from '../../dialects/rewrite.js'
import { type SoundFormat, sampleBytes } from '../../dialects/sound.js'
import type { Forward, Reply } from '../exchange.js'
import { silenceOf } from '../sound/ear.js'
import { type Piece, SoundPieces } from '../sound/pieces.js'
import { type Ears, unheard } from './ears.js'
import type { Session } from './session.js'

/** Events without effect on the held sound: they may overtake it. */
const passing = new Set([
  'response.cancel',
  'output_audio_buffer.clear',
  'conversation.item.truncate',
  'conversation.item.delete',
  'conversation.item.retrieve'
])
const appendFields = new Set(['type', 'event_id', 'audio'])
/** Most sounds in one event, as in one request. */
const mostSounds = 20
const append = 'input_audio_buffer.append'

/** The refusal within a turn, repeated when the client commits the rest of the turn. */
type Refusal = { reply: Reply } | { fault: Fault }

export class SpokenSound {
  readonly #session: Session
  readonly #ears: Ears
  readonly #refuse: (reply: Reply, event: JsonObject) => Promise<void>
  #format: SoundFormat | undefined
  #pieces: SoundPieces | undefined
  #refusal: Refusal | undefined

  /** @param refuse reports the refusal to the client */
  constructor(session: Session, ears: Ears, refuse: (reply: Reply, event: JsonObject) => Promise<void>) {
    this.#session = session
    this.#ears = ears
    this.#refuse = refuse
  }

  /**
   * Takes an event of a client before it is judged.
   * @returns whether the event is handled completely
   * @throws Fault that refuses it
   */
  async take(event: JsonObject): Promise<boolean> {
    const type = String(event.type)
    const running = type === append ? soundIn(event) : undefined
    if (running !== undefined) {
      await this.#append(running, event)
      return true
    }
    if (type === 'input_audio_buffer.clear') {
      this.#pieces?.drop()
      this.#refusal = undefined
      return false
    }
    if (passing.has(type)) return false
    const rest = this.#pieces?.flush()
    const isTold = rest !== undefined && !(await this.#send(rest, event))
    const refusal = this.#refusal
    if (type !== 'input_audio_buffer.commit' || refusal === undefined) return false
    this.#refusal = undefined
    if (!isTold) await this.#tell(refusal, event)
    // The rest of a refused turn is discarded.
    await this.#session.command({ type: 'input_audio_buffer.clear' })
    return true
  }

  async #append(sound: Buffer, event: JsonObject): Promise<void> {
    try {
      const format = await this.#ears.inputFormat()
      if (this.#pieces === undefined || this.#format !== format) this.#pieces = new SoundPieces(format)
      this.#format = format
    } catch (error) {
      if (error instanceof Fault) this.#refusal = { fault: error }
      throw error
    }
    for (const piece of this.#pieces.add(sound)) await this.#send(piece, event)
  }

  /**
   * @param event the one that ended the piece
   * @returns whether it was forwarded; otherwise the client was told
   */
  async #send(piece: Piece, event: JsonObject): Promise<boolean> {
    const session = this.#session
    const format = this.#format!
    let refusal: Refusal | undefined
    let audio = silenceOf(piece, format)
    try {
      const text = piece.isSilent ? '' : await this.#hear(piece, format)
      if (text !== '') {
        audio = piece.bytes.toString('base64')
        const verdict = await this.#judge(text, audio)
        if (!('bytes' in verdict)) refusal = { reply: verdict }
      }
    } catch (error) {
      if (session.isEnded) throw error
      refusal = { fault: error instanceof Fault ? error : new Fault('internal_error', { cause: error }) }
    }
    if (refusal === undefined) {
      await session.upstream.send(JSON.stringify({ type: append, audio }))
      return true
    }
    this.#refusal = refusal
    this.#pieces!.refused()
    await this.#tell(refusal, event)
    // The earlier pieces of the turn are an incomplete utterance.
    await session.command({ type: 'input_audio_buffer.clear' })
    return false
  }

  async #hear(piece: Piece, format: SoundFormat): Promise<string> {
    const { deps, inbound } = this.#session
    const charged = await deps.admission.charge(inbound.caller, 1)
    if (charged instanceof Fault) throw charged
    const heard = await this.#ears.hear(piece, format)
    if ('reason' in heard) throw unheard(heard.reason, '/audio')
    return heard.text
  }

  async #judge(text: string, audio: string): Promise<Forward | Reply> {
    const { route, inbound, requests } = this.#session
    // Base64 that reads as words is judged as text too.
    const { media: _, ...chat } = route.spoken.readRequest({ type: append, audio }, inbound.target)
    const parts = [...chat.parts, { role: 'user', text, pointer: '/audio#transcript', file: 'heard' } as const]
    // A reviewer sees the words, and the permit covers the same words, since sound never repeats exactly.
    const { verdict } = await requests.judgeSpoken({ type: append, transcript: text }, { ...chat, parts, media: [] })
    return verdict
  }

  async #tell(refusal: Refusal, event: JsonObject): Promise<void> {
    if ('reply' in refusal) return this.#refuse(refusal.reply, event)
    const { fault } = refusal
    if (fault.status >= 500) this.#session.report(fault)
    await this.#session.tellFault(fault, typeof event.event_id === 'string' ? event.event_id : undefined)
  }

  /**
   * Transcribes the sound of an event that holds all of it, and replaces sound without speech by silence.
   * @returns the content to judge
   * @throws Fault `unscannable_content`
   */
  async within(event: JsonObject, chat: ChatRequest): Promise<ChatRequest> {
    const sounds = chat.media.filter(({ kind }) => kind === 'audio')
    if (sounds.length === 0) return chat
    if (sounds.length > mostSounds) throw unheard('too_large', sounds[mostSounds]!.pointer)
    const format = await this.#ears.inputFormat()
    let { parts, joined, media } = chat
    for (const sound of sounds) {
      const text = await this.#hearLeaf(event, sound, format)
      const run = parts.flatMap((part, index) => (isBeside(part, sound) ? [index] : []))
      if (text !== '') {
        parts = [...parts, { role: sound.role ?? 'user', text, pointer: `${sound.pointer}#transcript`, file: 'heard' }]
        if (run.length > 0) joined = [...joined, [...run, parts.length - 1]]
      }
      media = media.filter((each) => each !== sound)
    }
    return { ...chat, parts, joined, media }
  }

  async #hearLeaf(event: JsonObject, { pointer }: Media, format: SoundFormat): Promise<string> {
    const segments = pointerSegments(pointer)
    const name = segments.pop()!
    let holder: Json = event
    for (const segment of segments) holder = (holder as Record<string, Json>)[segment]!
    const data = isObject(holder) ? holder[name] : undefined
    if (typeof data !== 'string' || !isBase64(data)) throw unheard('bad_encoding', pointer)
    const bytes = Buffer.from(data, 'base64')
    if (bytes.length % sampleBytes(format) !== 0) throw unheard('damaged', pointer)
    const piece: Piece = { bytes, isSilent: false, again: Buffer.alloc(0) }
    const heard = await this.#ears.hear(piece, format)
    if ('reason' in heard) throw unheard(heard.reason, pointer)
    if (heard.text === '') setOwn(holder as JsonObject, name, silenceOf(piece, format))
    return heard.text
  }
}

/** The sound of an append event with no other field. Any other event is judged as usual, and its sound apart. */
function soundIn(event: JsonObject): Buffer | undefined {
  const { audio } = event
  const isPlain =
    typeof audio === 'string' && isBase64(audio) && Object.keys(event).every((name) => appendFields.has(name))
  return isPlain ? Buffer.from(audio, 'base64') : undefined
}

const said = /\/(?:text|transcript)$/

/** Whether a text belongs to the same item and role. */
function isBeside({ role, pointer, isKey }: ChatRequest['parts'][number], sound: Media): boolean {
  const item = sound.pointer.slice(0, sound.pointer.indexOf('/content/') + 1)
  return isKey !== true && role === (sound.role ?? 'user') && said.test(pointer) && pointer.startsWith(item)
}
