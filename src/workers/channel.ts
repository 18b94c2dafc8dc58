/** Requests and answers between the primary and a worker, over Node's channel. */

/** One message, with everything from one turn of the event loop. */
interface Message {
  sluicegate: Item[]
}
type Item = { ask: number; operation: string; value: unknown } | { answer: number; value?: unknown; failed?: string }

/** `process` in a worker; a `Worker` in the primary. */
export interface End {
  send?(message: object, callback?: (error: Error | null) => void): boolean
  on(event: 'message', listener: (message: unknown) => void): unknown
}

export type Handlers = Readonly<Record<string, (value: never) => unknown>>

export interface Channel {
  /** @throws an Error where the other end refuses, or is gone */
  ask(operation: string, value?: unknown): Promise<unknown>
  /** Rejects all open requests, since the other end is gone. */
  close(): void
}

export function openChannel(end: End, handlers: Handlers): Channel {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let outgoing: Item[] = []
  let asked = 0
  let closed = false

  function say(item: Item): void {
    if (outgoing.push(item) > 1) return
    // Batched: HTTP requests that are read together share a message.
    queueMicrotask(() => {
      const message: Message = { sluicegate: outgoing }
      outgoing = []
      end.send?.(message, (error) => {
        if (error !== null) close()
      })
    })
  }

  function answer(ask: number, operation: string, value: unknown): void {
    Promise.resolve()
      .then(() => {
        const handler = handlers[operation]
        if (handler === undefined) throw new Error(`there is no operation ${operation}`)
        return handler(value as never)
      })
      .then(
        (value) => say({ answer: ask, value }),
        (error) => say({ answer: ask, failed: error instanceof Error ? error.message : String(error) })
      )
  }

  function close(): void {
    closed = true
    for (const { reject } of waiting.values()) reject(new Error('the other process is gone'))
    waiting.clear()
  }

  end.on('message', (message) => {
    const items = (message as Partial<Message> | null)?.sluicegate
    if (items === undefined) return
    for (const item of items) {
      if ('ask' in item) {
        answer(item.ask, item.operation, item.value)
        continue
      }
      const asker = waiting.get(item.answer)
      waiting.delete(item.answer)
      if (item.failed === undefined) asker?.resolve(item.value)
      else asker?.reject(new Error(item.failed))
    }
  })

  return {
    ask(operation, value) {
      if (closed) return Promise.reject(new Error('the other process is gone'))
      return new Promise((resolve, reject) => {
        waiting.set(++asked, { resolve, reject })
        say({ ask: asked, operation, value })
      })
    },
    close
  }
}
