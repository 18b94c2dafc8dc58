/**
 * `npm run train:words -- --data DIR`: counts the words that people write, in the corpora and in the written rows, and
 * adds those of the encoder's vocabulary. `src/text/word-costs.ts` reads the file to find gaps between words that run
 * together. The same input gives the same bytes.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { costOfShare, longestKnownWord } from '../src/text/word-costs.js'
import { readCorpus } from './classifier/corpus.js'

const usage = 'usage: npm run train:words -- --data DIR [--out FILE]'

/** Of one source, so that none stands for all. */
const mostRows = 4000
/** Characters of one row. */
const longestText = 2000
/** A word that is rarer, or of one source alone, is a misspelling or a name. */
const leastCount = 3
const leastSources = 2

const word = /[\p{L}\p{M}]+/gu

/** @param root the project's folder */
export function wordsCommand(args: string[], root: string): void {
  const { values } = parseArgs({ args, options: { data: { type: 'string' }, out: { type: 'string' } } })
  if (values.data === undefined) throw new Error(usage)
  const out = values.out ?? join(root, 'config/models/words.txt')
  const counter = new Counter()
  const { rows, hash } = readCorpus(values.data)
  for (const { text, source } of rows) counter.read(text, source)
  for (const { text, source } of written(join(root, 'training/written'))) counter.read(text, source)
  const costs = counter.costs()
  const counted = costs.size
  for (const [piece, cost] of pieces(join(root, 'config/models/encoder.tokenizer.json'))) {
    if (!costs.has(piece)) costs.set(piece, cost)
  }
  writeFileSync(out, fileOf(costs, { hash, counted }))
  console.log(`${out}: ${counted} words counted, ${costs.size - counted} of the encoder's vocabulary`)
}

class Counter {
  readonly #counts = new Map<string, number>()
  readonly #sources = new Map<string, Set<string>>()
  readonly #rows = new Map<string, number>()
  #total = 0

  read(text: string, source: string): void {
    const rows = (this.#rows.get(source) ?? 0) + 1
    this.#rows.set(source, rows)
    if (rows > mostRows) return
    for (const [found] of text.slice(0, longestText).toLowerCase().normalize('NFC').matchAll(word)) {
      this.#total++
      if (found.length > longestKnownWord) continue
      this.#counts.set(found, (this.#counts.get(found) ?? 0) + 1)
      const sources = this.#sources.get(found)
      if (sources === undefined) this.#sources.set(found, new Set([source]))
      else if (sources.size < leastSources) sources.add(source)
    }
  }

  costs(): Map<string, number> {
    const costs = new Map<string, number>()
    for (const [found, count] of this.#counts) {
      if (count < leastCount || this.#sources.get(found)!.size < leastSources || isLoneConsonant(found)) continue
      costs.set(found, costOfShare(count / this.#total))
    }
    return costs
  }
}

/** Few languages have words of one letter, and none that is a consonant of Latin letters: those are initials and items. */
function isLoneConsonant(found: string): boolean {
  return /^[b-df-hj-np-tv-xz]$/.test(found)
}

/** Rows of all files, whatever they teach: each file is a source. */
function* written(folder: string): Iterable<{ text: string; source: string }> {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!file.endsWith('.jsonl')) continue
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      const { text }: { text?: unknown } = line === '' ? {} : JSON.parse(line)
      if (typeof text === 'string') yield { text, source: `written/${file}` }
    }
  }
}

/** The vocabulary's pieces that begin a word and may be one; it gives the logarithm of a piece's share. */
function* pieces(file: string): Iterable<[piece: string, cost: number]> {
  const { model }: { model: { vocab: [piece: string, score: number][] } } = JSON.parse(readFileSync(file, 'utf8'))
  for (const [marked, score] of model.vocab) {
    const piece = marked.slice(1).toLowerCase()
    if (!marked.startsWith('▁') || !/^[\p{L}\p{M}]+$/u.test(piece) || isLoneConsonant(piece)) continue
    if (score < 0 && piece.length <= longestKnownWord) yield [piece, costOfShare(Math.exp(score))]
  }
}

function fileOf(costs: ReadonlyMap<string, number>, { hash, counted }: { hash: string; counted: number }): string {
  const byCost = new Map<number, string[]>()
  for (const [found, cost] of costs) byCost.set(cost, [...(byCost.get(cost) ?? []), found])
  const lines = [...byCost].sort(([a], [b]) => a - b).map(([cost, words]) => `${cost} ${words.sort().join(' ')}`)
  return [
    '# What each word costs where words that run together are taken apart: twice the negative logarithm of its share.',
    '# Written by `npm run train:words -- --data DIR`; nobody edits it.',
    `# ${counted} words of the training rows of config/models/classifier.json (SHA-256 ${hash}) and of training/written;`,
    `# ${costs.size - counted} of the vocabulary of multilingual-e5-small (MIT), with its shares.`,
    ...lines,
    ''
  ].join('\n')
}
