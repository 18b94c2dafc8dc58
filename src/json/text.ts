/** Helpers that both halves of the strict JSON parser share. */

export const quote = 0x22
const backslash = 0x5c

/** Offset of the quote that ends the string which begins at `start`, or -1. Linear over a whole text: no character is read twice. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    // An even number of backslashes escape each other, an odd number escapes the quote.
    if ((end - before) % 2 === 1) return end
  }
  return -1
}

/** In Node since 20, in TypeScript's library since es2024. */
type WellFormable = string & { isWellFormed(): boolean; toWellFormed(): string }

export function isWellFormed(text: string): boolean {
  return (text as WellFormable).isWellFormed()
}

/** Lone surrogates as U+FFFD: what any encoder to UTF-8 would send in their place. Spans keep their offsets. */
export function toWellFormed(text: string): string {
  return (text as WellFormable).toWellFormed()
}
