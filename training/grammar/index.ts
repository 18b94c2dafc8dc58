/**
 * Training rows for what the corpora are thin in: short requests for harm, insults and injected instructions, each topic with
 * benign twins that use the same words. Never loaded when serving.
 */
import type { TrainingRow } from '../rows.js'
import type { Pattern, Scope } from './pattern.js'
import { Random } from './random.js'
import { dress, type Surroundings } from './style.js'
import { type Group, readTables } from './tables.js'
import { writtenRows } from './written.js'

/** Longest text of a row, in UTF-16 units. */
const longest = 8000

/** The same rows in the same order for the same seed; no text twice, upper and lower case being one. */
export function* syntheticRows(seed: number): Iterable<TrainingRow> {
  const { topics, common } = readTables()
  const around: Surroundings = {
    lead: common('lead'),
    story: common('story'),
    tail: common('tail'),
    mention: common('mention'),
    hashtag: common('hashtag')
  }
  const seen = new Set<string>()
  for (const topic of topics) {
    for (const group of topic.groups) yield* rowsOf(group, `grammar:${topic.name}`, seed, around, seen)
  }
  for (const row of writtenRows()) {
    const key = row.text.toLowerCase()
    if (!seen.has(key)) yield row
    seen.add(key)
  }
}

function* rowsOf(
  group: Group,
  source: string,
  seed: number,
  around: Surroundings,
  seen: Set<string>
): Iterable<TrainingRow> {
  const random = new Random(seed, group.name)
  const { labels, unsafe, kind, role } = group
  // A group with few wordings ends early, when most of what it writes was written before.
  for (let written = 0, tries = 0; written < group.rows && tries < group.rows * 4; tries++) {
    const text = textOf(group, around, random)
    const key = text.toLowerCase()
    if (text.length > longest || seen.has(key)) continue
    seen.add(key)
    written++
    yield {
      text,
      labels: { ...labels },
      ...(unsafe === undefined ? {} : { unsafe }),
      source,
      kind,
      ...(role === undefined ? {} : { role })
    }
  }
}

function textOf(group: Group, around: Surroundings, random: Random): string {
  const it: Pattern = (scope) => random.pick(group.of)(scope)
  const scope: Scope = { random, bound: new Map(), it }
  const text = group.frames === undefined ? it(scope) : random.pick(group.frames)(scope)
  return dress(text, group.style, around, scope).trim()
}
