/** The contract of a detector: text in, findings out. A detector finds; it never decides. */

/** One place in one text. `start` and `end` are UTF-16 offsets into the text the detector was given. */
export interface Finding {
  /** What was found, in the detector's own closed set: `email`, `payment_card`, `aws_access_key`, … */
  kind: string
  /** 0..1 */
  confidence: number
  start: number
  end: number
}

export interface Detector {
  /** Names the detector in a constitution (`detector: personal_data`). */
  readonly id: string
  /** Every `kind` that it can find, for validation of constitutions. */
  readonly kinds: readonly string[]
  /**
   * Finds in linear time; pure; keeps nothing between calls.
   * @param text the text as its author wrote it, or a decoded layer of it
   */
  find(text: string): Finding[]
}
