/** What a piece of running sound is heard with: the transcription backend, which says what is spoken in it. */
import { actFor } from '../../base/unscannable.js'
import { type SoundFormat, sampleBytes, silentByte, wavOf } from '../../dialects/sound.js'
import type { Files, UnreadReason } from '../../files/file.js'
import type { Inbound } from '../exchange.js'
import type { Route } from '../request/routes.js'
import type { Piece } from './pieces.js'

/** Silence around a piece, s: models hear a word badly that begins with the sound. */
const breathSeconds = 0.25

/** What is said in a piece. Empty: nothing that anybody hears, so that silence stands for it. */
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

/** Whether running sound is heard on a route. In `observe` it is not held up, and so not heard. */
export function isHeard({ unscannable, mode }: Pick<Route, 'unscannable' | 'mode'>): boolean {
  return mode !== 'observe' && actFor(unscannable, 'audio') === 'scan'
}

/** Silence of the same length, in base64: what nobody heard does not go on. */
export function silenceOf({ bytes }: Piece, format: SoundFormat): string {
  return Buffer.alloc(bytes.length, silentByte(format)).toString('base64')
}
