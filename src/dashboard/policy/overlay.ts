/** A constitution that begins from one that ships. */
import type { Language } from '../constitution-types'

/** A shipped overlay is taken as it is, under the new name; of a whole one nothing but that it is extended. */
export function overlayOf({ shipped }: Pick<Language, 'shipped'>, over: string, name: string): string {
  const source = shipped.find((one) => one.name === over)?.source ?? ''
  if (/^extends:/m.test(source))
    return source
      .replace(/^(?:#.*\n)+\n?/, `# ${name}, begun from ${over}, which ships.\n\n`)
      .replace(/^name: .*$/m, `name: ${name}`)
      .replace(/^version: .*$/m, "version: '1'")
  return `# ${name}: what differs from ${over}, which it follows over upgrades.

name: ${name}
version: '1'
description: What it is for.
extends: ${over}

# Each word is explained where the pointer rests on it.
# Ctrl and space offers what may stand at a place. For example:
# categories:
#   profanity: { high: forbid, middle: divert }
`
}
