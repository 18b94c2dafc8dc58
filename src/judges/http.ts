/** Sends one JSON request to a judge over HTTP; no error message contains the key. */
import type { Json, JsonObject } from '../base/chat.js'
import { openRemote } from '../base/remote.js'
import type { RemoteJudgeSettings } from '../base/settings.js'
import { parseJson } from '../json/parse.js'
import { JudgeFailure } from './adapter.js'

/** Bytes of an answer. A verdict is some hundred bytes; with log-probabilities some ten thousand. */
const maxAnswerBytes = 1024 * 1024

export interface JudgeClient {
  /** @throws JudgeFailure, or the transport's own error */
  post(path: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject>
  close(): Promise<void>
}

export function createClient(settings: RemoteJudgeSettings): JudgeClient {
  const remote = openRemote(settings, maxAnswerBytes)
  return {
    async post(path, body, signal) {
      const asked = { type: 'application/json', bytes: JSON.stringify(body) }
      const { status, bytes } = await remote.post(path, asked, signal)
      if (status < 200 || status > 299) {
        const reason = [400, 413, 422].includes(status) ? 'rejected' : 'status'
        throw new JudgeFailure(reason, `the judge answered with status ${status}`)
      }
      const value = objectOf(read(bytes))
      if (value === undefined) throw new JudgeFailure('invalid_response', 'the judge answered with no JSON object')
      return value
    },
    close: () => remote.close()
  }
}

function read(bytes: Buffer): Json {
  try {
    return parseJson(bytes)
  } catch {
    // The parser's message is dropped: it could quote the judge, and the judge the text.
    throw new JudgeFailure('invalid_response', 'the judge answered with something that is not JSON')
  }
}

export function objectOf(value: Json | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

export function arrayOf(value: Json | undefined): Json[] | undefined {
  return Array.isArray(value) ? value : undefined
}
