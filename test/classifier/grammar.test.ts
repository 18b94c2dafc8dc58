import t from 'tap'
import { labels } from '../../src/classifier/lanes.js'
import { syntheticRows } from '../../training/grammar/index.js'
import { inflect } from '../../training/grammar/inflect.js'
import { compile, type Pattern, PatternError } from '../../training/grammar/pattern.js'
import { Random } from '../../training/grammar/random.js'
import type { TrainingRow } from '../../training/rows.js'

const rows = [...syntheticRows(1)]
const topics = new Map<string, TrainingRow[]>()
for (const row of rows) {
  const of = topics.get(row.source)
  if (of === undefined) topics.set(row.source, [row])
  else of.push(row)
}

const isPositive = (row: TrainingRow) => row.unsafe === 1 || Object.values(row.labels).includes(1)
const start = (seed: number) => {
  const found: TrainingRow[] = []
  for (const row of syntheticRows(seed)) if (found.push(row) === 500) break
  return found
}

t.test('the same seed writes the same rows, another seed others', async (t) => {
  t.same(start(1), rows.slice(0, 500))
  t.notSame(start(2), rows.slice(0, 500))
})

t.test('every topic has harmful rows and at least as many benign twins, all topics together too', async (t) => {
  for (const [source, of] of topics) {
    const positive = of.filter(isPositive).length
    t.match(source, /^grammar:[a-z_]+$/)
    t.ok(of.length >= 700, `${source} has ${of.length} rows`)
    t.ok(of.length - positive >= positive * 0.9, `${source}: ${positive} positive, ${of.length - positive} not`)
  }
  const positive = rows.filter(isPositive).length
  t.ok(rows.length >= 40_000 && rows.length <= 160_000, `${rows.length} rows`)
  t.ok(rows.length - positive >= positive, `${positive} positive rows`)
})

t.test('labels are known ones, benign rows know them all, and every label has examples both ways', async (t) => {
  const ones = new Map<string, number>()
  const zeros = new Map<string, number>()
  let wrong = 0
  for (const row of rows) {
    for (const [label, value] of Object.entries(row.labels)) {
      if (!(labels as readonly string[]).includes(label)) wrong++
      const counts = value === 1 ? ones : zeros
      counts.set(label, (counts.get(label) ?? 0) + 1)
    }
    if (!isPositive(row) && (Object.keys(row.labels).length !== labels.length || row.unsafe !== 0)) wrong++
    if (isPositive(row) && row.unsafe === 0) wrong++
  }
  t.equal(wrong, 0)
  for (const label of labels) t.ok(ones.get(label)! >= 500 && zeros.get(label)! >= 10_000, label)
})

t.test('no row is empty, overlong, unfinished or there twice', async (t) => {
  const seen = new Set<string>()
  for (const { text, source } of rows) {
    const key = text.toLowerCase()
    const flaws = [
      text.length < 2 && 'empty',
      text.length > 8000 && 'overlong',
      seen.has(key) && 'there twice',
      // What was written one at a time quotes programs.
      source !== 'grammar:agent_written' && /\$\{(?:\d|\w+[:@])|\[object|undefined|\(\||\|\)/.test(text) && 'unfinished'
    ].filter(Boolean)
    if (flaws.length > 0) t.fail(`${source}: ${flaws.join(', ')}: ${text.slice(0, 80)}`)
    seen.add(key)
  }
  t.equal(seen.size, rows.length)
})

t.test('nothing sexual names or hints at minors', async (t) => {
  const minors =
    /\b(?:child(?:ren|ish|hood)?|kids?|kiddos?|teens?|teenagers?|teenage|minors?|underage|girls?|boys?|young(?:er|est)?|youth|toddlers?|infants?|bab(?:y|ies)|preteens?|adolescents?|juveniles?|schools?|schoolgirls?|schoolboys?|students?|pupils?|class(?:room|mates?)?|teachers?|daughters?|sons?|stepdaughters?|stepsons?|nieces?|nephews?|virgins?|loli|shota|years? old|\d+ ?yo|jailbait|cheerleaders?|babysitters?|kindergarten|puberty|orphans?)\b/i
  const sexual = /\b(?:sex|sexual|porn|pornographic|nudes?|naked|erotic|nsfw|horny|xxx|hentai)\b/i
  const found = rows.filter(
    (row) => isPositive(row) && (row.labels.sexual === 1 || sexual.test(row.text)) && minors.test(row.text)
  )
  t.same(
    found.map((row) => row.text),
    []
  )
})

t.test('a scary word alone is no sign: it stands in benign rows too', async (t) => {
  const words =
    'kill attack bomb gun shoot steal hack inject exploit poison drug virus malware password weapon explosive ignore rules suicide murder hate racist fake phishing execute terminate'
  for (const word of words.split(' ')) {
    const having = rows.filter((row) => new RegExp(`\\b${word}\\b`, 'i').test(row.text))
    const benign = having.filter((row) => !isPositive(row)).length
    t.ok(benign / having.length >= 0.15, `${word}: ${benign} of ${having.length}`)
  }
})

t.test('few of the words that occur often stand in harmful rows only', async (t) => {
  const counts = new Map<string, { positive: number; all: number }>()
  for (const row of rows) {
    for (const word of new Set(row.text.toLowerCase().match(/\p{L}[\p{L}']{2,}/gu))) {
      const count = counts.get(word) ?? { positive: 0, all: 0 }
      count.all++
      if (isPositive(row)) count.positive++
      counts.set(word, count)
    }
  }
  const frequent = [...counts].filter(([, count]) => count.all >= 40)
  const lopsided = frequent.filter(([, count]) => count.positive / count.all > 0.97).sort((a, b) => b[1].all - a[1].all)
  t.ok(
    lopsided.length / frequent.length < 0.04,
    `${lopsided.length} of ${frequent.length}: ${lopsided.map(([word, { all }]) => `${word} ${all}`).join(', ')}`
  )
})

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the notation has its own slots
t.test('patterns are written as their notation says', async (t) => {
  const lists: Record<string, string[]> = { fruit: ['apple'], act: ['secretly make tea'], many: ['a', 'b', 'c', 'd'] }
  const write = (source: string, seed = 1) => {
    const lookup = (name: string): Pattern[] => {
      if (lists[name] === undefined) throw new PatternError(`no word list "${name}"`)
      return lists[name].map((entry) => compile(entry, lookup))
    }
    return compile(source, lookup)({ random: new Random(seed, 'test'), bound: new Map(), it: () => 'it' })
  }
  t.equal(write('$fruit:a, $fruit:s, $fruit:cap:s, $act:ing'), 'an apple, apples, Apples, secretly making tea')
  t.equal(write('f(x), (a (b)), costs $$5'), 'f(x), (a (b)), costs $5')
  t.equal(write('${fruit}s ${fruit:upper}'), 'apples APPLE')
  t.match(write('(yes|no), %3-5%'), /^(?:yes|no), [345]$/)
  t.match(write('${2-2+ many}'), /^[a-d] [a-d]$/)
  t.match(write('${3-3, many}'), /^[a-d], [a-d], [a-d]$/)
  t.match(write('${2-2 many}\\nend'), /^[a-d]\n[a-d]\nend$/)
  for (let seed = 0; seed < 20; seed++) t.match(write('$many@1$many@1', seed), /^(.)\1$/)
  t.throws(() => write('$nothing'), { message: 'no word list "nothing"' })
  t.throws(() => write('$fruit:loud'), { message: 'no form ":loud" in $fruit:loud' })
})

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: the notation has its own slots
t.test('verbs and nouns are inflected', async (t) => {
  const ing: Record<string, string> = {
    make: 'making',
    cut: 'cutting',
    die: 'dying',
    'set up': 'setting up',
    open: 'opening',
    build: 'building',
    see: 'seeing',
    steal: 'stealing',
    get: 'getting',
    kidnap: 'kidnapping',
    differ: 'differing',
    play: 'playing'
  }
  for (const [verb, form] of Object.entries(ing)) t.equal(inflect(verb, 'ing'), form)
  t.same(
    ['box', 'city', 'day', 'gun'].map((noun) => inflect(noun, 's')),
    ['boxes', 'cities', 'days', 'guns']
  )
})
