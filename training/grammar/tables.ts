/** Reads the grammar's tables, one YAML file per topic; `common.yaml` holds the lists that all topics share. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { labels as known, type Label } from '../../src/classifier/lanes.js'
import type { TrainingRow } from '../rows.js'
import { compile, type Lookup, type Pattern, PatternError } from './pattern.js'
import { type Style, styles } from './style.js'

/** Rows of one kind and label. */
export interface Group {
  /** `<topic>/<harmful|benign>/<place in the file>` */
  readonly name: string
  readonly labels: Partial<Record<Label, 0 | 1>>
  readonly unsafe: 0 | 1 | undefined
  readonly rows: number
  readonly kind: TrainingRow['kind']
  readonly role: TrainingRow['role']
  readonly style: Style
  readonly of: readonly Pattern[]
  /** What the group's texts are set into as `$it`; undefined where they stand alone. */
  readonly frames: readonly Pattern[] | undefined
}

export interface Topic {
  readonly name: string
  readonly groups: readonly Group[]
}

interface GroupTable {
  labels?: string | string[]
  unsafe?: 0 | 1 | 'unknown'
  rows: number
  kind?: TrainingRow['kind']
  role?: TrainingRow['role']
  style?: Style
  in?: string
  of: string | string[]
}

interface TopicTable {
  topic: string
  /** Categories that are 0 on the topic's harmful rows; all others that a row does not name are unknown there. */
  not?: string | string[]
  /** The style of groups that name none. */
  style?: Style
  words?: Record<string, string | string[]>
  harmful?: GroupTable[]
  benign?: GroupTable[]
}

const folder = fileURLToPath(new URL('../../config/models/grammar/', import.meta.url))
const topicKeys = ['topic', 'not', 'style', 'words', 'harmful', 'benign']
const groupKeys = ['labels', 'unsafe', 'rows', 'kind', 'role', 'style', 'in', 'of']

export interface Tables {
  readonly topics: readonly Topic[]
  /** An entry list of `common.yaml`. */
  readonly common: Lookup
}

/** @throws {Error} naming file and place */
export function readTables(from: string = folder): Tables {
  const shared = read<{ words: Record<string, string | string[]> }>(from, 'common.yaml', ['words'])
  const common = lookupIn([shared.words], 'common.yaml')
  const topics = readdirSync(from)
    .filter((file) => file.endsWith('.yaml') && file !== 'common.yaml')
    .sort()
    .map((file) => topicOf(read<TopicTable>(from, file, topicKeys), file, shared.words))
  return { topics, common }
}

function read<T extends object>(from: string, file: string, keys: readonly string[]): T {
  const table = parse(readFileSync(`${from}/${file}`, 'utf8')) as T
  refuseUnknown(table, keys, file)
  return table
}

function topicOf(table: TopicTable, file: string, shared: TopicTable['words']): Topic {
  const lookup = lookupIn([table.words ?? {}, shared ?? {}], file)
  const not = named(table.not, file)
  const groups = (['harmful', 'benign'] as const).flatMap((side) =>
    (table[side] ?? []).map((group, i) => {
      const name = `${table.topic}/${side}/${i}`
      refuseUnknown(group, groupKeys, `${file}: ${name}`)
      return groupOf(
        { ...(table.style === undefined ? {} : { style: table.style }), ...group },
        name,
        side === 'benign',
        not,
        lookup
      )
    })
  )
  return { name: table.topic, groups }
}

function groupOf(table: GroupTable, name: string, benign: boolean, not: readonly Label[], lookup: Lookup): Group {
  const { kind = 'prompt', style = kind === 'prompt' ? 'chat' : kind === 'comment' ? 'comment' : 'none' } = table
  if (!styles.includes(style)) throw new Error(`${name}: style is one of ${styles.join(', ')}`)
  const positive = named(table.labels, name)
  if (benign && positive.length > 0) throw new Error(`${name}: a benign group has no labels`)
  const labels: Group['labels'] = {}
  for (const category of benign ? known : not) labels[category] = 0
  for (const category of positive) labels[category] = 1
  const unsafe = table.unsafe === 'unknown' ? undefined : (table.unsafe ?? (benign ? 0 : 1))
  const of = entries(table.of, name).map((entry) => compiled(entry, lookup, name))
  const frames = table.in === undefined ? undefined : lookup(table.in)
  return { name, labels, unsafe, rows: table.rows, kind, role: table.role, style, of, frames }
}

/** A list may be written as one string with semicolons, which keeps long word lists short. */
function entries(list: string | string[], place: string): string[] {
  if (typeof list !== 'string') {
    const odd = list.find((entry) => typeof entry !== 'string')
    if (odd !== undefined)
      throw new Error(`${place}: put quotes around ${JSON.stringify(odd)}, which YAML reads as no text`)
    return list
  }
  const found = list.split(';').map((entry) => entry.trim().replace(/\s+/g, ' ').replace(/^""$/, ''))
  if (found.at(-1) === '') found.pop()
  return found
}

function named(list: string | string[] | undefined, place: string): Label[] {
  const found = entries(list ?? [], place)
  for (const name of found) {
    if (!(known as readonly string[]).includes(name)) throw new Error(`${place}: no label "${name}"`)
  }
  return found as Label[]
}

function compiled(entry: string, lookup: Lookup, place: string): Pattern {
  try {
    return compile(entry, lookup)
  } catch (error) {
    throw error instanceof PatternError ? new Error(`${place}: ${error.message}`) : error
  }
}

/** The first of the tables that has the name; each list is compiled once, when first asked for. */
function lookupIn(tables: readonly Record<string, string | string[]>[], file: string): Lookup {
  const known = new Map<string, Pattern[]>()
  const lookup: Lookup = (name) => {
    if (name === 'it') return [(scope) => scope.it(scope)]
    const before = known.get(name)
    if (before !== undefined) return before
    const table = tables.find((words) => Object.hasOwn(words, name))
    if (table === undefined) throw new PatternError(`no word list "${name}"`)
    const list: Pattern[] = []
    known.set(name, list)
    list.push(...entries(table[name]!, `${file}: ${name}`).map((entry) => compiled(entry, lookup, `${file}: ${name}`)))
    return list
  }
  return lookup
}

function refuseUnknown(table: object, keys: readonly string[], place: string): void {
  for (const key of Object.keys(table)) {
    if (!keys.includes(key)) throw new Error(`${place}: unknown key "${key}", known are ${keys.join(', ')}`)
  }
}
