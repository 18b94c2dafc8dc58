/** Redaction in text files: replacements are made in the file itself, which stays in base64. */
import type { ChatPart, Json, JsonObject } from '../../base/chat.js'
import { parseDataUrl } from '../../dialects/data-url.js'
import { pointerSegments, type Replacement, setOwn, splice } from '../../dialects/rewrite.js'
import { wholeText } from '../../files/file.js'

type ReadFrom = NonNullable<ChatPart['file']>

/** The files of a request, by the pointers of their texts. */
export function filesIn(parts: readonly ChatPart[]): ReadonlyMap<string, ReadFrom> | undefined {
  let found: Map<string, ReadFrom> | undefined
  for (const { file, pointer } of parts) {
    if (file === undefined) continue
    found ??= new Map()
    found.set(pointer, file)
  }
  return found
}

/** @param replacements replacements in texts that are whole files in UTF-8 */
export function rewriteFiles(body: JsonObject, replacements: readonly Replacement[]): void {
  const byFile = new Map<string, Replacement[]>()
  for (const replacement of replacements) {
    const known = byFile.get(replacement.pointer)
    if (known === undefined) byFile.set(replacement.pointer, [replacement])
    else known.push(replacement)
  }
  for (const [pointer, spans] of byFile) {
    const segments = pointerSegments(pointer.slice(0, -1 - wholeText.length))
    const name = segments.pop()!
    let holder: Json = body
    for (const segment of segments) holder = (holder as Record<string, Json>)[segment]!
    const leaf = (holder as JsonObject)[name] as string
    const data = parseDataUrl(leaf)?.data ?? leaf
    const text = splice(Buffer.from(data, 'base64').toString(), spans)
    setOwn(holder as JsonObject, name, leaf.slice(0, leaf.length - data.length) + Buffer.from(text).toString('base64'))
  }
}
