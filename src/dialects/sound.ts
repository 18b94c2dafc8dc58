/**
 * Raw sound: its samples, conversion to WAV and to silence, the contract for finding it in stream events, and writing
 * it back after transcription. G.711 by ITU-T.
 */
import type { JsonObject } from '../base/chat.js'
import { parseJson } from '../json/parse.js'
import type { HeardSound, StreamSink, WireEvent } from './reply-stream.js'
import { isObject } from './rewrite.js'

export interface SoundFormat {
  coding: 'pcm' | 'pcmu' | 'pcma'
  /** Samples a second. */
  rate: number
}

/** Bytes of one sample: both codings of telephones have one. */
export function sampleBytes({ coding }: SoundFormat): 1 | 2 {
  return coding === 'pcm' ? 2 : 1
}

/** The byte that silence consists of. */
export function silentByte({ coding }: SoundFormat): number {
  return coding === 'pcm' ? 0 : coding === 'pcmu' ? 0xff : 0xd5
}

/** Silence of the same length, in base64. */
export function silenceFor(base64: string, byte: number): string {
  return Buffer.alloc(Buffer.byteLength(base64, 'base64'), byte).toString('base64')
}

function decodeUlaw(byte: number): number {
  const code = ~byte & 0xff
  const size = ((((code & 0x0f) << 3) + 0x84) << ((code & 0x70) >> 4)) - 0x84
  return (code & 0x80) === 0 ? size : -size
}

function decodeAlaw(byte: number): number {
  const code = byte ^ 0x55
  const exponent = (code & 0x70) >> 4
  const low = ((code & 0x0f) << 4) + 8
  const size = exponent === 0 ? low : (low + 0x100) << (exponent - 1)
  return (code & 0x80) === 0 ? -size : size
}

const tables = {
  pcmu: Int16Array.from({ length: 256 }, (_, byte) => decodeUlaw(byte)),
  pcma: Int16Array.from({ length: 256 }, (_, byte) => decodeAlaw(byte))
}

/** The sample that begins at a byte, of 16 bits. */
export function sampleAt(bytes: Buffer, at: number, { coding }: SoundFormat): number {
  return coding === 'pcm' ? bytes.readInt16LE(at) : tables[coding][bytes[at]!]!
}

const headBytes = 44

/** A WAV file of 16-bit samples, one channel. */
export function wavOf(bytes: Buffer, format: SoundFormat): Buffer {
  const count = Math.floor(bytes.length / sampleBytes(format))
  const wav = Buffer.alloc(headBytes + count * 2)
  wav.write('RIFF', 0, 'latin1')
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8, 'latin1')
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(format.rate, 24)
  wav.writeUInt32LE(format.rate * 2, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36, 'latin1')
  wav.writeUInt32LE(count * 2, 40)
  if (format.coding === 'pcm') bytes.copy(wav, headBytes, 0, count * 2)
  else for (let i = 0; i < count; i++) wav.writeInt16LE(sampleAt(bytes, i, format), headBytes + i * 2)
  return wav
}

/** The steps of an event for the transcription stage, in order. */
export type SoundStep =
  /** Sound that continues its place, and a function that writes an event with a piece of it. */
  | { place: string; format: SoundFormat; bytes: Buffer; write: (base64: string) => string }
  /** The end of one place, or of all. */
  | { ends: string | 'all' }
  /** An event without sound passes unchanged. */
  | { event: WireEvent }

/** Reads the sound of one stream. Sound that it leaves in events is not transcribed, and follows `unscannable`. */
export interface SpelledSound {
  take(event: WireEvent): SoundStep[]
}

/** @returns undefined for malformed data, which the judging stage will refuse */
export function parseEvent(data: string): JsonObject | undefined {
  try {
    const value = parseJson(data, { anyNumbers: true })
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** UTF-16 units of sound in one event that leaves: whole samples, in whole units of base64. */
const soundUnits = 64 * 1024

/** The events of a stream with transcribed sound. */
export class HeardEvents {
  /** By event, its transcript, and the part of it that may be sent. */
  readonly #heard = new WeakMap<JsonObject, { sound: HeardSound; said: { text: string } }>()

  /** @param pointer of the channel in which the transcript is judged */
  take(event: JsonObject, sound: HeardSound, sink: StreamSink, pointer: string): void {
    const said = { text: sound.text }
    this.#heard.set(event, { sound, said })
    if (sound.text !== '') sink.delta(pointer, said, 'text')
  }

  /**
   * The permitted sound of an event in base64, one string for each event to send; undefined where none was transcribed.
   * If a part of the transcript was redacted, silence replaces the whole piece.
   */
  pieces(event: JsonObject, whole: string): string[] | undefined {
    const heard = this.#heard.get(event)
    if (heard === undefined) return undefined
    const { sound, said } = heard
    const left = said.text === sound.text ? whole : silenceFor(whole, sound.silence)
    const pieces: string[] = []
    for (let at = 0; at < left.length; at += soundUnits) pieces.push(left.slice(at, at + soundUnits))
    return pieces
  }
}
