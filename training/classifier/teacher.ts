/**
 * What the encoder says of texts, read from the file that its training leaves (`teacher.jsonl`, see training/README.md): the
 * first reader learns from it which texts the encoder need not see.
 */
import { readFileSync } from 'node:fs'
import type { TrainingRow } from '../rows.js'
import { clears, stops } from './targets.js'

interface Line {
  text: string
  source: string
  kind: TrainingRow['kind']
  role: 'user' | 'assistant' | 'tool'
  harmless: boolean
  /** Undefined where the encoder was not asked, and labels tell. */
  says?: number
  /** Of what tools bring: whether it holds an order. */
  order?: true
  /** Whether no run learns from it. */
  kept?: true
}

/**
 * @param rows of the corpora and grammars: what the file says of one of them is noted there
 * @returns rows of the file that are not among them, with nothing known but what the encoder says
 */
export function taught(rows: TrainingRow[], file: string): TrainingRow[] {
  const known = new Map<string, TrainingRow>()
  for (const row of rows) known.set(keyOf(row.text, row.role), row)
  const others: TrainingRow[] = []
  for (const { text, source, kind, role, harmless, says } of lines(file)) {
    if (says === undefined) continue
    const row = known.get(keyOf(text, role))
    if (row !== undefined) row.says = says
    // Harmless is not said of it, or it would count for every lane once more; what the encoder gets wrong teaches nothing.
    else if (!harmless || says < clears) others.push({ text, labels: {}, source, kind, role, says })
  }
  return others
}

/**
 * The rows of a file for one lane by itself: what is known of them is said, for nothing else learns from it. What tools bring
 * is stopped for the orders in it alone.
 */
export function taughtLane(file: string, isOfTools: boolean): TrainingRow[] {
  return lines(file)
    .filter(({ role }) => (role === 'tool') === isOfTools)
    .map(({ text, source, kind, role, harmless, says, order, kept }) => ({
      text,
      labels: isOfTools && !harmless && (order === true || (says ?? 0) >= stops) ? { prompt_injection: 1 } : {},
      ...(harmless ? { unsafe: 0 as const } : (says ?? 0) >= stops && { unsafe: 1 as const }),
      ...(kept && { keptBack: kept }),
      source,
      kind,
      role,
      ...(says !== undefined && { says })
    }))
}

function lines(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

function keyOf(text: string, role = 'user'): string {
  return `${role === 'assistant' || role === 'tool' ? role : 'user'} ${text}`
}
