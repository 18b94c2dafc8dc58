/**
 * Transcribes sound with an OpenAI-compatible backend (`transcription` of the configuration), so that the words can be
 * judged. Bounded in size, number and time; fair between keys; transcripts are remembered like texts of files. Every
 * failure leaves the sound unread.
 */
import { Fault } from '../../base/errors.js'
import { Places } from '../../base/places.js'
import { openRemote } from '../../base/remote.js'
import type { TranscriptionSettings } from '../../base/settings.js'
import { writeForm } from '../../dialects/form.js'
import { beginsAsSound } from '../../dialects/media.js'
import { isObject } from '../../dialects/rewrite.js'
import type { FileReport, FileRequest, Files, Reading, UnreadReason } from '../../files/file.js'
import { Memory } from '../../files/memory.js'
import { type Decoded, remembering } from '../../files/remembering.js'
import { parseJson } from '../../json/parse.js'

export interface Transcriber extends Pick<Files, 'read'> {
  close(): Promise<void>
}

/** Bytes of an answer. */
const mostAnswer = 4 * 1024 * 1024
/** The place of a text in a finding. */
const place = 'transcript'
/** File endings for backends, by the containers' names in media types. */
const endings: Readonly<Record<string, string>> = {
  wav: 'wav',
  'x-wav': 'wav',
  wave: 'wav',
  mp3: 'mp3',
  mpeg: 'mp3',
  flac: 'flac',
  'x-flac': 'flac',
  ogg: 'ogg',
  opus: 'ogg',
  webm: 'webm',
  mp4: 'm4a',
  m4a: 'm4a',
  'x-m4a': 'm4a'
}
/** Reasons for statuses that concern the sound itself; other statuses are failures of the backend. */
const reasons: Readonly<Record<number, UnreadReason>> = {
  400: 'damaged',
  413: 'too_large',
  415: 'unsupported_type',
  422: 'damaged'
}
const retryAfter = { 'retry-after': '2' }

export function openTranscriber(settings: TranscriptionSettings, report: FileReport): Transcriber {
  const { model, timeoutMs, soundBytes } = settings
  const remote = openRemote(settings, mostAnswer)
  const places = new Places({
    most: settings.maxConcurrent,
    isFull: (waiting, whose) => waiting.isFullFor(whose, settings.queue),
    refusal: () => new Fault('overloaded', { headers: retryAfter })
  })

  async function ask(form: { type: string; bytes: Buffer }): Promise<Reading> {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const { status, bytes } = await remote.post('/audio/transcriptions', form, signal)
      if (status !== 200) return unread(reasons[status] ?? 'reader_failed')
      const value = parseJson(bytes)
      if (!isObject(value) || typeof value.text !== 'string') return unread('reader_failed')
      // An empty transcript does not prove silence: the model may have missed words.
      if (value.text.trim() === '') return unread('nothing_heard')
      return { whole: true, kind: 'sound', texts: [{ text: value.text, where: place }], hasPictures: false }
    } catch {
      // The error is not passed on: a message of the transport or the parser could quote the words.
      return unread(signal.aborted ? 'too_slow' : 'reader_failed')
    }
  }

  async function hear({ whose, isGone }: FileRequest, { head, parts }: Decoded): Promise<Reading> {
    const [family, container = ''] = head.type.split('/', 2)
    const ending = family === 'audio' && Object.hasOwn(endings, container) ? endings[container] : undefined
    if (ending === undefined) return unread('unsupported_type')
    const bytes = Buffer.concat(parts)
    // Backends that trust the name and backends that trust the bytes would hear different things.
    if (!beginsAsSound(bytes, container)) return unread('type_mismatch')
    const file = { filename: `sound.${ending}`, mime_type: head.type, data: bytes.toString('base64') }
    const letGo = await places.take(whose)
    try {
      return isGone() ? unread('reader_failed') : await ask(writeForm({ file, model, response_format: 'json' }))
    } finally {
      letGo()
    }
  }

  return {
    read: remembering({ most: soundBytes, memory: new Memory(), report }, hear),
    close: () => remote.close()
  }
}

function unread(reason: UnreadReason): Reading {
  return { whole: false, reason }
}
