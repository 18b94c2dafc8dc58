/** Running sound in which whoever knows where to look finds a text, and a transcription backend that does. */
import { boundaryOf, type FormFile, readForm } from '../../src/dialects/form.js'
import { type SoundFormat, silentByte } from '../../src/dialects/sound.js'
import { type Answer, json, type Recorded } from './upstream.js'

export const pcm: SoundFormat = { coding: 'pcm', rate: 24_000 }

/** Loud samples. */
export function speech(says: string, ms = 400, { coding, rate }: SoundFormat = pcm): Buffer {
  const count = (rate * ms) / 1000
  if (coding !== 'pcm') return Buffer.from(Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 0x80 : 0x00)))
  const bytes = Buffer.alloc(count * 2)
  for (let i = 0; i < count; i++) bytes.writeInt16LE(i % 2 === 0 ? 8000 + (i % 97) : -8000 - (i % 89), i * 2)
  Buffer.from(`{{${says}}}`).copy(bytes, 4000)
  return bytes
}

export const pause = (ms = 400, { coding, rate }: SoundFormat = pcm) =>
  Buffer.alloc((rate * ms * (coding === 'pcm' ? 2 : 1)) / 1000, silentByte({ coding, rate }))

export const wavIn = ({ headers, body }: Recorded) =>
  Buffer.from(
    (readForm(body, boundaryOf(headers['content-type'] ?? '') ?? '', { file: 'audio' }).file as FormFile).data,
    'base64'
  )
export const wordsIn = (bytes: Buffer) =>
  [...bytes.toString('latin1').matchAll(/\{\{(.*?)\}\}/gs)].map(([, text]) => text)
export const saidIn = (request: Recorded) => wordsIn(wavIn(request))
/** The transcription backend. */
export const hears: Answer = (res, request) => json({ text: saidIn(request).join('') })(res, request)

/** A spoken answer in chunks: its sound cut anywhere, with its transcript between. */
export function chunksOf(
  sound: Buffer,
  { transcript = 'Good evening.', step = 9600, more = {} as object } = {}
): object[] {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_800_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
    usage: null
  })
  const chunks = [chunk({ role: 'assistant', refusal: null, audio: { id: 'audio_1', transcript: '' } })]
  const words = transcript.split(/(?<= )/)
  for (let at = 0; at < sound.length; at += step) {
    const word = words.shift()
    if (word !== undefined) chunks.push(chunk({ audio: { transcript: word } }))
    chunks.push(chunk({ audio: { data: sound.subarray(at, at + step).toString('base64'), ...more } }))
  }
  for (const word of words) chunks.push(chunk({ audio: { transcript: word } }))
  return [...chunks, chunk({ audio: { expires_at: 1_800_000_000 } }), chunk({}, 'stop')]
}
/** The same from Gemini, in the type that its models speak. */
export function geminiChunksOf(sound: Buffer, mimeType = 'audio/L16;codec=pcm;rate=24000', step = 9600): object[] {
  const chunk = (parts: object, more: object = {}) => ({
    candidates: [{ content: { role: 'model', ...parts }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 1 },
    modelVersion: 'g'
  })
  const chunks = Array.from({ length: Math.ceil(sound.length / step) }, (_, i) => {
    const data = sound.subarray(i * step, (i + 1) * step).toString('base64')
    return chunk({ parts: [{ inlineData: { mimeType, data } }] })
  })
  return [...chunks, chunk({}, { finishReason: 'STOP' })]
}

export const streamOf =
  (chunks: readonly object[], end = 'data: [DONE]\n\n'): Answer =>
  (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.end(chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('') + end)
  }
