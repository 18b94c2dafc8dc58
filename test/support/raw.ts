/** HTTP by the byte: requests that no client library would send, and answers read by their framing. */
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  head: string
  body: string
}

/** Sends bytes as they are, and reads until the other side closes, or says nothing for `quietMs`. */
export function exchangeRaw(url: string, bytes: string | Buffer, quietMs = 1500): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    )
    let text = ''
    socket.setTimeout(quietMs, () => socket.destroy())
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(text))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // Who refuses may cut before it has read everything.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
  })
}

/** One answer after the other over one connection, which is opened anew when the other side has closed it. */
export class RawClient {
  readonly #host: string
  readonly #port: number
  #socket: Socket | undefined
  #received = Buffer.alloc(0)
  #wake: (() => void) | undefined
  #closed = true

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#host = hostname
    this.#port = Number(port)
  }

  /** @returns undefined where the connection was closed without an answer */
  async ask(bytes: string | Buffer): Promise<RawAnswer | undefined> {
    if (this.#closed) await this.#open()
    this.#received = Buffer.alloc(0)
    this.#socket!.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    for (;;) {
      const answer = this.#take()
      if (answer !== undefined) {
        if (/^connection: *close/im.test(answer.head)) this.close()
        return answer
      }
      if (this.#closed) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  close(): void {
    this.#socket?.destroy()
    this.#closed = true
  }

  #open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#port, this.#host, () => resolve())
      this.#socket = socket
      this.#closed = false
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        this.#received = Buffer.concat([this.#received, chunk])
        this.#wake?.()
      })
      socket.on('close', () => {
        if (this.#socket === socket) this.#closed = true
        this.#wake?.()
      })
    })
  }

  #take(): RawAnswer | undefined {
    const text = this.#received.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) return undefined
    const head = text.slice(0, end)
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
    const rest = text.slice(end + 4)
    const length = /^content-length: *(\d+)/im.exec(head)?.[1]
    if (length !== undefined) {
      return rest.length < Number(length) && !this.#closed ? undefined : { status, head, body: rest }
    }
    if (/^transfer-encoding: *chunked/im.test(head)) {
      return rest.endsWith('0\r\n\r\n') || this.#closed ? { status, head, body: rest } : undefined
    }
    return status === 204 || status === 304 || this.#closed ? { status, head, body: rest } : undefined
  }
}

/** Runs a job for each item on several connections at once. */
export async function overRaw<T>(
  url: string,
  items: Iterable<T>,
  job: (client: RawClient, item: T) => Promise<void>,
  connections = 4
): Promise<void> {
  const iterator = items[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new RawClient(url)
      for (let next = iterator.next(); !next.done; next = iterator.next()) await job(client, next.value)
      client.close()
    })
  )
}
