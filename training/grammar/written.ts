/**
 * Rows that were written one at a time, where a grammar would repeat itself: what is planted for an agent in what its tools
 * bring, and honest twins in the same words. JSON lines in `training/written`: `{text, order, language}`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { labels } from '../../src/classifier/lanes.js'
import type { TrainingRow } from '../rows.js'

const folder = new URL('../written/', import.meta.url)

interface Written {
  text: string
  /** Whether it turns the agent that reads it against its user. */
  order: boolean
  language: string
}

/** What an order to an agent is not, whatever it asks for. */
const not = ['profanity', 'sexual', 'self_harm', 'weapons', 'hate'] as const

/** @throws Error where a line is no such row, with its place */
export function* writtenRows(): Iterable<TrainingRow> {
  for (const { line, place } of writtenLines()) {
    const { text, order } = parse(line, place)
    yield {
      text,
      labels: order
        ? { ...Object.fromEntries(not.map((label) => [label, 0])), prompt_injection: 1 }
        : Object.fromEntries(labels.map((label) => [label, 0])),
      ...(!order && { unsafe: 0 }),
      source: 'grammar:agent_written',
      kind: 'document',
      role: 'tool'
    }
  }
}

/**
 * The lines of the files in `training/written`, or in a folder there: the file's name, the line, and its place for messages.
 *
 * @param inside ends with a slash
 */
export function* writtenLines(inside = ''): Iterable<{ file: string; line: string; place: string }> {
  const from = new URL(inside, folder)
  for (const file of readdirSync(from)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()) {
    const lines = readFileSync(new URL(file, from), 'utf8').split('\n')
    for (const [i, line] of lines.entries())
      if (line !== '') yield { file, line, place: `training/written/${inside}${file}:${i + 1}` }
  }
}

function parse(line: string, place: string): Written {
  const { text, order, language } = JSON.parse(line) as Partial<Written>
  if (typeof text === 'string' && text.trim() !== '' && typeof order === 'boolean' && typeof language === 'string')
    return { text, order, language }
  throw new Error(`${place} is no row: {text, order: true or false, language} is needed`)
}
