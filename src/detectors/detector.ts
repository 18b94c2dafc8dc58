/** The contract of a detector: text in, findings out. A detector finds; it never decides. */
import type { Folder, Span } from '../text/fold.js'

/** One place in one text. `start` and `end` are UTF-16 offsets into the text the detector was given. */
export interface Finding {
  /** Kind of the finding, from the detector's own closed set: `email`, `payment_card`, `aws_access_key`, … */
  kind: string
  /** 0..1 */
  confidence: number
  start: number
  end: number
  /** The span to show, if it differs from the finding's. */
  shown?: Span
}

/** By kind, the least confidence on which a policy acts; an absent kind stops nothing by itself. */
export type Floors = ReadonlyMap<string, number>

export interface Detector {
  /** Names the detector in a constitution (`detector: personal_data`). */
  readonly id: string
  /** Every `kind` that it can find, for validation of constitutions. */
  readonly kinds: readonly string[]
  /** Names under which rules may ask for several kinds at once. */
  readonly groups?: ReadonlyMap<string, readonly string[]>
  /**
   * Set where only words count: such a detector also gets readings that replace letters and digits or reverse the text,
   * which for other detectors make identifiers out of harmless text.
   */
  readonly readsWords?: boolean
  /**
   * Set where keys count, which a long run of base64 may hold. What others find within one that says nothing as written is
   * there by accident.
   */
  readonly readsOpaque?: boolean
  /**
   * For an unfinished text: the least offset from which a finding could still begin or change. Absent: nothing is
   * settled before the end of the text.
   * @param before the earlier part of the same text, as far as it is judged with it
   * @param floors of the kinds that count there
   */
  growsFrom?(text: string, before: string, floors: Floors): number
  /** Reads what it needs, once in each thread, when a policy that uses it is compiled. Throws with the reason. */
  prepare?(): void
  /**
   * Finds in linear time; the result depends only on the text.
   * @param text the text as its author wrote it, or a decoded layer of it
   * @param folded the same text folded, where the caller has folded it already; good for the length of the call
   * @param whole UTF-16 units of the text of which this is an excerpt, in another reading
   * @param floors of the policy: the shown spans may depend on them
   */
  find(text: string, folded?: Folder, whole?: number, floors?: Floors): readonly Finding[]
}
