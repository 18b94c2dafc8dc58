/**
 * The contract of a view: one reading of a text (lower-cased, de-obfuscated, decoded) whose every character knows where
 * in the original it came from, so that whatever is found in any reading can be shown, and redacted, in the original.
 */
export interface View {
  /**
   * `plain`, or what was undone, in the order in which it was: `base64+url` is a percent encoding inside base64.
   * - characters: `unicode` (forms, look-alikes, invisible ones), `hidden` (tags, selectors, zero-width bits), `bidi`,
   *   `upside-down`, `leet`
   * - gaps: `spaced` (letters apart, drawn out, hyphenated), `split` (words run together)
   * - encodings: `base64`, `base32`, `base85`, `hex`, `binary`, `octal`, `decimal` (`[104, 111]`, `chr(104)+chr(111)`),
   *   `codepoint` (`U+0068`), `url`, `html`, `escape` (`\\u0068`, `\\x68`, CSS's `\\000068`, `\\N{…}`),
   *   `quoted-printable`, `punycode`, `morse`, `braille`, `nato`
   * - ciphers: `rot13`, `caesar`, `atbash`, `rot47`, `pig-latin`, `reversed`
   */
  readonly layer: string
  /**
   * The folded reading that phrases are matched in: lower-case letters and digits, every run of anything else as one
   * space, one space at each end. Phrases are folded by the same function, so " kill yourself " matches whole words.
   */
  readonly folded: string
  /** The reading before folding (case and punctuation kept): what patterns and detectors read. */
  readonly text: string
  /** Whether most of it is encoded, and read in a later view: what it says as written means nothing. */
  readonly isEncoded: boolean
  /** Files in base64, in units of `text`: `from` and `to` by turns (`opaque.ts`). */
  readonly opaque: readonly number[]
  /** The same, and hashes. */
  readonly noise: readonly number[]
  /** Original UTF-16 offset of the first (`start`) or after the last (`end`) character behind folded offsets [from, to). */
  foldedSpan(from: number, to: number): { start: number; end: number }
  /** The same for offsets into `text`. */
  textSpan(from: number, to: number): { start: number; end: number }
}
