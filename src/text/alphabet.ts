/**
 * The characters that phrases use, renumbered to be few. Where phrases use many (Chinese), each rare character becomes three
 * digits, so that the automaton's table stays narrow: 10,000 phrases take tens of megabytes, not gigabytes.
 */

/** More characters than this beyond ASCII are written as digits. */
const directBeyondAscii = 24

export interface Alphabet {
  /** Per UTF-16 unit: 0 where no phrase has it, its column, or `columns` + its rank where it is written in digits. */
  symbolOf: Uint16Array
  columns: number
  /** First column of the digits; `base` columns for each of three places. */
  firstDigit: number
  base: number
}

export function alphabetOf(words: readonly string[]): Alphabet {
  const used = new Uint8Array(65536)
  for (const word of words) for (let i = 0; i < word.length; i++) used[word.charCodeAt(i)] = 1
  const symbolOf = new Uint16Array(65536)
  let columns = 1
  const beyond: number[] = []
  for (let code = 0; code < 65536; code++) {
    if (used[code] === 0) continue
    if (code < 128) symbolOf[code] = columns++
    else beyond.push(code)
  }
  const firstDigit = columns
  if (beyond.length <= directBeyondAscii) {
    for (const code of beyond) symbolOf[code] = columns++
    return { symbolOf, columns, firstDigit: columns, base: 0 }
  }
  const base = Math.ceil(Math.cbrt(beyond.length))
  columns += 3 * base
  for (const [rank, code] of beyond.entries()) symbolOf[code] = columns + rank
  return { symbolOf, columns, firstDigit, base }
}

export function encode(word: string, { symbolOf, columns, firstDigit, base }: Alphabet): number[] {
  const code: number[] = []
  for (let i = 0; i < word.length; i++) {
    const symbol = symbolOf[word.charCodeAt(i)]!
    if (symbol < columns) {
      code.push(symbol)
    } else {
      const rank = symbol - columns
      code.push(firstDigit + (rank % base))
      code.push(firstDigit + base + (Math.trunc(rank / base) % base))
      code.push(firstDigit + 2 * base + Math.trunc(rank / (base * base)))
    }
  }
  return code
}
