/**
 * One child process that reads files, from its start to its end. Only answers of the known shape are accepted from it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import {
  bounds,
  type FileText,
  fileKinds,
  hiddenKinds,
  type Reading,
  type UnreadReason,
  unreadReasons
} from './file.js'
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
/** Characters kept of the output of a child that does not start. */
const mostSaid = 2_000
/** How often the memory of a reading child is checked, ms. */
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
  /** Bytes of the current answer. */
  #bytes = 0
  /** Its output where it does not start; it cannot contain any file content yet. */
  #said = ''
  /** Files that it has read. */
  count = 0

  constructor(start: Start, bounds: ChildBounds) {
    this.#bounds = bounds
    const { program, args, env, cwd = '/' } = start
    const child = spawn(program, [...args], { env, stdio: ['pipe', 'pipe', 'pipe'], cwd, windowsHide: true })
    this.#process = child
    child.stdout!.on('data', (part: Buffer) => this.#receive(part))
    // Ignored: the exit of the child tells the reason.
    child.stdin!.on('error', () => undefined)
    child.stdout!.on('error', () => undefined)
    child.stderr!.on('error', () => undefined)
    let isStarting = true
    child.stderr!.on('data', (part: Buffer) => {
      if (isStarting) this.#said = (this.#said + part.toString()).slice(-mostSaid)
    })
    child.once('close', (code, signal) => this.#end(outOfHeap.has(signal ?? code) ? 'too_large' : 'reader_failed'))
    this.ready = new Promise((resolve, reject) => {
      const late = setTimeout(() => this.kill('reader_failed'), startMs)
      child.once('error', () => this.#end('reader_failed'))
      this.#take = () => {
        isStarting = false
        clearTimeout(late)
        resolve()
      }
      this.#fail = () => {
        clearTimeout(late)
        reject(new Error(`the process that reads files did not start: ${this.#said.trim()}`))
      }
    })
    // Handled: those who await `ready` get the error.
    this.ready.catch(() => undefined)
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Reads one file at a time. A file that exceeds its time or memory ends the child. */
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
      const texts: FileText[] = []
      this.#bytes = 0
      this.#take = (answer) => {
        const text = textOf(answer)
        const reading = text === undefined ? readingOf(answer, texts) : undefined
        if (reading !== undefined) settle(reading)
        else if (text === undefined || texts.push(text) > bounds.texts) this.kill('reader_failed')
      }
      this.#fail = (reason) => settle({ whole: false, reason })
      this.count++
      const { stdin } = this.#process
      stdin!.write(frame(head))
      for (const part of parts) stdin!.write(part)
    })
  }

  /** @param reason why its current file stays unread */
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
    this.#bytes += part.length
    if (this.#bytes > maxAnswerBytes) {
      this.kill('reader_failed')
      return
    }
    for (let length = this.#frames.next(); length !== undefined && !this.#isEnded; length = this.#frames.next()) {
      if (length > maxAnswerBytes) this.kill('reader_failed')
      const bytes = this.#isEnded ? undefined : this.#frames.take(4 + length)
      if (bytes === undefined) return
      try {
        this.#take?.(JSON.parse(bytes.toString('utf8', 4)))
      } catch {
        this.kill('reader_failed')
      }
    }
  }

  /** Unpacked data lies outside of the heap that V8 bounds. */
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

/** Validates one text: a child that a file has compromised may send anything. */
function textOf(answer: unknown): FileText | undefined {
  const { text, where, hidden } = (answer ?? {}) as Record<string, unknown>
  if (typeof text !== 'string' || typeof where !== 'string' || !/^[a-z0-9=&,]{1,128}$/.test(where)) return undefined
  if (hidden === undefined) return { text, where }
  const mark = hiddenKinds.find((known) => known === hidden)
  return mark === undefined ? undefined : { text, where, hidden: mark }
}

/** Validates the end of an answer. */
function readingOf(answer: unknown, texts: readonly FileText[]): Reading | undefined {
  const { whole, reason, kind, hasPictures } = (answer ?? {}) as Record<string, unknown>
  if (whole === false) {
    const known = unreadReasons.find((each) => each === reason)
    return known === undefined ? undefined : { whole: false, reason: known }
  }
  const named = fileKinds.find((each) => each === kind)
  if (whole !== true || named === undefined || typeof hasPictures !== 'boolean') return undefined
  return { whole: true, kind: named, texts, hasPictures }
}
