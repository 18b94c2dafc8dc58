/**
 * The notation of the grammar's tables. A pattern is text with
 * - `$name` an entry of the word list `name`, itself a pattern; `$name:ing` inflected; `$name@1` the same entry wherever the
 *   row says `@1` again; `${name}` where a letter follows;
 * - `${2-5 name}` two to five different entries, one a line; `${2-5, name}` separated by what stands after the numbers, `+` being a space;
 * - `(a|b|)` one of several, the empty one included; brackets without a bar are plain text;
 * - `%2-99%` a whole number in that range; `$$` a dollar sign; `\n` a new line.
 */
import { inflect, isForm } from './inflect.js'
import type { Random } from './random.js'

export interface Scope {
  readonly random: Random
  /** What `$name@key` was given in this row. */
  readonly bound: Map<string, string>
  /** What `$it` stands for in a frame. */
  readonly it: Pattern
}

/** A compiled pattern: writes one text. */
export type Pattern = (scope: Scope) => string

/** Finds a word list. Called when the pattern is compiled, so that an unknown name is told with its place. */
export type Lookup = (name: string) => readonly Pattern[]

export class PatternError extends Error {}

const token =
  /\$\$|\$\{(\d+)-(\d+)([^a-z]*)([a-z][a-z0-9_]*)\}|\$\{([a-z][a-z0-9_]*)((?:@\w+)?)((?::[a-z]+)*)\}|\$([a-z][a-z0-9_]*)((?:@\w+)?)((?::[a-z]+)*)|%(\d+)-(\d+)%|\(|\)|\|/g

/** @throws {PatternError} naming the unknown list or form */
export function compile(written: string, lookup: Lookup): Pattern {
  const source = written.replaceAll('\\n', '\n')
  const bars = bracketsWithBars(source)
  let at = 0
  const sequence = (until: number, inner: boolean): Pattern => {
    const branches: Pattern[][] = [[]]
    const add = (part: Pattern) => branches.at(-1)!.push(part)
    const text = (value: string) => {
      if (value !== '') add(() => value)
    }
    while (at < until) {
      token.lastIndex = at
      const match = token.exec(source)
      if (match === null || match.index >= until) {
        text(source.slice(at, until))
        at = until
        break
      }
      text(source.slice(at, match.index))
      at = token.lastIndex
      const found = match[0]
      if (found === '(' && bars.has(match.index)) {
        const close = bars.get(match.index)!
        add(sequence(close, true))
        at = close + 1
      } else if (found === '|' && inner) branches.push([])
      else if (found === '(' || found === ')' || found === '|') text(found)
      else if (found === '$$') text('$')
      else add(slot(match, lookup, source))
    }
    const joined = branches.map((parts): Pattern => (parts.length === 1 ? parts[0]! : join(parts)))
    return joined.length === 1 ? joined[0]! : (scope) => scope.random.pick(joined)(scope)
  }
  return sequence(source.length, false)
}

function join(parts: readonly Pattern[]): Pattern {
  return (scope) => {
    let text = ''
    for (const part of parts) text += part(scope)
    return text
  }
}

function slot(match: RegExpExecArray, lookup: Lookup, source: string): Pattern {
  const [, low, high, separator, many, braced, bracedKey, bracedForms, bare, bareKey, bareForms, from, to] = match
  const name = (braced ?? bare)!
  const key = bracedKey ?? bareKey
  const forms = bracedForms ?? bareForms
  if (from !== undefined) return ({ random }) => String(random.between(Number(from), Number(to)))
  if (many !== undefined) return several(lookup(many), Number(low), Number(high), separator!)
  const list = lookup(name)
  const write: Pattern = (scope) => scope.random.pick(list)(scope)
  const kept = key ? bind(`${name}${key}`, write) : write
  const asked = (forms ?? '').split(':').slice(1)
  for (const form of asked) if (!isForm(form)) throw new PatternError(`no form ":${form}" in ${source}`)
  return asked.reduce<Pattern>((inner, form) => (scope) => inflect(inner(scope), form), kept)
}

function bind(key: string, write: Pattern): Pattern {
  return (scope) => {
    const bound = scope.bound.get(key) ?? write(scope)
    scope.bound.set(key, bound)
    return bound
  }
}

function several(list: readonly Pattern[], low: number, high: number, separator: string): Pattern {
  const sign = separator.trim()
  const between = sign === '' ? '\n' : sign === '+' ? ' ' : `${sign} `
  return (scope) => {
    const count = scope.random.between(low, high)
    const texts = new Set<string>()
    for (let tries = 0; texts.size < count && tries < count * 4; tries++) texts.add(scope.random.pick(list)(scope))
    return [...texts].join(between)
  }
}

/** Opening brackets that hold a bar at their own level, with their closing one. */
function bracketsWithBars(source: string): Map<number, number> {
  const found = new Map<number, number>()
  const open: { at: number; bar: boolean }[] = []
  for (let i = 0; i < source.length; i++) {
    const char = source[i]
    if (char === '(') open.push({ at: i, bar: false })
    else if (char === '|' && open.length > 0) open.at(-1)!.bar = true
    else if (char === ')') {
      const last = open.pop()
      if (last?.bar) found.set(last.at, i)
    }
  }
  return found
}
