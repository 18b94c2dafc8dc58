/** OpenAI's transcriptions on the demo backend: it transcribes nothing, and answers with the size of the sound. */
import type { JsonObject } from '../../base/chat.js'
import type { FormFile } from '../../dialects/form.js'
import { type Call, DemoError, send, sendEvents } from './wire.js'

const seconds = 1

export function transcriptions({ body, response }: Call): void {
  const text = `The demo backend cannot hear. It was sent ${sizeOf(body.file as JsonObject | undefined)} bytes of sound.`
  const subtitle = (mark: string) => `00:00:00${mark}000 --> 00:00:01${mark}000\n${text}\n`
  if (body.stream === 'true') {
    const deltas = (text.match(/\S+\s*/g) ?? []).map((delta) => ({ type: 'transcript.text.delta', delta }))
    sendEvents(response, [...deltas, { type: 'transcript.text.done', text }])
  } else if (body.response_format === 'text') {
    sendText(response, `${text}\n`)
  } else if (body.response_format === 'srt') {
    sendText(response, `1\n${subtitle(',')}\n`)
  } else if (body.response_format === 'vtt') {
    sendText(response, `WEBVTT\n\n${subtitle('.')}\n`)
  } else if (body.response_format === 'verbose_json') {
    const words = text.split(' ').map((word) => ({ word, start: 0, end: seconds }))
    const segments = [{ id: 0, start: 0, end: seconds, text }]
    send(response, 200, { task: 'transcribe', language: 'english', duration: seconds, text, segments, words })
  } else {
    send(response, 200, { text, usage: { type: 'duration', seconds } })
  }
}

function sizeOf(file: JsonObject | undefined): number {
  if (typeof file?.data !== 'string') throw new DemoError(400, 'invalid_file', '"file" must be a file.')
  return Buffer.from((file as FormFile).data, 'base64').length
}

function sendText(response: Call['response'], text: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
}
