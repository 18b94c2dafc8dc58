/**
 * The lists that ship with the program, each in a file of its own under `config/constitutions/lists`, with what it was
 * measured to match in its head: phrases that a constitution takes by `lists`, and formats that a rule takes by `formats`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { builtFrom } from './built.js'
import type { Problems } from './problems.js'
import type { ConstitutionSource, ListSource, PatternSource } from './schema.js'

const folder = new URL('../../../config/constitutions/lists/', import.meta.url)

/** The names of the lists that ship. */
export function shippedLists(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length))
    .sort()
}

export function readList(name: string): ListSource {
  const text = readFileSync(new URL(`${name}.yaml`, folder), 'utf8')
  return (builtFrom(text) ?? parse(text)) as ListSource
}

/** The constitution with the lists that it names beneath what it says itself. */
export function withLists(source: ConstitutionSource, problems?: Problems): ConstitutionSource {
  if (source.lists === undefined) return source
  const accepted = shippedLists()
  let { lexicons = {}, guarded } = source
  for (const [i, name] of source.lists.entries()) {
    if (!accepted.includes(name)) {
      problems?.add(['lists', i], `there is no list of this name; known: ${accepted.join(', ')}`, { accepted })
      continue
    }
    const list = readList(name)
    lexicons = { ...list.lexicons, ...lexicons }
    guarded ??= list.guarded
  }
  return { ...source, lexicons, ...(guarded === undefined ? {} : { guarded }) }
}

let known: ReadonlyMap<string, readonly PatternSource[]> | undefined

/** The formats of all lists, by name. */
export function shippedFormats(): ReadonlyMap<string, readonly PatternSource[]> {
  known ??= new Map(shippedLists().flatMap((name) => Object.entries(readList(name).formats ?? {})))
  return known
}
