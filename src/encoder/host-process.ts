/**
 * The process that runs the encoder's threads for all workers of a machine, so that the weights are loaded once and
 * callers take turns among all of their windows. The primary starts it (`workers/encoder-host.ts`) and gets its
 * failures; workers connect to its socket (`shared-threads.ts`). It ends with its primary.
 */
import { createServer, type Socket } from 'node:net'
import { receive, send } from './frames.js'
import { EncoderError } from './index.js'
import type { FromHost, ToHost } from './shared-threads.js'
import { Threads } from './threads.js'
import type { ThreadData } from './worker.js'

/** Messages to the primary. */
export type HostNotice = { listening: true } | { crashed: string }

const tell = (notice: HostNotice) => process.send?.(notice)
const [address] = process.argv.slice(2)
if (address === undefined) throw new Error('usage: host <socket>')

interface Kept {
  opening: Promise<Threads>
  users: number
}

/** Threads by their options: a worker that has reloaded its configuration may need other ones than the rest. */
const kept = new Map<string, Kept>()
/** Threads that nobody uses any more, until the window that they read is read. */
const closing = new Set<Promise<void>>()
/** Longest wait for windows under way before the process ends. */
const longestEndMs = 5_000

function use(options: ThreadData & { threads: number; queue: number }): { opening: Promise<Threads>; letGo(): void } {
  const key = JSON.stringify(options)
  let mine = kept.get(key)
  if (mine === undefined) {
    const crashed = (error: unknown) => tell({ crashed: error instanceof Error ? error.message : String(error) })
    mine = { opening: Threads.open({ ...options, crashed }), users: 0 }
    kept.set(key, mine)
  }
  const held = mine
  held.users++
  return {
    opening: held.opening,
    letGo() {
      if (--held.users > 0) return
      if (kept.get(key) === held) kept.delete(key)
      const ending = held.opening.then(
        (threads) => threads.close(),
        () => undefined
      )
      closing.add(ending)
      void ending.finally(() => closing.delete(ending))
    }
  }
}

function serve(socket: Socket): void {
  const under = new Map<number, AbortController>()
  let threads: Threads | undefined
  let letGo: (() => void) | undefined
  const say = (message: FromHost) => {
    if (socket.writable) send(socket, message)
  }
  async function open(options: Parameters<typeof use>[0]): Promise<void> {
    const used = use(options)
    letGo = used.letGo
    try {
      threads = await used.opening
      say({ opened: true })
    } catch (error) {
      const { name, message } = error as Error
      say({ failed: { name, message } })
      socket.end()
    }
  }
  async function run({ run: id, whose, task }: Extract<ToHost, { run: number }>): Promise<void> {
    const abort = new AbortController()
    under.set(id, abort)
    try {
      if (threads === undefined) throw new EncoderError('crashed')
      // Copied: the numbers are transferred to the thread, and their buffer holds other parts of the message.
      const own = 'ids' in task ? { ...task, ids: BigInt64Array.from(task.ids) } : task
      say({ done: id, outcome: await threads.run(own, whose, abort.signal) })
    } catch (error) {
      say({ done: id, failure: error instanceof EncoderError ? error.failure : 'crashed' })
    } finally {
      under.delete(id)
    }
  }
  receive(socket, (message) => {
    const said = message as ToHost
    if ('run' in said) void run(said)
    else if ('cancel' in said) under.get(said.cancel)?.abort(new EncoderError('cancelled'))
    else if (letGo === undefined) void open(said.open)
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    for (const abort of under.values()) abort.abort(new EncoderError('cancelled'))
    letGo?.()
  })
}

// Ignored: a signal to the whole group also reaches the workers, which must finish their requests first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => {
  const ending = [...kept.values()].map(async ({ opening }) => (await opening).close())
  void Promise.allSettled([...ending, ...closing]).then(() => process.exit(0))
  setTimeout(() => process.exit(0), longestEndMs)
})
createServer(serve).listen(address, () => tell({ listening: true }))
