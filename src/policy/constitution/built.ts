/**
 * What the build has read of the YAML that ships: reading it takes longer than all else that is done with it. A text that
 * is not exactly the one that was built from is read as any other.
 */
import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'

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
