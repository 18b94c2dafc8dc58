/** A client for configured backends that are called by POST, with its own bounded pool; no redirect is followed. */
import { Pool } from 'undici'
import type { UpstreamSettings } from './settings.js'
import { version } from './version.js'

export interface RemoteSettings {
  /** Its path is a prefix. */
  baseUrl: string
  /** Sent as a bearer token. */
  key: string | undefined
  tls: UpstreamSettings['tls']
  timeoutMs: number
  maxConcurrent: number
}

export interface Remote {
  /**
   * Reads the answer to its end, whatever its status, so that the connection is free again.
   * @throws the transport's own error
   */
  post(
    path: string,
    body: { type: string; bytes: string | Buffer },
    signal: AbortSignal
  ): Promise<{ status: number; bytes: Buffer }>
  close(): Promise<void>
}

/** @param mostAnswer bytes of an answer */
export function openRemote(
  { baseUrl, key, tls, timeoutMs, maxConcurrent }: RemoteSettings,
  mostAnswer: number
): Remote {
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/+$/, '')
  const { ca, cert, key: tlsKey } = tls
  const pool = new Pool(origin, {
    connections: maxConcurrent,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: mostAnswer,
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
    'user-agent': `sluicegate/${version}`,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
  }
  return {
    async post(path, { type, bytes }, signal) {
      const sent = { ...headers, 'content-type': type }
      const answer = await pool.request({ method: 'POST', path: prefix + path, headers: sent, body: bytes, signal })
      return { status: answer.statusCode, bytes: Buffer.from(await answer.body.arrayBuffer()) }
    },
    close: () => pool.destroy()
  }
}
