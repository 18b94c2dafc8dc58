/** Reads the training corpora: a folder with `train/*.jsonl`, one row a line. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { labels } from '../../src/classifier/lanes.js'
import type { TrainingRow } from '../rows.js'

export interface Corpus {
  rows: TrainingRow[]
  /** SHA-256 over the files, in the order of their names. */
  hash: string
  /** Licence and number of rows by source. */
  sources: Record<string, { license: string; rows: number }>
}

interface SourceRow {
  text: string
  labels: Record<string, 0 | 1>
  unsafe?: 0 | 1
  source: string
  license: string
  kind: TrainingRow['kind']
  context?: { role?: string; hazard?: string }
}

/** @param folder holds `train/` */
export function readCorpus(folder: string): Corpus {
  const train = join(folder, 'train')
  const names = readdirSync(train)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
  if (names.length === 0) throw new Error(`${train} holds no .jsonl file`)
  const hash = createHash('sha256')
  const corpus: Corpus = { rows: [], hash: '', sources: {} }
  for (const name of names) {
    const text = readFileSync(join(train, name), 'utf8')
    hash.update(name).update(text)
    for (const line of text.split('\n')) {
      if (line === '') continue
      const row = JSON.parse(line) as SourceRow
      corpus.rows.push(toRow(row))
      corpus.sources[row.source] ??= { license: row.license, rows: 0 }
      corpus.sources[row.source]!.rows++
    }
  }
  corpus.hash = hash.digest('hex')
  return corpus
}

function toRow(row: SourceRow): TrainingRow {
  const known = Object.fromEntries(labels.flatMap((label) => (label in row.labels ? [[label, row.labels[label]]] : [])))
  // MLCommons counts indiscriminate weapons as a hazard of their own, which these labels file under illicit.
  if (row.context?.hazard === 'iwp') known['weapons'] = 1
  return {
    text: row.text,
    labels: known,
    ...(row.unsafe === undefined ? {} : { unsafe: row.unsafe }),
    source: row.source,
    kind: row.kind,
    ...(row.context?.role === undefined ? {} : { role: row.context.role })
  }
}
