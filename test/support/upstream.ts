/**
 * A chat backend of which a test controls every byte: it records what it got and answers as told. Real sockets, so that
 * framing, cuts and stalls are the wire's own.
 */
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Recorded {
  method: string
  url: string
  headers: IncomingMessage['headers']
  rawHeaders: string[]
  body: Buffer
  /** Resolves when the connection of this request is closed by the other side before the answer was complete. */
  aborted: Promise<void>
}

export type Answer = (res: ServerResponse, request: Recorded) => void

export interface FakeUpstream {
  url: string
  origin: string
  requests: Recorded[]
  /** Connections that were opened. */
  connections: number
  /** What the next requests get. */
  answer: Answer
  close(): Promise<void>
}

/** Where no connection is made. The port of a server that was closed may be another's by then: another test's answers. */
export const nowhere = 'http://127.0.0.1:1'

export async function fakeUpstream(t: { teardown(fn: () => unknown): unknown }, answer: Answer): Promise<FakeUpstream> {
  const sockets = new Set<Socket>()
  const server = createServer({ keepAlive: true })
  const upstream: FakeUpstream = {
    url: '',
    origin: '',
    requests: [],
    connections: 0,
    answer,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      })
  }
  server.on('connection', (socket) => {
    upstream.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = []
    const aborted = new Promise<void>((resolve) => {
      res.once('close', () => {
        if (!res.writableFinished) resolve()
      })
    })
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const request: Recorded = {
        method: req.method ?? '',
        url: req.url ?? '',
        headers: req.headers,
        rawHeaders: req.rawHeaders,
        body: Buffer.concat(chunks),
        aborted
      }
      upstream.requests.push(request)
      upstream.answer(res, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  upstream.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  upstream.url = upstream.origin
  t.teardown(() => upstream.close())
  return upstream
}

/** A whole answer. */
export function json(body: unknown, status = 200, headers: OutgoingHttpHeaders = {}): Answer {
  return (res) => {
    const bytes = Buffer.from(JSON.stringify(body))
    res.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers }).end(bytes)
  }
}

export function completion(content: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    ...extra
  }
}

/** The chunks of one choice whose content is given piece by piece. */
export function chunks(...contents: string[]): Record<string, unknown>[] {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' }
  return [
    { ...base, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
    ...contents.map((content) => ({ ...base, choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  ]
}

export function sseText(events: readonly unknown[], done = true): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + (done ? 'data: [DONE]\n\n' : '')
}

/** A stream, optionally in pieces of a given size, each in a network write of its own. */
export function sse(
  text: string,
  {
    piece = text.length,
    gapMs = 0,
    type = 'text/event-stream',
    encoding = 'utf8'
  }: { piece?: number; gapMs?: number; type?: string; encoding?: 'utf8' | 'latin1' | undefined } = {}
): Answer {
  return async (res) => {
    res.writeHead(200, { 'content-type': type })
    const bytes = Buffer.from(text, encoding)
    for (let at = 0; at < bytes.length && !res.destroyed; at += piece) {
      res.write(bytes.subarray(at, at + piece))
      await new Promise((resolve) => (gapMs === 0 ? setImmediate(resolve) : setTimeout(resolve, gapMs)))
    }
    res.end()
  }
}

/** Writes these bytes as they are, status line and all, and closes unless told to keep the connection. */
export function raw(bytes: string | Buffer, { close = true }: { close?: boolean } = {}): Answer {
  return (res) => {
    const socket = res.socket!
    socket.write(bytes, () => {
      if (close) socket.end()
    })
  }
}

export const stall: Answer = () => {}
export const reset: Answer = (res) => {
  res.socket!.resetAndDestroy()
}
