/**
 * Caches results of files for a while, since a conversation repeats its files in every turn. The key is a keyed digest
 * of the account and the file, so that no account learns whether another sent the same file.
 */
import { createHmac, type Hmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Reading } from './file.js'
import type { RequestHead } from './wire.js'

/** Files, UTF-16 units of their texts, and ms. */
const most = { files: 1_000, units: 16_000_000, ttlMs: 3_600_000 }
/** Cost of a file without texts. */
const leastUnits = 100

export class Memory {
  readonly #secret = randomBytes(32)
  readonly #readings = new LRUCache<string, Reading>({
    max: most.files,
    maxSize: most.units,
    ttl: most.ttlMs,
    sizeCalculation: unitsOf
  })

  /** A digest to which the bytes of the file must still be added. */
  digest(account: string, { type, charset = '', name, readsPictures, isPicture }: Omit<RequestHead, 'size'>): Hmac {
    const said = [account, type, charset, name, readsPictures, isPicture === true]
    return createHmac('sha256', this.#secret).update(JSON.stringify(said))
  }

  get(digest: string): Reading | undefined {
    return this.#readings.get(digest)
  }

  /** Results that may differ next time are not kept. */
  set(digest: string, reading: Reading): void {
    if (!reading.whole && (reading.reason === 'too_slow' || reading.reason === 'reader_failed')) return
    this.#readings.set(digest, reading)
  }
}

function unitsOf(reading: Reading): number {
  if (!reading.whole) return leastUnits
  return reading.texts.reduce((sum, { text }) => sum + text.length, leastUnits)
}
