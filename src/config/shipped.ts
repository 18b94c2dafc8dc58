/** The files that ship with the program. */
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `config/` of the package: the same from `src` and from `dist`. */
export const shipped = fileURLToPath(new URL('../../config/', import.meta.url))

/** Whether a file ships with the program, and so changes with upgrades. */
export function isShipped(file: string): boolean {
  return file.startsWith(shipped)
}

/** Files by name, whether the configuration uses them or not. */
export function shippedConstitutions(): Record<string, string> {
  const folder = join(shipped, 'constitutions')
  if (!existsSync(folder)) return {}
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  return Object.fromEntries(files.sort().map((name) => [basename(name, '.yaml'), join(folder, name)]))
}
