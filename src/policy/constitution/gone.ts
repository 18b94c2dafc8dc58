/**
 * Former names of the shipped constitution, so that overlays stored in those days can still be read: see `extend.ts`.
 */
import { readFileSync } from 'node:fs'

interface Gone {
  rules: ReadonlySet<string>
  lexicons: ReadonlySet<string>
}

let gone: Gone | undefined

function read(): Gone {
  const file = new URL('../../../config/constitutions/gone.json', import.meta.url)
  const { rules, lexicons } = JSON.parse(readFileSync(file, 'utf8')) as { rules: string[]; lexicons: string[] }
  return { rules: new Set(rules), lexicons: new Set(lexicons) }
}

export function isGoneRule(name: string): boolean {
  gone ??= read()
  return gone.rules.has(name)
}

export function isGoneLexicon(name: string): boolean {
  gone ??= read()
  return gone.lexicons.has(name)
}

export function goneLexicon(entry: string): string {
  return `the shipped constitution has no lexicon "${entry}" any more: it matches nothing`
}
