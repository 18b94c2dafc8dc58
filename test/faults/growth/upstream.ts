/** The backend of what is measured: answers each question with what was laid out for it, whole, in writes, or as a session. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { wholeOf, wires } from '../../support/wires.js'
import type { Answer } from './shape.js'

/** What a backend says where nothing else was laid out for it, by the path that it is asked at: an answer that passes. */
const usual = new Map<string, Answer>([
  ...wires.map((wire): [string, Answer] => {
    const { type, bytes } = wholeOf(wire, 'It is quiet.')
    return [pathOf(wire.path(false)), { type, writes: [bytes] }]
  }),
  ...Object.entries({
    '/v1/embeddings': { object: 'list', model: 'm', data: [] },
    '/v1/messages/count_tokens': { input_tokens: 3 },
    '/v1beta/models/gemini:batchEmbedContents': { embeddings: [] },
    '/api/embed': { model: 'm', embeddings: [] }
  }).map(([path, body]): [string, Answer] => [path, asJson(body)])
])

function asJson(body: unknown): Answer {
  return { type: 'application/json', writes: [JSON.stringify(body)] }
}

function pathOf(target: string): string {
  return new URL(target, 'http://x').pathname
}

function usualAt(target: string): Answer {
  return usual.get(pathOf(target)) ?? asJson({})
}

/** Where the same backend hears sound. */
export const hearing = '/heard/v1'
let pieces = 0
/** Another text in each piece. */
const heard = () => asJson({ text: `It is quiet, ${++pieces}.` })

export interface Backend {
  origin: string
  /** What the next question gets; undefined: what is usual there. */
  answer: Answer | undefined
  /** What a session gets as it opens, and once its client has said all. */
  greeting: string | undefined
  server: readonly string[]
}

export async function openBackend(t: { teardown(fn: () => unknown): unknown }): Promise<Backend> {
  const backend: Backend = { origin: '', answer: undefined, greeting: undefined, server: [] }
  const http = createServer({ keepAlive: true }, (request, response) => {
    request.resume()
    request.once('end', async () => {
      const { type, writes } = request.url!.startsWith(hearing) ? heard() : (backend.answer ?? usualAt(request.url!))
      response.writeHead(200, { 'content-type': type })
      for (const each of writes) {
        if (response.destroyed) return
        if (response.write(each)) await new Promise(setImmediate)
        else await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
      }
      response.end()
    })
  })
  // To lay out the largest takes seconds on a busy machine: no connection ends meanwhile.
  http.keepAliveTimeout = 600_000
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 * 1024 })
  http.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.on('error', () => {})
      if (backend.greeting !== undefined) opened.send(backend.greeting)
      opened.on('message', async (data) => {
        if (!data.toString().includes('"response.create"')) return
        for (const frame of backend.server) await new Promise((resolve) => opened.send(frame, resolve))
      })
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  backend.origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  t.teardown(() => {
    http.closeAllConnections()
    http.close()
    for (const each of sockets.clients) each.terminate()
  })
  return backend
}
