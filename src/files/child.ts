/** One child that reads files, from its start to its end. Nothing that it says is believed but an answer of the known shape. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type FileText, fileKinds, hiddenKinds, type Reading, type UnreadReason, unreadReasons } from './file.js'
import type { Start } from './isolation.js'
import { Frames, frame, maxAnswerBytes, type RequestHead } from './wire.js'

export interface ChildBounds {
  /** For one file, ms. */
  deadlineMs: number
  /** Resident bytes of the child. */
  memoryBytes: number
}

/** How long a child may take to load its parsers, ms. */
const startMs = 60_000
/** How often the memory of a child that reads is looked at, ms. */
const lookMs = 50
/** V8 aborts where its own heap is full. */
const outOfHeap = new Set<string | number | null>(['SIGABRT', 134, 'SIGTRAP', 133])

export class Child {
  readonly #process: ChildProcess
  readonly #bounds: ChildBounds
  readonly #frames = new Frames()
  readonly ready: Promise<void>
  #take: ((answer: unknown) => void) | undefined
  #fail: ((reason: UnreadReason) => void) | undefined
  #isEnded = false
  /** Files that it has read. */
  count = 0

  constructor(start: Start, bounds: ChildBounds) {
    this.#bounds = bounds
    const { program, args, env, cwd = '/' } = start
    const child = spawn(program, [...args], { env, stdio: ['pipe', 'pipe', 'ignore'], cwd, windowsHide: true })
    this.#process = child
    child.stdout!.on('data', (part: Buffer) => this.#receive(part))
    // Its end says why.
    child.stdin!.on('error', () => undefined)
    child.stdout!.on('error', () => undefined)
    child.once('exit', (code, signal) => this.#end(outOfHeap.has(signal ?? code) ? 'too_large' : 'reader_failed'))
    this.ready = new Promise((resolve, reject) => {
      const late = setTimeout(() => this.kill('reader_failed'), startMs)
      child.once('error', () => this.#end('reader_failed'))
      this.#take = () => {
        clearTimeout(late)
        resolve()
      }
      this.#fail = () => {
        clearTimeout(late)
        reject(new Error('the process that reads files did not start'))
      }
    })
    // Whoever waits for it hears of it.
    this.ready.catch(() => undefined)
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** One at a time. A file that does not end in time, or takes more memory than it may, ends the child. */
  read(head: RequestHead, parts: readonly Buffer[]): Promise<Reading> {
    return new Promise((resolve) => {
      if (this.#isEnded) {
        resolve({ whole: false, reason: 'reader_failed' })
        return
      }
      const late = setTimeout(() => this.kill('too_slow'), this.#bounds.deadlineMs)
      const look = setInterval(() => this.#look(), lookMs)
      const settle = (reading: Reading) => {
        clearTimeout(late)
        clearInterval(look)
        this.#take = undefined
        this.#fail = undefined
        resolve(reading)
      }
      this.#take = (answer) => {
        const reading = readingOf(answer)
        if (reading === undefined) this.kill('reader_failed')
        else settle(reading)
      }
      this.#fail = (reason) => settle({ whole: false, reason })
      this.count++
      const { stdin } = this.#process
      stdin!.write(frame(head))
      for (const part of parts) stdin!.write(part)
    })
  }

  /** @param reason what the file that it reads is unread for */
  kill(reason: UnreadReason): void {
    this.#process.kill('SIGKILL')
    this.#end(reason)
  }

  #end(reason: UnreadReason): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#fail?.(reason)
  }

  #receive(part: Buffer): void {
    this.#frames.push(part)
    const length = this.#frames.next()
    if (length === undefined) return
    if (length > maxAnswerBytes) {
      this.kill('reader_failed')
      return
    }
    const bytes = this.#frames.take(4 + length)
    if (bytes === undefined) return
    try {
      this.#take?.(JSON.parse(bytes.toString('utf8', 4)))
    } catch {
      this.kill('reader_failed')
    }
  }

  /** What is unpacked lies outside of the heap that V8 bounds. */
  #look(): void {
    const { pid } = this.#process
    if (process.platform !== 'linux' || pid === undefined) return
    try {
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
      if (Number(kilobytes ?? 0) * 1024 > this.#bounds.memoryBytes) this.kill('too_large')
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** An answer in the known shape; a child that a file has taken over may say anything. */
function readingOf(answer: unknown): Reading | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const { whole, reason, kind, texts } = answer as Record<string, unknown>
  if (whole === false) {
    const known = unreadReasons.find((each) => each === reason)
    return known === undefined ? undefined : { whole: false, reason: known }
  }
  const named = fileKinds.find((each) => each === kind)
  if (whole !== true || named === undefined || !Array.isArray(texts)) return undefined
  const found: FileText[] = []
  for (const each of texts as unknown[]) {
    const { text, where, hidden } = (each ?? {}) as Record<string, unknown>
    if (typeof text !== 'string' || typeof where !== 'string' || !/^[a-z0-9=&]{1,128}$/.test(where)) return undefined
    const mark = hiddenKinds.find((known) => known === hidden)
    if (hidden !== undefined && mark === undefined) return undefined
    found.push(mark === undefined ? { text, where } : { text, where, hidden: mark })
  }
  return { whole: true, kind: named, texts: found }
}
