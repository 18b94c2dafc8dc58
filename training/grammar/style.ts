/** How people type: what stands around a request, and slips of the hand. The same for harmful and benign rows, so that no habit is a sign. */
import type { Pattern, Scope } from './pattern.js'
import type { Random } from './random.js'

/** `chat` a prompt, `comment` a post, `bare` either with nothing around it and no slips of spelling, `none` a text that stays as written. */
export type Style = 'chat' | 'bare' | 'comment' | 'none'
export const styles: readonly Style[] = ['chat', 'bare', 'comment', 'none']

/** Word lists of the common tables that stand around a text. */
export interface Surroundings {
  readonly lead: readonly Pattern[]
  readonly story: readonly Pattern[]
  readonly tail: readonly Pattern[]
  readonly mention: readonly Pattern[]
  readonly hashtag: readonly Pattern[]
}

export function dress(text: string, style: Style, around: Surroundings, scope: Scope): string {
  const { random } = scope
  switch (style) {
    case 'none':
      return text
    case 'chat':
      return slips(surround(text, around, scope), random, 1)
    case 'comment':
      return slips(post(text, around, scope), random, 1.3)
    case 'bare':
      return slips(text, random, 0)
    default:
      return style satisfies never
  }
}

function surround(text: string, around: Surroundings, scope: Scope): string {
  const { random } = scope
  const write = (list: readonly Pattern[]) => random.pick(list)(scope)
  const roll = random.next()
  let whole = text
  if (roll < 0.14) whole = `${write(around.lead)} ${text}`
  else if (roll < 0.19) whole = `${write(around.story)} ${text}`
  else if (roll < 0.21) whole = `${write(around.story)}\n\n${text}`
  else if (roll < 0.225) whole = `${text}\n\n${write(around.story)}`
  if (random.chance(0.13)) whole = `${whole} ${write(around.tail)}`
  return whole
}

function post(text: string, around: Surroundings, scope: Scope): string {
  const { random } = scope
  const write = (list: readonly Pattern[]) => random.pick(list)(scope)
  let whole = text
  if (random.chance(0.1)) whole = `${write(around.mention)} ${whole}`
  if (random.chance(0.08)) whole = `${whole} ${write(around.hashtag)}`
  return whole
}

const shorthand: readonly [RegExp, string][] = [
  [/\byou\b/g, 'u'],
  [/\bare\b/g, 'r'],
  [/\byour\b/g, 'ur'],
  [/\bplease\b/gi, 'pls'],
  [/\bpeople\b/g, 'ppl'],
  [/\bbecause\b/g, 'cuz'],
  [/\bwithout\b/g, 'w/o'],
  [/\bgoing to\b/g, 'gonna'],
  [/\bwant to\b/g, 'wanna'],
  [/\bthough\b/g, 'tho'],
  [/\bsomeone\b/g, 'sb'],
  [/'/g, '']
]

/** @param often how often, against an ordinary prompt; 0 leaves spelling alone */
function slips(text: string, random: Random, often: number): string {
  let out = text
  if (random.chance(0.2)) out = out.toLowerCase()
  else if (random.chance(0.015 * (1 + often))) out = out.toUpperCase()
  if (random.chance(0.2)) out = out.replace(/[.?!]+$/, '')
  else if (random.chance(0.02))
    out = `${out.replace(/[.?!]+$/, '')}${random.pick(['!!', '??', '...', '?!', ' ?', ' !'])}`
  if (often === 0) return out
  if (random.chance(0.07 * often)) {
    for (const [from, to] of shorthand) if (random.chance(0.6)) out = out.replace(from, to)
  }
  if (random.chance(0.09 * often)) out = typos(out, random)
  return out
}

/** One slip in about every 40 letters: two swapped, one lost, one doubled, or a neighbour on the keyboard. */
function typos(text: string, random: Random): string {
  const count = 1 + Math.floor(text.length / 60)
  let out = text
  for (let n = 0; n < count; n++) {
    const at = random.between(1, Math.max(1, out.length - 2))
    const here = out[at]!
    if (!/[a-z]/i.test(here) || !/[a-z]/i.test(out[at + 1] ?? '')) continue
    const kind = random.between(0, 3)
    const rest = out.slice(at + 1)
    if (kind === 0) out = out.slice(0, at) + rest[0] + here + rest.slice(1)
    else if (kind === 1) out = out.slice(0, at) + rest
    else if (kind === 2) out = out.slice(0, at) + here + here + rest
    else out = out.slice(0, at) + neighbour(here, random) + rest
  }
  return out
}

const rows = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm']

function neighbour(letter: string, random: Random): string {
  const row = rows.find((keys) => keys.includes(letter.toLowerCase()))
  if (row === undefined) return letter
  const at = row.indexOf(letter.toLowerCase())
  return row[at + (random.chance(0.5) ? 1 : -1)] ?? letter
}
