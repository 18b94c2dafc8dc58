// The arithmetic of the tables: rates and areas with 95 % intervals. Pure, deterministic, no dependency.

/** A generator of numbers in [0, 1) that gives the same sequence for the same seed (mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The same `size` members of a list for the same seed, in their order. */
export function sample(list, size, seed = 1) {
  if (list.length <= size) return [...list]
  const random = randomFrom(seed)
  const keyed = list.map((_, index) => ({ index, key: random() })).sort((a, b) => a.key - b.key)
  return keyed
    .slice(0, size)
    .map(({ index }) => index)
    .sort((a, b) => a - b)
    .map((index) => list[index])
}

/** A share of `of` with Wilson's score interval: it stays within 0..1 and is honest at 0 of n. */
export function wilson(count, of, z = 1.959964) {
  if (of === 0) return undefined
  const share = count / of
  const spread = z * z
  const middle = (share + spread / (2 * of)) / (1 + spread / of)
  const half = (z * Math.sqrt((share * (1 - share)) / of + spread / (4 * of * of))) / (1 + spread / of)
  return { share, low: Math.max(0, middle - half), high: Math.min(1, middle + half), count, of }
}

/** Groups of equal scores, highest first, with the indexes of their members. */
function ranked(scores) {
  const order = scores.map((_, index) => index).sort((a, b) => scores[b] - scores[a])
  const groups = []
  for (const index of order) {
    const last = groups.at(-1)
    if (last !== undefined && last.score === scores[index]) last.members.push(index)
    else groups.push({ score: scores[index], members: [index] })
  }
  return groups.map(({ members }) => members)
}

/** @param weights how often each row counts. Ties count half in the ROC, and as one step in precision and recall. */
function areasOf(groups, isPositive, weights) {
  let truePositives = 0
  let falsePositives = 0
  let roc = 0
  let precision = 0
  for (const members of groups) {
    let positives = 0
    let negatives = 0
    for (const index of members) {
      if (isPositive[index]) positives += weights[index]
      else negatives += weights[index]
    }
    roc += negatives * (truePositives + positives / 2)
    truePositives += positives
    falsePositives += negatives
    if (positives > 0) precision += positives * (truePositives / (truePositives + falsePositives))
  }
  if (truePositives === 0 || falsePositives === 0) return undefined
  return { auroc: roc / (truePositives * falsePositives), auprc: precision / truePositives }
}

/**
 * Area under the ROC curve and average precision, with percentile intervals of a bootstrap over rows.
 * @returns undefined where one class is missing
 */
export function areas(scores, isPositive, { rounds = 400, seed = 7 } = {}) {
  const groups = ranked(scores)
  const count = scores.length
  const whole = areasOf(groups, isPositive, new Float64Array(count).fill(1))
  if (whole === undefined) return undefined
  const random = randomFrom(seed)
  const drawn = { auroc: [], auprc: [] }
  for (let round = 0; round < rounds; round++) {
    const weights = new Float64Array(count)
    for (let i = 0; i < count; i++) weights[Math.floor(random() * count)]++
    const found = areasOf(groups, isPositive, weights)
    if (found === undefined) continue
    drawn.auroc.push(found.auroc)
    drawn.auprc.push(found.auprc)
  }
  const interval = (name) => ({ share: whole[name], ...percentiles(drawn[name], whole[name]), of: count })
  return { auroc: interval('auroc'), auprc: interval('auprc'), positives: isPositive.filter(Boolean).length }
}

function percentiles(values, otherwise) {
  if (values.length === 0) return { low: otherwise, high: otherwise }
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  return { low: at(0.025), high: at(0.975) }
}

/** Precision, recall and their harmonic mean from counts of rows. */
export function f1(truePositives, falsePositives, falseNegatives) {
  const precision = truePositives + falsePositives === 0 ? 0 : truePositives / (truePositives + falsePositives)
  const recall = truePositives + falseNegatives === 0 ? 0 : truePositives / (truePositives + falseNegatives)
  const sum = precision + recall
  return { precision, recall, f1: sum === 0 ? 0 : (2 * precision * recall) / sum }
}

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
