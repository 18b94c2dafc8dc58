/**
 * The raw sound of a session: its formats as events name them, its loudness, and the same sound as a WAV file or as silence.
 * Formats: platform.openai.com/docs/api-reference/realtime, RealtimeAudioFormats; G.711 by ITU-T.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import { isObject } from '../rewrite.js'

export interface SoundFormat {
  coding: 'pcm' | 'pcmu' | 'pcma'
  /** Samples a second. */
  rate: number
}

/** What the API takes and gives where nobody names another. */
export const usualFormat: SoundFormat = { coding: 'pcm', rate: 24_000 }

const telephone = 8000
const codings: Readonly<Record<string, SoundFormat['coding'] | undefined>> = {
  'audio/pcm': 'pcm',
  'audio/pcmu': 'pcmu',
  'audio/pcma': 'pcma',
  pcm16: 'pcm',
  g711_ulaw: 'pcmu',
  g711_alaw: 'pcma'
}

/** What a session, or a response, says of the format of one direction. */
export type FormatTold = SoundFormat | 'unknown' | undefined

/**
 * @param of a session or a response, by the API or by its beta (`input_audio_format`)
 * @returns undefined where it names none, `unknown` where it names one that nobody here can hear
 */
export function formatIn(of: JsonObject, direction: 'input' | 'output'): FormatTold {
  const { audio } = of
  const half = isObject(audio) ? audio[direction] : undefined
  return formatOf(isObject(half) ? half.format : undefined) ?? formatOf(of[`${direction}_audio_format`])
}

function formatOf(value: Json | undefined): FormatTold {
  if (value === undefined || value === null) return undefined
  const { type, rate } = isObject(value) ? value : { type: value, rate: undefined }
  const coding = typeof type === 'string' && Object.hasOwn(codings, type) ? codings[type] : undefined
  if (coding === undefined) return 'unknown'
  const usual = coding === 'pcm' ? usualFormat.rate : telephone
  const told = rate ?? usual
  return typeof told === 'number' && told >= telephone && told <= 48_000 ? { coding, rate: told } : 'unknown'
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
