/** One JSON request to a judge over HTTP: its own pool, bounded in size, no redirect followed, the key in no message. */
import { Pool } from 'undici'
import type { Json, JsonObject } from '../base/chat.js'
import type { RemoteJudgeSettings } from '../base/settings.js'
import { version } from '../base/version.js'
import { parseJson } from '../json/parse.js'
import { JudgeFailure } from './adapter.js'

/** Bytes of an answer. A verdict is some hundred bytes; with log-probabilities some ten thousand. */
const maxAnswerBytes = 1024 * 1024

export interface JudgeClient {
  /** @throws JudgeFailure, or the transport's own error */
  post(path: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject>
  close(): Promise<void>
}

export function createClient({ baseUrl, key, tls, timeoutMs, maxConcurrent }: RemoteJudgeSettings): JudgeClient {
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/+$/, '')
  const { ca, cert, key: tlsKey } = tls
  const pool = new Pool(origin, {
    connections: maxConcurrent,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxAnswerBytes,
    connect: {
      timeout: timeoutMs,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(tlsKey === undefined ? {} : { key: tlsKey })
    }
  })
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': `sluicegate/${version}`,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
  }
  return {
    async post(path, body, signal) {
      const text = JSON.stringify(body)
      const answer = await pool.request({ method: 'POST', path: prefix + path, headers, body: text, signal })
      // Read to its end in any case, so that the connection is free again.
      const bytes = Buffer.from(await answer.body.arrayBuffer())
      const status = answer.statusCode
      if (status < 200 || status > 299) {
        const reason = [400, 413, 422].includes(status) ? 'rejected' : 'status'
        throw new JudgeFailure(reason, `the judge answered with status ${status}`)
      }
      const value = objectOf(read(bytes))
      if (value === undefined) throw new JudgeFailure('invalid_response', 'the judge answered with no JSON object')
      return value
    },
    close: () => pool.destroy()
  }
}

function read(bytes: Buffer): Json {
  try {
    return parseJson(bytes)
  } catch {
    // Its message could quote the judge, and the judge the text.
    throw new JudgeFailure('invalid_response', 'the judge answered with something that is not JSON')
  }
}

export function objectOf(value: Json | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

export function arrayOf(value: Json | undefined): Json[] | undefined {
  return Array.isArray(value) ? value : undefined
}
