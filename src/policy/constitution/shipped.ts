/** The constitutions and lists that ship with the program. */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { nearestHint } from '../../base/near.js'
import type { Problems } from './problems.js'
import { bases, type ConstitutionSource, type ExtensionSource, type ListSource, type PatternSource } from './schema.js'

/**
 * Location of the build's parsed form of this text: parsing YAML takes longer than all later steps. Without a build
 * there is none.
 */
function fileOf(yamlText: string): URL {
  return new URL(`./shipped/${hash('sha256', yamlText, 'hex')}.json`, import.meta.url)
}

export function isBuiltIn(yamlText: string): boolean {
  return existsSync(fileOf(yamlText))
}

/** The parsed value of a YAML text that the build has read; else undefined. Each call returns a new value. */
export function builtFrom(yamlText: string): unknown {
  try {
    return JSON.parse(readFileSync(fileOf(yamlText), 'utf8'))
  } catch {
    return undefined
  }
}

export function isShipped(name: string): name is (typeof bases)[number] {
  return (bases as readonly string[]).includes(name)
}

/** The YAML of a constitution that ships with the program. */
export function readShipped(name: (typeof bases)[number]): string {
  return readFileSync(new URL(`../../../config/constitutions/${name}.yaml`, import.meta.url), 'utf8')
}

/** As its file has it: it may extend another one itself. */
export function shippedSource(name: (typeof bases)[number]): ConstitutionSource | ExtensionSource {
  const text = readShipped(name)
  return (builtFrom(text) ?? parse(text)) as ConstitutionSource | ExtensionSource
}

/**
 * The shipped lists, each in a file of its own under `config/constitutions/lists`, with its measured matches in the
 * head comment: phrases that a constitution includes by `lists`, and formats that a rule includes by `formats`.
 */
const folder = new URL('../../../config/constitutions/lists/', import.meta.url)

/** The names of the shipped lists. */
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

/** Merges the named lists into a constitution, whose own entries win. */
export function withLists(source: ConstitutionSource, problems?: Problems): ConstitutionSource {
  if (source.lists === undefined) return source
  const accepted = shippedLists()
  let { lexicons = {}, guarded } = source
  for (const [i, name] of source.lists.entries()) {
    if (!accepted.includes(name)) {
      const near = nearestHint(name, accepted)
      problems?.add(['lists', i], `there is no list of this name; known: ${accepted.join(', ')}${near}`, { accepted })
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
