import type { TrainingRow } from '../../training/rows.js'

/** A corpus of a few hundred rows from four sources, mild and small, in which one lane can be learnt. */
export function tinyCorpus(): TrainingRow[] {
  const rows: TrainingRow[] = []
  const insults = ['you are a fool', 'what a silly clown you are', 'go away you fool', 'nobody likes you clown 🤡']
  const kind = ['what a lovely garden', 'please book a table for two', 'how do I bake bread', '天气很好 thank you 🌻']
  for (let i = 0; i < 240; i++) {
    const harmful = i % 2 === 0
    const list = harmful ? insults : kind
    rows.push({
      text: `${list[(i % 4) >> 1]} ${list[(i >> 2) % 4]} number ${i % 17}`,
      labels: harmful ? { harassment: 1 } : {},
      unsafe: harmful ? 1 : 0,
      source: `source${i % 5}`,
      kind: i % 3 === 0 ? 'comment' : 'prompt'
    })
  }
  return rows
}
