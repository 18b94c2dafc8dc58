/**
 * What the encoder says of texts, read from the file that its training leaves (`teacher.jsonl`, see training/README.md): the
 * first reader learns from it which texts the encoder need not see.
 */
import { readFileSync } from 'node:fs'
import type { TrainingRow } from '../rows.js'
import { clears } from './targets.js'

interface Line {
  text: string
  source: string
  kind: TrainingRow['kind']
  role: 'user' | 'assistant' | 'tool'
  harmless: boolean
  says: number
}

/**
 * @param rows of the corpora and grammars: what the file says of one of them is noted there
 * @returns rows of the file that are not among them, with nothing known but what the encoder says
 */
export function taught(rows: TrainingRow[], file: string): TrainingRow[] {
  const known = new Map<string, TrainingRow>()
  for (const row of rows) known.set(keyOf(row.text, row.role), row)
  const others: TrainingRow[] = []
  for (const written of readFileSync(file, 'utf8').split('\n')) {
    if (written === '') continue
    const { text, source, kind, role, harmless, says } = JSON.parse(written) as Line
    const row = known.get(keyOf(text, role))
    if (row !== undefined) row.says = says
    // Harmless is not said of it, or it would count for every lane once more; what the encoder gets wrong teaches nothing.
    else if (!harmless || says < clears) others.push({ text, labels: {}, source, kind, role, says })
  }
  return others
}

function keyOf(text: string, role = 'user'): string {
  return `${role === 'assistant' || role === 'tool' ? role : 'user'} ${text}`
}
