/** Forms as SDKs send them, as the objects that they are read as: every value is a text or a file. */
import { bytes, combine, type Fields } from './combine.js'

const sound = Buffer.concat([Buffer.from('494433040000', 'hex'), Buffer.from(bytes, 'base64')]).toString('base64')
const file = (filename: string, mime_type: string): Fields => ({ file: { filename, mime_type, data: sound } })
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(bytes, 'base64')]).toString('base64')
const image = { filename: 'boat.png', mime_type: 'image/png', data: png }

const files = [file('meeting.mp3', 'audio/mpeg'), file('note.mp3', 'application/octet-stream')]
const prompts: Fields[] = [{}, { prompt: 'A talk about harbours.' }, { prompt: 'Names: Ada, Grace.', language: 'en' }]

export const transcriptions = (count: number): Fields[] =>
  combine(
    count,
    [{ model: 'whisper-1' }, { model: 'gpt-4o-transcribe' }],
    files,
    prompts,
    [{}, { temperature: '0' }],
    [
      { response_format: 'json' },
      { response_format: 'verbose_json', 'timestamp_granularities[]': ['word', 'segment'] },
      { response_format: 'srt' },
      { stream: 'true', 'include[]': ['logprobs'] },
      { chunking_strategy: '{"type":"server_vad","prefix_padding_ms":300}' },
      { 'chunking_strategy[type]': 'server_vad', 'known_speaker_names[]': ['Ada'] }
    ]
  )

export const translations = (count: number): Fields[] =>
  combine(
    count,
    [{ model: 'whisper-1' }, { model: 'large-v3' }],
    files,
    prompts,
    [{}, { temperature: '0.2' }],
    [{}, { response_format: 'text' }, { response_format: 'vtt' }]
  )

export const edits = (count: number): Fields[] =>
  combine(
    count,
    [{ model: 'gpt-image-1' }, { model: 'dall-e-2' }],
    [{ image }, { 'image[]': [image, image] }],
    [{}, { mask: image }],
    [{ prompt: 'Add a red boat.' }, { prompt: 'Make it night.', user: 'u1' }],
    [{}, { n: '2', size: '1024x1024' }, { background: 'transparent', quality: 'high' }]
  )
