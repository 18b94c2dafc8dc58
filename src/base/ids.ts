/** Ids that sort by time of creation, and that nobody can guess. */
import { randomBytes, randomFillSync } from 'node:crypto'

/** Crockford's base 32, lower case: no letter is mistaken for a digit, and byte order is value order. */
const digits = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * `<prefix>_` and 26 characters: 48 bits of wall time in ms, then 80 random bits (the layout of a ULID).
 * Two ids of one millisecond sort at random.
 */
export function newId(prefix: string, now: number): string {
  const bytes = Buffer.concat([Buffer.alloc(6), randomBytes(10)])
  bytes.writeUIntBE(now, 0, 6)
  let value = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < 26; i++) {
    text = digits[Number(value & 31n)] + text
    value >>= 5n
  }
  return `${prefix}_${text}`
}

/** Whether a text has the form of an id with this prefix: a text without it needs no lookup. */
export function isId(prefix: string, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(prefix.length + 1))
}

const timeDigits = 10
const randomDigits = 12

/**
 * For ids made by the thousand: `prefix`, 48 bits of time, then 60 random bits. Random bytes are drawn in pages: one
 * system call for some 340 ids.
 */
export function createIdSource(prefix: string, now: () => number): () => string {
  const pool = new Uint8Array(4096)
  let used = pool.length
  return function nextId() {
    if (used + randomDigits > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    let id = prefix
    const time = now()
    for (let i = timeDigits - 1; i >= 0; i--) id += digits[Math.floor(time / 32 ** i) % 32]
    for (let i = 0; i < randomDigits; i++) id += digits[pool[used++]! & 31]
    return id
  }
}
