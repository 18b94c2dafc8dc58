/**
 * The contract of a view: one reading of a text (lower-cased, de-obfuscated, decoded) whose every character knows where
 * in the original it came from, so that whatever is found in any reading can be shown, and redacted, in the original.
 */
export interface View {
  /** `plain`, `unicode`, `leet`, `spaced`, `base64`, `hex`, `url`, `rot13`, or nested as `base64+url`. */
  readonly layer: string
  /**
   * The folded reading that phrases are matched in: lower-case letters and digits, every run of anything else as one
   * space, one space at each end. Phrases are folded by the same function, so " kill yourself " matches whole words.
   */
  readonly folded: string
  /** The reading before folding (case and punctuation kept): what patterns and detectors read. */
  readonly text: string
  /** Original UTF-16 offset of the first (`start`) or after the last (`end`) character behind folded offsets [from, to). */
  foldedSpan(from: number, to: number): { start: number; end: number }
  /** The same for offsets into `text`. */
  textSpan(from: number, to: number): { start: number; end: number }
}
