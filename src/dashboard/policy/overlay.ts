/** A new constitution based on a shipped one. */
import type { Language } from '../constitution-types'

/** Copies a shipped overlay under the new name; for a full constitution, writes a text that extends it. */
export function overlayOf({ shipped }: Pick<Language, 'shipped'>, over: string, name: string): string {
  const source = shipped.find((one) => one.name === over)?.source ?? ''
  if (/^extends:/m.test(source))
    return source
      .replace(/^(?:#.*\n)+\n?/, `# ${name}, a copy of the shipped ${over}.\n\n`)
      .replace(/^name: .*$/m, `name: ${name}`)
      .replace(/^version: .*$/m, "version: '1'")
  return `# ${name}: differences from ${over}. Everything else follows ${over} through upgrades.

name: ${name}
version: '1'
description: What it is for.
extends: ${over}

# Rest the pointer on a word to see what it means.
# Ctrl-Space lists what may be written at the cursor. For example:
# categories:
#   profanity: { high: forbid, middle: divert }
`
}
