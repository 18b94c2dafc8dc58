// A generator of numbers that gives the same ones again (mulberry32), and what is drawn with it.
export function randomFrom(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = state
    x = Math.imul(x ^ (x >>> 15), x | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296
  }
  const int = (from, to) => from + Math.floor(next() * (to - from + 1))
  const pick = (list) => list[int(0, list.length - 1)]
  const of = (alphabet, length) => Array.from({ length }, () => alphabet[int(0, alphabet.length - 1)]).join('')
  const lower = 'abcdefghijklmnopqrstuvwxyz'
  const upper = lower.toUpperCase()
  return {
    int,
    pick,
    of,
    digits: (length) => of('0123456789', length),
    hex: (length) => of('0123456789abcdef', length),
    base62: (length) => of(`0123456789${upper}${lower}`, length),
    base64: (length) => of(`0123456789${upper}${lower}+/`, length),
    word: (length) => of(`0123456789${upper}${lower}_-`, length),
    upper: (length) => of(upper, length),
    lower36: (length) => of(`0123456789${lower}`, length),
    upper36: (length) => of(`0123456789${upper}`, length)
  }
}
