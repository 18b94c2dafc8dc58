/** A small constitution that tests extend, and the calls that they judge with it. */
import type { ChatPart, JsonObject, Role } from '../../src/base/chat.js'
import { categories } from '../../src/policy/evaluation.js'

export interface SourceOptions {
  name?: string
  version?: string
  /** Lines of YAML that replace the posture of a category. */
  posture?: Partial<Record<string, string>>
  lexicons?: string
  rules: string
}

const defaultPosture = '{ high: forbid, middle: ask, context: [topic] }'
const postures: Partial<Record<string, string>> = {
  self_harm: '{ high: forbid, middle: divert }',
  personal_data: '{ high: permit, middle: permit }',
  secrets: '{ high: divert, middle: permit }',
  profanity: '{ high: permit, middle: permit }'
}

/** The text of a constitution in which only the rules, and what the test is about, are written out. */
export function source({ name = 'default', version = '1', posture = {}, lexicons, rules }: SourceOptions): string {
  const all: Partial<Record<string, string>> = { ...postures, ...posture }
  return [
    `name: ${name}`,
    `version: '${version}'`,
    'bands: { middle: 0.40, high: 0.75 }',
    'categories:',
    ...categories.map((category) => `  ${category}: ${all[category] ?? defaultPosture}`),
    ...(lexicons === undefined
      ? []
      : [
          'lexicons:',
          ...lexicons
            .trim()
            .split('\n')
            .map((line) => `  ${line.trim()}`)
        ]),
    'rules:',
    ...rules.replace(/^\n+|\s+$/g, '').split('\n')
  ].join('\n')
}

export function part(text: string, role: Role = 'user', pointer = ''): ChatPart {
  return { role, text, pointer }
}

export interface CallOptions {
  context?: JsonObject
  session?: string
  direction?: 'request' | 'answer'
  joined?: number[][]
}

/** One call of the evaluator: a text, or parts whose pointers are `/0`, `/1`, … */
export function call(texts: string | readonly (string | ChatPart)[], options: CallOptions = {}) {
  const parts =
    typeof texts === 'string'
      ? [part(texts)]
      : texts.map((text, i) => (typeof text === 'string' ? part(text, 'user', `/${i}`) : text))
  return {
    parts,
    joined: options.joined ?? [],
    context: options.context,
    session: options.session,
    direction: options.direction ?? ('request' as const)
  }
}

/** A clock that stands still until it is told. Ms. */
export function fakeClock() {
  let time = 1_700_000_000_000
  return {
    now: () => time,
    monotonic: () => time,
    advance(ms: number) {
      time += ms
    }
  }
}
