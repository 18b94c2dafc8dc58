/** MCP servers for tests: the official ones as processes, one that a test writes, and a bridge to those that speak stdio. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { isInitializeRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

type Teardown = { teardown(fn: () => unknown): unknown }

const require = createRequire(import.meta.url)
const entryOf = (name: string) => join(dirname(require.resolve(`${name}/package.json`)), 'dist/index.js')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** `@modelcontextprotocol/server-everything` over Streamable HTTP. @returns its address */
export async function everything(t: Teardown): Promise<string> {
  const port = await freePort()
  const child: ChildProcess = spawn(
    process.execPath,
    [entryOf('@modelcontextprotocol/server-everything'), 'streamableHttp'],
    {
      env: { PATH: process.env['PATH'], PORT: String(port) },
      stdio: 'ignore'
    }
  )
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${port}/mcp`
  for (;;) {
    const isUp = await fetch(url).then(
      () => true,
      () => false
    )
    if (isUp) return url
    await setTimeout(50)
  }
}

/** A server whose every request is answered by a test, on an address of its own. */
export async function httpServer(
  t: Teardown,
  handle: (request: IncomingMessage, response: ServerResponse, body: unknown) => unknown
): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    await handle(request, response, text === '' ? undefined : JSON.parse(text))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/**
 * A server that speaks stdio behind Streamable HTTP: one process for each session, messages as they come.
 * @returns its address
 */
export async function bridge(t: Teardown, name: string, args: readonly string[]): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  t.teardown(() => Promise.all([...sessions.values()].map((transport) => transport.close())))
  return httpServer(t, async (request, response, body) => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    if (known !== undefined) return known.handleRequest(request, response, body)
    if (!isInitializeRequest(body)) {
      response.writeHead(404).end()
      return
    }
    const process = new StdioClientTransport({
      command: globalThis.process.execPath,
      args: [entryOf(name), ...args],
      stderr: 'ignore'
    })
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport)
    })
    transport.onmessage = (message) => void process.send(message)
    process.onmessage = (message: JSONRPCMessage) => {
      const answers = !('method' in message) && 'id' in message && message.id !== undefined ? message.id : undefined
      void transport.send(message, answers === undefined ? {} : { relatedRequestId: answers }).catch(() => {})
    }
    transport.onclose = () => void process.close()
    await process.start()
    await transport.handleRequest(request, response, body)
  })
}
