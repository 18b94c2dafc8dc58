/** Sortable random identifiers: 48 bits of time, then 60 of chance, in Crockford's base 32 without its look-alikes. */
import { randomFillSync } from 'node:crypto'

const digits = '0123456789abcdefghjkmnpqrstvwxyz'
const timeDigits = 10
const randomDigits = 12

/** Random bytes are drawn by the page: one system call for some 340 identifiers. */
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
