/**
 * The formats of sound as events of a session name them: platform.openai.com/docs/api-reference/realtime,
 * RealtimeAudioFormats.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import { isObject } from '../rewrite.js'
import type { SoundFormat } from '../sound.js'

/** The API's default format. */
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

/** The declared format of one direction, in a session or a response. */
export type FormatTold = SoundFormat | 'unknown' | undefined

/**
 * @param of a session or a response, by the API or by its beta (`input_audio_format`)
 * @returns undefined where it names none, `unknown` for a format that is not supported here
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
