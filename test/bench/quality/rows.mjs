// The rows of the corpora: which group a row belongs to, in which role it is read, and in which language it is written.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sample } from './stats.mjs'

/** What a quick run takes of each set. */
const quickRows = 150

/** @returns sets by name, each a list of rows with `group`, `role`, `language` and `script` added */
export function readSets(folder, { only, quick }) {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
  const sets = new Map()
  for (const file of files) {
    const name = basename(file, '.jsonl')
    if (only !== undefined && !only.includes(name)) continue
    const rows = readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line, i) => describe(parse(line, `${file}:${i + 1}`), name))
    sets.set(name, quick ? sample(rows, quickRows) : rows)
  }
  return sets
}

function parse(line, place) {
  try {
    const row = JSON.parse(line)
    if (typeof row?.text === 'string') return row
  } catch {
    // Said below, without the line itself: it may hold anything.
  }
  throw new Error(`${place} is no row: a JSON object with a string "text" is needed`)
}

/** Corpus names of categories, where they differ from the evaluator's. */
export const categoryOf = (label) => (label === 'pii' ? 'personal_data' : label)

function describe({ id, text, labels, unsafe, kind, context }, set) {
  const row = { id, set, text, labels: labels ?? {}, unsafe, kind: kind ?? 'prompt', context: context ?? {} }
  row.group = groupOf(row)
  row.role = roleOf(row)
  row.script = scriptOf(text)
  row.language = languageOf(row)
  return row
}

/** Sets of harmless sentences that sound dangerous: a refusal here is an over-refusal. */
const overRefusal = /frr|xstest|or_?bench|over_?refus|look_?alike|phtest/

/**
 * From the row's own labels, so that a further file of the same shape finds its place:
 * jailbreak, direct and indirect injection, personal data, secrets, answers, comments, harmful and benign prompts,
 * look-alikes (over-refusal), benign documents; `unlabelled` where the source says nothing of the row as a whole.
 */
function groupOf({ set, labels, unsafe, kind, context }) {
  if (labels.jailbreak === 1) return 'jailbreak'
  if (labels.prompt_injection === 1) return kind === 'document' ? 'indirect injection' : 'direct injection'
  if (labels.pii === 1) return 'personal data'
  if (labels.secrets === 1) return 'secrets'
  if (context.role === 'assistant') return 'answers'
  if (kind === 'comment' || 'toxicity' in context || 'attr' in context) return 'comments'
  if (unsafe === 1) return 'harmful requests'
  if (unsafe !== 0) return 'unlabelled'
  if (overRefusal.test(set) || /^synth_/.test(set)) return 'look-alikes'
  return kind === 'prompt' || kind === 'conversation' ? 'benign prompts' : 'benign documents'
}

/** A document in which an instruction may be hidden is what a tool returned; an answer is the assistant's. */
function roleOf({ kind, labels, context }) {
  if (context.role === 'assistant') return 'assistant'
  return kind === 'document' && 'prompt_injection' in labels ? 'tool' : 'user'
}

const codes = {
  English: 'en',
  Portuguese: 'pt',
  Spanish: 'es',
  Italian: 'it',
  German: 'de',
  French: 'fr',
  Thai: 'th',
  Hindi: 'hi',
  Bengali: 'bn',
  Turkish: 'tr',
  Arabic: 'ar',
  Vietnamese: 'vi',
  Russian: 'ru',
  'Filipino/Tagalog': 'tl',
  Korean: 'ko',
  Japanese: 'ja',
  Chinese: 'zh',
  Indonesian: 'id',
  ch: 'zh',
  'zh-cn': 'zh'
}
const naturalCode = /^[a-z]{2}(?:-[A-Za-z]{2,4})?$/

/** What the corpus says; `lang` of a coding task is a programming language. Otherwise the script; Latin letters count as English, as all such sources are. */
function languageOf({ context, script, set }) {
  const said = context.lang ?? context.locale?.slice(0, 2)
  if (typeof said === 'string' && !/benign/.test(set)) {
    const code = codes[said] ?? said
    if (naturalCode.test(code)) return code
  }
  return script === 'Latin' || script === 'none' ? 'en' : (byScript[script] ?? script)
}

const byScript = {
  Han: 'zh',
  Hiragana: 'ja',
  Katakana: 'ja',
  Hangul: 'ko',
  Cyrillic: 'ru',
  Arabic: 'ar',
  Devanagari: 'hi',
  Thai: 'th',
  Bengali: 'bn'
}

const scripts = [
  'Latin',
  'Hiragana',
  'Han',
  'Hangul',
  'Cyrillic',
  'Arabic',
  'Devanagari',
  'Bengali',
  'Thai',
  'Greek',
  'Hebrew'
].map((name) => ({ name, letters: new RegExp(`\\p{Script=${name}}`, 'gu') }))

/** The script of most letters of the first 2,000 characters. Kana outweigh Han: Japanese is written in both. */
export function scriptOf(text) {
  const head = text.slice(0, 2000)
  let best = { name: 'none', count: 0 }
  for (const { name, letters } of scripts) {
    const found = head.match(letters)?.length ?? 0
    const count = name === 'Hiragana' ? found * 3 : found
    if (count > best.count) best = { name, count }
  }
  return best.name
}

/** Whether a row is to be caught (true), to pass (false), or neither is known. */
export function truthOf({ unsafe, labels, group }) {
  if (group === 'unlabelled') return undefined
  if (unsafe === 1) return true
  if (unsafe === 0) return false
  if (labels.jailbreak === 1 || labels.prompt_injection === 1) return true
  return undefined
}
