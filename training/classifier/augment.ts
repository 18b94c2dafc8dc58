/**
 * Rows made from other rows: harmless texts laid end to end, since real prompts are longer than those of the corpora;
 * harmful ones inside them, since an attack may stand anywhere; and harmless ones in rotated letters, backwards or encoded,
 * since such texts, and such readings of ordinary ones, are scored too and must mean nothing.
 */
import type { TrainingRow } from '../rows.js'
import type { Random } from './random.js'

/** A row made of others is left out wherever one of them is. */
export interface MadeRow extends TrainingRow {
  made?: true
  /** The source of the harmless rows around or after it. */
  carrier?: string
}

/** How many of each, at most one for every ten rows. */
const longTexts = 4500
const garbled = 3600

/** @param insideTexts how many harmful rows are laid into harmless ones */
export function madeRows(rows: readonly TrainingRow[], random: Random, insideTexts = 6000): MadeRow[] {
  const carriers = new Map<string, TrainingRow[]>()
  for (const row of rows) {
    if (row.unsafe !== 0 || row.role === 'assistant') continue
    const known = carriers.get(row.source)
    if (known === undefined) carriers.set(row.source, [row])
    else known.push(row)
  }
  const sources = [...carriers.keys()]
  const upTo = (most: number) => Math.min(most, Math.ceil(rows.length / 10))
  if (sources.length === 0) return []
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)]!
  const some = (source: string, most: number) =>
    Array.from({ length: 1 + random.below(most) }, () => pick(carriers.get(source)!).text)
  const made: MadeRow[] = []
  for (let i = 0; i < upTo(longTexts); i++) {
    const source = pick(sources)
    // Every third goes on in another hand, for what is odd beside one text is not beside another.
    const carrier = i % 3 === 0 ? pick(sources) : source
    const text = [...some(source, 10), ...some(carrier, 10)].join(pick(joints)).slice(0, 8000)
    made.push({ text, labels: {}, unsafe: 0, source, carrier, kind: 'document', made: true })
  }
  const harmful = rows.filter(
    (row) => row.unsafe === 1 || row.labels.prompt_injection === 1 || row.labels.jailbreak === 1
  )
  for (let i = 0; i < upTo(insideTexts) && harmful.length > 0; i++) {
    const row = pick(harmful)
    const carrier = pick(sources)
    const joint = pick(joints)
    const text = [...some(carrier, 8), row.text, ...some(carrier, 8)].join(joint)
    if (text.length < 8000) made.push({ ...row, text, carrier, made: true })
  }
  for (let i = 0; i < upTo(garbled); i++) {
    const source = pick(sources)
    const { text } = pick(carriers.get(source)!)
    made.push({
      text: garbles[i % garbles.length]!(text).slice(0, 4000),
      labels: {},
      unsafe: 0,
      source,
      kind: 'document',
      made: true
    })
  }
  return made
}

const joints = [' ', '\n', '\n\n', '. '] as const

function rotated(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const code = letter.charCodeAt(0)
    const base = code < 97 ? 65 : 97
    return String.fromCharCode(((code - base + 13) % 26) + base)
  })
}

function reversed(text: string): string {
  return [...text].reverse().join('')
}

const bytesAs = (radix: number, before: string, gap: string) => (text: string) =>
  [...Buffer.from(text)].map((byte) => before + byte.toString(radix).padStart(2, '0')).join(gap)

/** The first two are as many as all the others. */
const garbles: readonly ((text: string) => string)[] = [
  rotated,
  bytesAs(16, '', ' '),
  reversed,
  bytesAs(16, '%', ''),
  rotated,
  bytesAs(10, '', ' '),
  reversed,
  (text) => [...text].map((letter) => `&#${letter.codePointAt(0)};`).join(''),
  rotated,
  (text) => Buffer.from(text).toString('base64'),
  reversed,
  (text) => text.replace(/(\p{L}{2})(?=\p{L})/gu, '$1-\n')
]
