/** The Realtime API's two ends for a test: a backend in a process of its own, and a client that keeps all it is sent. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type ClientOptions, WebSocket } from 'ws'

type Teardown = { teardown(fn: () => unknown): unknown }
// biome-ignore lint/suspicious/noExplicitAny: tests read what the wire gave
export type Event = Record<string, any>

export interface Script {
  frames: string[]
  gapMs?: number
  /** False: it stops when it is told to. */
  ignoreCancel?: boolean
  /** A code, or the connection cut. */
  close?: number | 'cut'
  repeat?: number
}

export interface RealtimeUpstream {
  origin: string
  child: ChildProcess
  upgrades: { url: string; headers: Record<string, string> }[]
  /** What clients' events became, as text. */
  received: string[]
  closes: { code: number; at: number }[]
  /** How often a repeated script has been played. */
  played: number
  /** By the type of the event that is answered. */
  script(scripts: Record<string, Script>): Promise<void>
  greet(...events: Event[]): Promise<void>
  send(script: Script): Promise<void>
  refuse(status: number): Promise<void>
  /** Reads no more, or goes on. */
  pause(on: boolean): Promise<void>
}

const program = fileURLToPath(new URL('./realtime-process.mjs', import.meta.url))

export async function realtimeUpstream(t: Teardown): Promise<RealtimeUpstream> {
  const child = fork(program, { execArgv: [], stdio: 'inherit' })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const acknowledged: (() => void)[] = []
  const tell = (message: object) =>
    new Promise<void>((resolve) => {
      acknowledged.push(resolve)
      child.send(message)
    })
  const upstream: RealtimeUpstream = {
    origin: '',
    child,
    upgrades: [],
    received: [],
    closes: [],
    played: 0,
    script: (scripts) => tell({ kind: 'script', scripts }),
    greet: (...events) => tell({ kind: 'greeting', frames: events.map((event) => JSON.stringify(event)) }),
    send: (script) => tell({ kind: 'send', ...script }),
    pause: (on) => tell({ kind: 'pause', on }),
    refuse: (status) => tell({ kind: 'refuse', status })
  }
  await new Promise<void>((resolve) => {
    // biome-ignore lint/suspicious/noExplicitAny: what the process says
    child.on('message', (message: any) => {
      if (message.kind === 'listening') {
        upstream.origin = `http://127.0.0.1:${message.port}`
        resolve()
      } else if (message.kind === 'upgrade') upstream.upgrades.push(message)
      else if (message.kind === 'event') upstream.received.push(message.text)
      else if (message.kind === 'close') upstream.closes.push(message)
      else if (message.kind === 'played') upstream.played++
      else if (message.kind === 'done') acknowledged.shift()?.()
    })
  })
  return upstream
}

/** Waits, for as long as a loaded machine may need. */
export async function until(check: () => boolean, tries = 2000): Promise<boolean> {
  for (let i = 0; i < tries; i++) {
    if (check()) return true
    await setTimeout(5)
  }
  return false
}

export interface Client {
  socket: WebSocket
  events: Event[]
  closed: { code: number; reason: string } | undefined
  send(event: Event | string): void
  /** The first event that fits, from the `since`th on. Fails the caller's test by throwing. */
  event(fits: string | ((event: Event) => boolean), since?: number): Promise<Event>
  /** All that was said to it, by any way. */
  text(): string
  gone(): Promise<{ code: number; reason: string }>
}

/** @param url of the gateway, `http…` */
export async function open(
  t: Teardown,
  url: string,
  options: ClientOptions & { protocols?: string[] } = {},
  path = '/v1/realtime?model=gpt-realtime'
): Promise<Client> {
  const socket = new WebSocket(url.replace(/^http/, 'ws') + path, options.protocols ?? [], options)
  t.teardown(() => socket.terminate())
  const client: Client = {
    socket,
    events: [],
    closed: undefined,
    send: (event) => socket.send(typeof event === 'string' ? event : JSON.stringify(event)),
    async event(fits, since = 0) {
      const matches = typeof fits === 'string' ? ({ type }: Event) => type === fits : fits
      const found = () => client.events.slice(since).find(matches)
      if (!(await until(() => found() !== undefined || client.closed !== undefined)) || found() === undefined) {
        const seen = client.events.map(({ type }) => type).join(', ')
        throw new Error(`no such event among: ${seen}; closed: ${JSON.stringify(client.closed)}`)
      }
      return found()!
    },
    text: () => JSON.stringify(client.events),
    async gone() {
      await until(() => client.closed !== undefined)
      if (client.closed === undefined) throw new Error('still open')
      return client.closed
    }
  }
  socket.on('message', (data) => client.events.push(JSON.parse(data.toString())))
  socket.on('close', (code, reason) => {
    client.closed = { code, reason: reason.toString() }
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
    socket.once('unexpected-response', (_request, response) => reject(new Error(`status ${response.statusCode}`)))
  })
  socket.on('error', () => {})
  return client
}

/** The answer to an upgrade that is refused. */
export async function refused(
  url: string,
  headers: Record<string, string>,
  path = '/v1/realtime?model=gpt-realtime',
  protocols: string[] = []
): Promise<{ status: number; body: Event; headers: Record<string, unknown> }> {
  const socket = new WebSocket(url.replace(/^http/, 'ws') + path, protocols, { headers })
  socket.on('error', () => {})
  return new Promise((resolve) => {
    socket.once('open', () => {
      socket.terminate()
      resolve({ status: 101, body: {}, headers: {} })
    })
    socket.once('unexpected-response', (_request, response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        const body = text.startsWith('{') ? JSON.parse(text) : { text }
        resolve({ status: response.statusCode ?? 0, body, headers: response.headers })
        socket.terminate()
      })
    })
  })
}

let responses = 0

const frames = (events: Event[]) =>
  events.map(({ type, ...rest }, i) => JSON.stringify({ type, event_id: `event_up${i}`, ...rest }))

/** The events of a response that says a text in pieces. */
export function spoken(
  pieces: readonly string[],
  { audio = false, done = true, legacy = false }: { audio?: boolean; done?: boolean; legacy?: boolean } = {}
): { id: string; itemId: string; frames: string[] } {
  const n = ++responses
  const id = `resp_${n}`
  const itemId = `item_${n}`
  const text = pieces.join('')
  const said = audio ? { type: 'audio', transcript: text } : { type: 'text', text }
  const open = audio ? { type: 'audio', transcript: '' } : { type: 'text', text: '' }
  const item = { id: itemId, object: 'realtime.item', type: 'message', status: 'completed', role: 'assistant' }
  const place = { response_id: id, item_id: itemId, output_index: 0, content_index: 0 }
  const prefix = legacy ? 'response.' : 'response.output_'
  const stem = audio ? `${prefix}audio_transcript` : `${prefix}text`
  const whole = { ...item, content: [audio ? { ...said, type: 'output_audio' } : { ...said, type: 'output_text' }] }
  const response = { id, object: 'realtime.response', status_details: null, output: [], usage: null }
  const deltas = pieces.flatMap((delta, i) => [
    { type: `${stem}.delta`, ...place, delta },
    ...(audio ? [{ type: `${prefix}audio.delta`, ...place, delta: sound(i) }] : [])
  ])
  return {
    id,
    itemId,
    frames: [
      ...frames([
        { type: 'response.created', response: { ...response, status: 'in_progress' } },
        {
          type: 'response.output_item.added',
          response_id: id,
          output_index: 0,
          item: { ...item, status: 'in_progress', content: [] }
        },
        {
          type: 'conversation.item.added',
          previous_item_id: null,
          item: { ...item, status: 'in_progress', content: [] }
        },
        { type: 'response.content_part.added', ...place, part: open },
        ...deltas
      ]),
      ...(done
        ? frames([
            ...(audio ? [{ type: `${prefix}audio.done`, ...place }] : []),
            { type: `${stem}.done`, ...place, ...(audio ? { transcript: text } : { text }) },
            { type: 'response.content_part.done', ...place, part: said },
            { type: 'response.output_item.done', response_id: id, output_index: 0, item: whole },
            { type: 'conversation.item.done', previous_item_id: null, item: whole },
            { type: 'response.done', response: { ...response, status: 'completed', output: [whole] } },
            { type: 'rate_limits.updated', rate_limits: [{ name: 'requests', limit: 10, remaining: 9 }] }
          ])
        : [])
    ]
  }
}

/** A response that calls a function with arguments in pieces. */
export function called(pieces: readonly string[]): { id: string; frames: string[] } {
  const n = ++responses
  const id = `resp_${n}`
  const itemId = `item_${n}`
  const item = { id: itemId, object: 'realtime.item', type: 'function_call', name: 'look', call_id: `call_${n}` }
  const place = { response_id: id, item_id: itemId, output_index: 0, call_id: `call_${n}` }
  const whole = { ...item, status: 'completed', arguments: pieces.join('') }
  const response = { id, object: 'realtime.response', status_details: null, usage: null }
  return {
    id,
    frames: frames([
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.added',
        response_id: id,
        output_index: 0,
        item: { ...item, status: 'in_progress', arguments: '' }
      },
      ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta })),
      { type: 'response.function_call_arguments.done', ...place, arguments: pieces.join('') },
      { type: 'response.output_item.done', response_id: id, output_index: 0, item: whole },
      { type: 'response.done', response: { ...response, status: 'completed', output: [whole] } }
    ])
  }
}

/** Base64 of what is no text. */
export function sound(seed: number, bytes = 120): string {
  return Buffer.from(Array.from({ length: bytes }, (_, i) => (i * 37 + seed * 101 + 200) % 256)).toString('base64')
}

export function userItem(text: string, extra: Event = {}): Event {
  return {
    type: 'conversation.item.create',
    ...extra,
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
  }
}
