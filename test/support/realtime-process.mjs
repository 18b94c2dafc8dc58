// A backend of the Realtime API in a process of its own: what it sends, frame by frame, its parent tells it over IPC, and it
// tells its parent whatever comes. Plain JavaScript, so that it needs no loader.
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const tell = (message) => process.connected && process.send(message)
/** By the type of a client's event: the frames that it is answered with, and the time between them. */
let scripts = {}
let greeting = []
let refusal
const sockets = new Set()
const cancelled = new WeakSet()

const server = createServer((request, response) => {
  tell({ kind: 'request', url: request.url })
  response.writeHead(refusal ?? 404).end()
})
const accept = new WebSocketServer({ noServer: true, perMessageDeflate: true })
server.on('upgrade', (request, socket, head) => {
  tell({ kind: 'upgrade', url: request.url, headers: request.headers })
  if (refusal !== undefined) {
    socket.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
    return
  }
  accept.handleUpgrade(request, socket, head, serve)
})

function serve(socket) {
  sockets.add(socket)
  socket.on('error', () => {})
  socket.on('close', (code) => {
    sockets.delete(socket)
    tell({ kind: 'close', code, at: Date.now() })
  })
  socket.on('message', async (data) => {
    const text = data.toString()
    const event = JSON.parse(text)
    tell({ kind: 'event', text })
    if (event.type === 'response.cancel') {
      cancelled.add(socket)
      const response = { id: event.response_id, object: 'realtime.response', status: 'cancelled', output: [] }
      socket.send(JSON.stringify({ type: 'response.done', event_id: 'up_c', response }))
      return
    }
    if (event.type === 'response.create') cancelled.delete(socket)
    const script = scripts[event.type]
    if (script !== undefined) await play(socket, script)
  })
  for (const frame of greeting) socket.send(frame)
}

async function play(socket, { frames, gapMs, ignoreCancel = true, close, repeat = 1 }) {
  for (let turn = 0; turn < repeat; turn++) {
    for (const frame of frames) {
      if (socket.readyState !== socket.OPEN || (!ignoreCancel && cancelled.has(socket))) return
      await new Promise((resolve) => socket.send(frame === 'binary' ? Buffer.from([1, 2]) : frame, resolve))
      if (gapMs !== undefined) await new Promise((resolve) => setTimeout(resolve, gapMs))
    }
    if (repeat > 1) tell({ kind: 'played', turn })
  }
  if (close === 'cut') socket.terminate()
  else if (close !== undefined) socket.close(close, 'bye')
}

process.on('message', (message) => {
  if (message.kind === 'script') scripts = message.scripts
  else if (message.kind === 'greeting') greeting = message.frames
  else if (message.kind === 'refuse') refusal = message.status
  else if (message.kind === 'pause') for (const socket of sockets) message.on ? socket.pause() : socket.resume()
  else if (message.kind === 'send') for (const socket of sockets) void play(socket, message)
  tell({ kind: 'done' })
})
process.on('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => tell({ kind: 'listening', port: server.address().port }))
