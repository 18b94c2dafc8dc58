/**
 * Answers that consist of sound alone. Their words were judged as the text of the request; the sound itself is not
 * judged. It is forwarded as it comes, once its beginning is known not to be text; no part of it is kept.
 */
import { Readable } from 'node:stream'
import { Fault } from '../../base/errors.js'
import { readsAsText } from '../../dialects/media.js'
import { codingOf, discard, transportFault, type UpstreamAnswer } from '../upstream/send.js'

/** Media types of sound; some servers name no format. A client is told this type and no parameter of it. */
const soundType =
  /^(?:audio\/(?:aac|flac|l16|mp3|mp4|mpeg|ogg|opus|pcm|wav|wave|webm|x-flac|x-wav)|application\/octet-stream)$/
/** Bytes; a shorter answer is no sound and may be words. */
const fewest = 64
/** Bytes at its beginning that are held, so that a text is recognised before any of it leaves. */
const waitedFor = 1024
/** Bytes at its beginning that are checked for text: checking all of it would take long. */
const lookedAt = 64 * 1024

export function isSoundType(type: string): boolean {
  return soundType.test(type)
}

/**
 * The sound in pieces, each byte a character (`latin1`), the first of them large enough to tell it from a text.
 * @throws Fault `upstream_error` for what is coded, too small, reads as text, holds the upstream's credential, or breaks
 */
export async function* readSound(answer: UpstreamAnswer): AsyncGenerator<string, string, undefined> {
  const { body } = answer
  const look = new Look(answer.key)
  let isEnded = false
  try {
    const coding = codingOf(answer)
    if (coding !== undefined && coding !== 'identity') throw noSound('the sound is coded')
    let first = ''
    for await (const chunk of (Buffer.isBuffer(body) ? Readable.from([body]) : body) as AsyncIterable<Buffer>) {
      look.see(chunk)
      first += chunk.toString('latin1')
      if (look.length < waitedFor) continue
      yield first
      first = ''
    }
    isEnded = true
    look.end()
    return first
  } catch (error) {
    throw transportFault(error)
  } finally {
    if (!isEnded) discard(body)
  }
}

/** The check of a sound while it arrives. */
class Look {
  length = 0
  readonly #key: Buffer | undefined
  /** The beginning, until all of it was looked at. */
  #head: Buffer | undefined = Buffer.allocUnsafe(lookedAt)
  /** Length at which it is checked next; the checks together read twice the length. */
  #next = fewest
  /** The end of the last chunk, where the credential may begin. */
  #tail = Buffer.alloc(0)

  constructor(key: string | undefined) {
    this.#key = key === undefined ? undefined : Buffer.from(key)
  }

  /** @throws Fault `upstream_error` */
  see(chunk: Buffer): void {
    const before = this.length
    this.length += chunk.length
    if (this.#key !== undefined) {
      const bytes = Buffer.concat([this.#tail, chunk])
      if (bytes.includes(this.#key)) throw noSound('the answer holds the credential')
      this.#tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - this.#key.length + 1)))
    }
    if (this.#head === undefined) return
    chunk.copy(this.#head, before)
    if (this.length < this.#next && this.length < lookedAt) return
    this.#look()
    this.#next = this.length * 2
    if (this.length >= lookedAt) this.#head = undefined
  }

  /** @throws Fault `upstream_error` */
  end(): void {
    if (this.length < fewest) throw noSound('the answer is too small')
    this.#look()
  }

  #look(): void {
    const head = this.#head?.subarray(0, this.length)
    if (head !== undefined && readsAsText(head)) throw noSound('the answer reads as text')
  }
}

function noSound(internal: string): Fault {
  return new Fault('upstream_error', { internal })
}
