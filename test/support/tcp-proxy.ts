/** A way to a server that a test can cut, or let swallow every byte. */
import { connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  port: number
  /** `cut`: connections are reset, new ones too. `swallow`: nothing comes through, and nobody is told. */
  set(mode: 'pass' | 'cut' | 'swallow'): void
}

export async function tcpProxy(
  t: { teardown(fn: () => unknown): unknown },
  target: { port: number; host: string }
): Promise<TcpProxy> {
  let mode: 'pass' | 'cut' | 'swallow' = 'pass'
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client)
    if (mode === 'cut') return void client.resetAndDestroy()
    const upstream = connect(target)
    keep(upstream)
    client.on('data', (bytes) => mode === 'pass' && upstream.write(bytes))
    upstream.on('data', (bytes) => mode === 'pass' && client.write(bytes))
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as { port: number }).port,
    set(next) {
      mode = next
      if (mode === 'cut') for (const socket of sockets) socket.resetAndDestroy()
    }
  }
}
