/**
 * What people say to models and models answer, written one at a time, harmful and honest in the same words: JSON lines in
 * `training/written/requests` and `training/written/answers`, `{text, kind, language}`. `training/encoder/asked.py` and `answered.py` read
 * the same files, under the same names of sources.
 */
import { createHash } from 'node:crypto'
import { type Label, labels } from '../../src/classifier/lanes.js'
import { writtenLines } from '../grammar/written.js'
import type { TrainingRow } from '../rows.js'

/** By the beginning of a file's name; of all other requests the first. */
const sources = ['requests', 'jailbreaks', 'remarks', 'abroad'] as const
/** One row in so many teaches nothing, and measures: `BACK` of `training/encoder/pairs.py`. */
const back = 6

/**
 * The rows that may be learnt from. Those that are kept back set the confidences of both readers together.
 *
 * @throws Error where a line is no such row, with its place
 */
export function* askedAndAnswered(): Iterable<TrainingRow> {
  for (const kind of ['requests', 'answers'] as const) {
    for (const { file, line, place } of writtenLines(`${kind}/`)) {
      const source = kind === 'answers' ? kind : (sources.find((name) => file.startsWith(name)) ?? sources[0])
      const row = rowOf(line, source, place)
      if (!isKeptBack(row.text)) yield row
    }
  }
}

function rowOf(line: string, source: (typeof sources)[number] | 'answers', place: string): TrainingRow {
  const { text, kind } = JSON.parse(line) as { text?: unknown; kind?: unknown }
  if (typeof text !== 'string' || (kind !== null && !labels.includes(kind as Label)))
    throw new Error(`${place} is no row: {text, kind: a category or null, language}`)
  return {
    text,
    labels: kind === null ? {} : { [kind as Label]: 1 },
    // An order against a model's instructions need not be after anything else.
    ...(kind !== 'prompt_injection' && { unsafe: kind === null ? 0 : 1 }),
    source: `written:${source}`,
    kind: source === 'remarks' ? 'comment' : source === 'answers' ? 'conversation' : 'prompt',
    role: source === 'answers' ? 'assistant' : 'user'
  }
}

function isKeptBack(text: string): boolean {
  return Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 8), 16) % back === 0
}
