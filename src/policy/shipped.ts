/**
 * The constitutions that ship with the program, as the build left them: reading 300 KB of YAML takes longer than all else
 * that is done with them. A text that is not exactly the one that was built from is read as any other.
 */
import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { bases, ConstitutionSource } from './schema.js'

/** What the build has read of that very text. Where a loader runs the sources there is none. */
function fileOf(yamlText: string): URL {
  return new URL(`./shipped/${hash('sha256', yamlText, 'hex')}.json`, import.meta.url)
}

export function isBuiltIn(yamlText: string): boolean {
  return existsSync(fileOf(yamlText))
}

/** What the YAML text holds, where the build has read that very text; else undefined. Everybody is given a value of their own. */
export function builtFrom(yamlText: string): unknown {
  try {
    return JSON.parse(readFileSync(fileOf(yamlText), 'utf8'))
  } catch {
    return undefined
  }
}

/** The YAML of a constitution that ships with the program. */
export function readShipped(name: (typeof bases)[number]): string {
  return readFileSync(new URL(`../../config/constitutions/${name}.yaml`, import.meta.url), 'utf8')
}

export function shippedSource(name: (typeof bases)[number]): ConstitutionSource {
  const text = readShipped(name)
  return (builtFrom(text) ?? parse(text)) as ConstitutionSource
}
