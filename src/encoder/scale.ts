/**
 * The scale of confidences: what share of harmless texts of unseen sources reaches one. Between two steps confidence is
 * linear in the logarithm of the share. `training/encoder/calibration.py` draws its curves on it.
 */

const scale: readonly (readonly [share: number, confidence: number])[] = [
  [0.3, 0.05],
  [0.1, 0.17],
  [0.05, 0.25],
  [0.02, 0.31],
  [0.01, 0.35],
  [0.005, 0.4],
  [0.002, 0.6],
  [0.001, 0.75],
  [0.0001, 0.95]
]

/** @returns 0..1, of harmless texts */
export function shareOf(confidence: number): number {
  const at = scale.findIndex(([, told]) => told >= confidence)
  if (at < 0) return scale.at(-1)![0]
  if (at === 0) return scale[0]![0]
  const [[from, low], [to, high]] = [scale[at - 1]!, scale[at]!]
  return from * (to / from) ** ((confidence - low) / (high - low))
}

/** @param share 0..1, of harmless texts */
export function confidenceOf(share: number): number {
  const at = scale.findIndex(([reached]) => reached <= share)
  if (at < 0) return scale.at(-1)![1]
  if (at === 0) return scale[0]![1]
  const [[from, low], [to, high]] = [scale[at - 1]!, scale[at]!]
  return low + ((high - low) * Math.log(share / from)) / Math.log(to / from)
}
