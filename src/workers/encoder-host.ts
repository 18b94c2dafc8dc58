/** The primary's side of the encoder's process: starts it on a worker's first request, and again after it has ended. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { threadFile } from '../base/thread.js'
import type { HostNotice } from '../encoder/host-process.js'
import type { Log } from '../observe/log.js'

/** A process that ends sooner than this is replaced with growing delay. */
const stableMs = 10_000
const backOffMs = { first: 100, most: 5_000 }

export interface EncoderHost {
  /** Its address, once it listens. @throws an Error where it does not start, or is not to start any more */
  address(): Promise<string>
  close(): void
}

export function createEncoderHost(log: Pick<Log, 'error'>): EncoderHost {
  let running: Promise<string> | undefined
  let child: ChildProcess | undefined
  let folder: string | undefined
  let waitMs = 0
  let isClosed = false

  /** A socket in a folder that only this user may enter; on Windows a pipe whose name cannot be guessed. */
  function addressOf(): string {
    const name = randomBytes(12).toString('hex')
    if (process.platform === 'win32') return `\\\\.\\pipe\\sluicegate-${name}`
    folder ??= mkdtempSync(join(tmpdir(), 'sluicegate-'))
    return join(folder, name.slice(0, 8))
  }

  async function start(): Promise<string> {
    if (waitMs > 0) await setTimeout(waitMs)
    if (isClosed) throw new Error('the process is stopping')
    const address = addressOf()
    const started = performance.now()
    const host = fork(threadFile(new URL('../encoder/', import.meta.url).href, 'host-process'), [address])
    child = host
    return new Promise((resolve, reject) => {
      host.on('message', (notice: HostNotice) => {
        if ('listening' in notice) resolve(address)
        else log.error({ reason: notice.crashed }, 'a thread of the encoder ended and is replaced')
      })
      host.on('error', reject)
      host.once('exit', (code, signal) => {
        running = undefined
        reject(new Error(`the process of the encoder ended before it served (${signal ?? code})`))
        if (isClosed) return
        const isStable = performance.now() - started > stableMs
        waitMs = isStable ? backOffMs.first : Math.min(Math.max(waitMs, backOffMs.first / 2) * 2, backOffMs.most)
        log.error({ code, signal, replaced_in_ms: waitMs }, 'the process of the encoder ended unasked and is replaced')
      })
    })
  }

  return {
    address() {
      running ??= start()
      return running
    },
    close() {
      isClosed = true
      if (child?.connected === true) child.disconnect()
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    }
  }
}
