/** Ranking metrics. Scores may tie; ties count half (AUROC) or as one step (AUPRC). */

export interface Ranking {
  auroc: number
  auprc: number
}

export function ranking(positive: readonly number[], negative: readonly number[]): Ranking {
  const all = [...positive.map((s) => ({ s, y: 1 })), ...negative.map((s) => ({ s, y: 0 }))].sort((a, b) => b.s - a.s)
  let [tp, fp, auroc, auprc] = [0, 0, 0, 0]
  for (let i = 0; i < all.length; ) {
    let j = i
    let [p, n] = [0, 0]
    for (; j < all.length && all[j]!.s === all[i]!.s; j++) {
      if (all[j]!.y === 1) p++
      else n++
    }
    auroc += n * (tp + p / 2)
    tp += p
    fp += n
    auprc += (p * tp) / (tp + fp)
    i = j
  }
  return { auroc: auroc / (tp * fp || 1), auprc: auprc / (tp || 1) }
}

/** The score that a share of the list lies above. */
export function threshold(scores: readonly number[], share: number): number {
  const sorted = [...scores].sort((a, b) => b - a)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function shareAbove(scores: readonly number[], limit: number): number {
  return scores.length === 0 ? 0 : scores.filter((score) => score > limit).length / scores.length
}
