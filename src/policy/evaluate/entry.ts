/** Loads a constitution for judging: reads it, compiles it, and warms it up before the first call. */
import type { ChatPart } from '../../base/chat.js'
import type { ReadOptions } from '../constitution/parse.js'
import { readConstitution } from '../constitution/read.js'
import { speechOf } from '../decide/speech.js'
import type { HeldPolicy } from '../evaluation.js'
import { compileGently, type Policy } from '../match/compile.js'
import { Growth } from '../match/growth.js'
import { RuleEngine } from './rule-engine.js'

export interface PolicyEntry extends HeldPolicy {
  readonly engine: RuleEngine
  readonly growth: Growth
  /** Names this text of this constitution for the worker threads; never used twice in a process. */
  readonly key: string
}

let generation = 0

export function entryOf(policy: Policy): PolicyEntry {
  const { label } = policy
  const key = `${label}#${++generation}`
  return { label, engine: new RuleEngine(policy), growth: new Growth(policy), speech: speechOf(policy), key }
}

/** Reads (see `parseConstitution`) and compiles. A constitution that passes can be put in force. */
export async function loadPolicy(yamlText: string, fileName: string, options?: ReadOptions): Promise<Policy> {
  return compileGently(await readConstitution(yamlText, fileName, options))
}

/** The same policy under the number that a store gave it, which verdicts then name. */
export function numbered(policy: Policy, version: number | string): Policy {
  const constitution = { ...policy.constitution, version: String(version) }
  return { ...policy, constitution, label: `${constitution.name}@${version}` }
}

/**
 * Sample sentences, joined in varying order. They contain typical content: numbers, names, code, other languages, an
 * address, a list.
 */
const sentences = [
  'Please write a short letter to the neighbours about the new timetable of the library.',
  'The museum opens at 9:30 and closes before dinner on Sundays; tickets cost 12 € each.',
  "We compared the report with last year's, and liked it more – it's easier to read.",
  'Could you explain why `for (let i = 0; i < list.length; i++) total += list[i]` is slow?',
  'Meine Großmutter erzählt gern Geschichten aus ihrer Kindheit auf dem Land.',
  'Il pleut depuis ce matin, alors nous sommes restés à la maison.',
  'Summarise the notes (see https://www.example.com/notes/2024-05.html) in 5 sentences.',
  'The invoice no. 20417 arrived 3 days ago and was paid at once, "as agreed".',
  '1. an onion\n2. some carrots\n3. a little patience\n\nThen cook it for 40 minutes.',
  'How do I stop a process that hangs, and who told it to start in the first place?'
]
const lengths = [200, 40, 600, 300, 1_500]
const directions = ['request', 'answer'] as const

/**
 * Judges made-up texts before the first call: code that the engine has not compiled yet takes three to five times as
 * long, and so would the calls of the first seconds.
 * @param budget ms; the event loop is held for about as long @returns how many texts were judged
 */
export function warmUp(engine: RuleEngine, budget: number): number {
  const end = performance.now() + budget
  let count = 0
  for (; performance.now() < end; count++) {
    const direction = directions[count % directions.length]!
    const part: ChatPart = {
      role: direction === 'answer' ? 'assistant' : 'user',
      text: textOf(count, lengths[count % lengths.length]!),
      pointer: ''
    }
    engine.judge({ parts: [part], joined: [], context: undefined, direction })
  }
  return count
}

function textOf(seed: number, length: number): string {
  let text = `Note ${seed}.`
  for (let i = seed; text.length < length; i += 1 + (seed % 3)) text += ` ${sentences[i % sentences.length]}`
  return text
}
