/** Transcribes pieces of running sound, with the transcription backend. */
import { actFor } from '../../base/unscannable.js'
import { type SoundFormat, sampleBytes, silentByte, wavOf } from '../../dialects/sound.js'
import type { Files, UnreadReason } from '../../files/file.js'
import type { Inbound } from '../exchange.js'
import type { Route } from '../request/routes.js'
import type { Piece } from './pieces.js'

/** Silence added around a piece, s: models mishear a word at the very start of a sound. */
const breathSeconds = 0.25

/** The words of a piece. Empty: no speech was heard, so that silence replaces the piece. */
export type Heard = { text: string } | { reason: UnreadReason }

/** Hears sound for one caller. */
export class Ear {
  readonly #reader: Pick<Files, 'read'>
  readonly #inbound: Inbound

  constructor(reader: Pick<Files, 'read'>, inbound: Inbound) {
    this.#reader = reader
    this.#inbound = inbound
  }

  /** @throws Fault `overloaded` */
  async hear({ bytes, isSilent, again }: Piece, format: SoundFormat): Promise<Heard> {
    if (isSilent) return { text: '' }
    const { caller, cancel } = this.#inbound
    const breath = Buffer.alloc(breathSeconds * format.rate * sampleBytes(format), silentByte(format))
    const reading = await this.#reader.read({
      account: caller.accountId,
      whose: caller.lineage,
      data: wavOf(Buffer.concat([breath, again, bytes, breath]), format).toString('base64'),
      type: 'audio/wav',
      charset: undefined,
      name: '',
      readsPictures: false,
      isGone: () => cancel.reason !== undefined
    })
    if (cancel.reason !== undefined) throw cancel.reason
    if (reading.whole) return { text: reading.texts.map(({ text }) => text).join(' ') }
    return reading.reason === 'nothing_heard' ? { text: '' } : { reason: reading.reason }
  }
}

/** Whether a route transcribes running sound. `observe` must not delay it, and so does not. */
export function isHeard({ unscannable, mode }: Pick<Route, 'unscannable' | 'mode'>): boolean {
  return mode !== 'observe' && actFor(unscannable, 'audio') === 'scan'
}

/** Silence of the same length, in base64: sound without recognised speech is not forwarded. */
export function silenceOf({ bytes }: Piece, format: SoundFormat): string {
  return Buffer.alloc(bytes.length, silentByte(format)).toString('base64')
}
