/**
 * The connection to Redis. Requests never wait for an unresponsive Redis: the first failed command takes the link down,
 * and then every command fails at once; only the heartbeat tries again.
 */
import { Redis } from 'ioredis'
import * as scripts from './scripts.js'

/** Redis answers in well under a millisecond; a node waits this long, once, for a frozen one. */
const commandMs = 200
const beatMs = 1_000
/** While the link is down. */
const retryMs = 250
/** A connection without data for this long is replaced: packets may be lost without a close. */
const silentMs = 2_000

interface Scripted {
  take(key: string, cost: number, limit: number, windowUs: number, grainUs: number): Promise<number[]>
  replace(key: string, version: number, session: Buffer, ttlMs: number): Promise<number>
  announce(revision: string, channel: string, notice: string): Promise<number>
  answer(name: string, node: string, ttlMs: number): Promise<number>
  beat(nodes: string, revision: string, node: string, ttlMs: number): Promise<number[]>
}
export type ScriptedRedis = Redis & Scripted

export class RedisDown extends Error {
  override name = 'RedisDown'
}

export interface LinkOptions {
  url: string
  /** Called for the first try and each change, with a reason that omits the URL, which may contain a password. */
  onChange(up: boolean, reason: string): void
  /** The command of a heartbeat. */
  beat(redis: ScriptedRedis): Promise<void>
}

export class RedisLink {
  readonly redis: ScriptedRedis
  readonly #options: LinkOptions
  /** Undefined before the first try, so that an outage at the start is told like any other. */
  #isUp: boolean | undefined
  #closed = false
  #lastAnswer = performance.now()
  #timer: NodeJS.Timeout | undefined

  constructor(options: LinkOptions) {
    this.#options = options
    const redis = connect(options.url)
    const define = (name: keyof Scripted, numberOfKeys: number, lua: string) =>
      redis.defineCommand(name, { numberOfKeys, lua })
    define('take', 1, scripts.take)
    define('replace', 1, scripts.replace)
    define('announce', 1, scripts.publish)
    define('answer', 1, scripts.answer)
    define('beat', 2, scripts.beat)
    this.redis = redis as ScriptedRedis
    redis.on('close', () => this.#turn(false, 'there is no connection'))
  }

  get isUp(): boolean {
    return this.#isUp === true
  }

  /** Resolves after the first try, whether it succeeded or not. */
  async open(): Promise<void> {
    this.redis.connect().catch(() => {})
    const connected = new Promise<void>((resolve) => this.redis.once('ready', resolve))
    await inTime(connected, silentMs).catch(() => {})
    await this.#beat()
  }

  /** @throws RedisDown at once while the link is down, and in time where Redis does not answer */
  async run<T>(command: (redis: ScriptedRedis) => Promise<T>): Promise<T> {
    if (!this.#isUp) throw new RedisDown('Redis is down')
    return this.#try(command)
  }

  async #try<T>(command: (redis: ScriptedRedis) => Promise<T>): Promise<T> {
    try {
      const answer = await inTime(command(this.redis), commandMs)
      this.#lastAnswer = performance.now()
      return answer
    } catch (error) {
      this.#turn(false, error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  async #beat(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      await this.#try((redis) => this.#options.beat(redis))
      this.#turn(true, 'it answers')
    } catch {
      const isOpen = this.redis.status === 'ready' || this.redis.status === 'connect'
      if (isOpen && performance.now() - this.#lastAnswer > silentMs) {
        this.#lastAnswer = performance.now()
        this.redis.disconnect(true)
      }
    }
    if (this.#closed) return
    this.#timer = setTimeout(() => void this.#beat(), this.#isUp ? beatMs : retryMs)
    this.#timer.unref()
  }

  #turn(up: boolean, reason: string): void {
    if (up === this.#isUp || this.#closed) return
    this.#isUp = up
    this.#options.onChange(up, reason)
    // While down, try sooner than the next heartbeat.
    if (up || this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#beat(), retryMs)
    this.#timer.unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.redis.disconnect()
  }
}

export function connect(url: string): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectionName: 'sluicegate',
    connectTimeout: 1_000,
    // No queue: commands never wait for a connection, and failed ones are not executed later.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, 500)
  })
  // Ignored: every failure shows in its command or heartbeat.
  redis.on('error', () => {})
  return redis
}

/** Delays of a busy event loop do not count: an answer that has arrived is accepted before the time-out fires. */
function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(new RedisDown(`no answer within ${ms} ms`))), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
