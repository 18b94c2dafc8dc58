/** The constitutions that ship with the program. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { builtFrom } from './built.js'
import { withLists } from './lists.js'
import type { bases, ConstitutionSource } from './schema.js'

/** The YAML of a constitution that ships with the program. */
export function readShipped(name: (typeof bases)[number]): string {
  return readFileSync(new URL(`../../../config/constitutions/${name}.yaml`, import.meta.url), 'utf8')
}

export function shippedSource(name: (typeof bases)[number]): ConstitutionSource {
  const text = readShipped(name)
  return withLists((builtFrom(text) ?? parse(text)) as ConstitutionSource)
}
