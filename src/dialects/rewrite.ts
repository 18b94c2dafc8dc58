/**
 * Rewriting one string leaf. A leaf that itself holds JSON (the arguments of a tool call) is judged in its decoded form
 * too; the pointer of such an inner leaf simply continues into the string, as if the string were the object it encodes.
 */
import type { Json, JsonObject } from '../chat.js'

/** Replace UTF-16 units [start, end) of the leaf at `pointer` by `text`. */
export interface Replacement {
  pointer: string
  start: number
  end: number
  text: string
  isKey?: true
}

/** RFC 6901 section 4. */
export function pointerSegments(pointer: string): string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** RFC 6901 section 3. */
export function pointerSegment(name: string): string {
  return name.includes('~') || name.includes('/') ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
}

/** Replaces spans in one text. Overlapping spans are merged under the text of the first. */
export function splice(text: string, replacements: readonly Replacement[]): string {
  const ordered = [...replacements].sort((a, b) => a.start - b.start || b.end - a.end)
  let out = ''
  let at = 0
  for (const { start, end, text: replacement } of ordered) {
    if (end <= at || start >= text.length) continue
    if (start >= at) out += text.slice(at, start) + replacement
    at = end
  }
  return out + text.slice(at)
}

/**
 * Rewrites a leaf of which some replacements may lie in its decoded form.
 * @param text the leaf
 * @param own replacements by offsets of the leaf itself
 * @param inner replacements whose pointer is relative to the JSON in the leaf
 */
export function rewriteLeaf(text: string, own: readonly Replacement[], inner: readonly Replacement[]): string {
  if (inner.length === 0) return splice(text, own)
  const value = tryParse(text)
  if (value === undefined) return splice(text, own)
  // Both readings of one secret are reported; what the decoded form did not cover is replaced wherever it stands.
  let out = JSON.stringify(rewriteTree(value, inner))
  for (const { start, end, text: replacement } of own) out = out.replaceAll(text.slice(start, end), () => replacement)
  return out
}

/** Applies replacements to a tree in place and returns it (or its replacement, where it is a string itself). */
export function rewriteTree(root: Json, replacements: readonly Replacement[]): Json {
  const byPointer = new Map<string, Replacement[]>()
  for (const replacement of replacements) {
    const list = byPointer.get(replacement.pointer)
    if (list === undefined) byPointer.set(replacement.pointer, [replacement])
    else list.push(replacement)
  }
  const leaves = new Map<string, { own: Replacement[]; inner: Replacement[] }>()
  const keys: Replacement[][] = []
  for (const [pointer, list] of byPointer) {
    const { leaf, rest } = splitAtLeaf(root, pointer)
    const valued = rest === '' ? list.filter(({ isKey }) => !isKey) : list
    if (valued.length < list.length) keys.push(list.filter(({ isKey }) => isKey))
    if (valued.length === 0) continue
    const entry = leaves.get(leaf) ?? { own: [], inner: [] }
    leaves.set(leaf, entry)
    if (rest === '') entry.own.push(...valued)
    else entry.inner.push(...valued.map((replacement) => ({ ...replacement, pointer: rest })))
  }
  let out = root
  for (const [leaf, { own, inner }] of leaves) {
    out = update(out, pointerSegments(leaf), (text) => rewriteLeaf(text, own, inner))
  }
  // Keys last and deepest first, so that no pointer is stale while it is used.
  keys.sort((a, b) => b[0]!.pointer.length - a[0]!.pointer.length)
  for (const named of keys) renameKey(out, named)
  return out
}

/** Where a pointer runs into a string, the string is the leaf and the rest lies in the JSON that it holds. */
function splitAtLeaf(root: Json, pointer: string): { leaf: string; rest: string } {
  let value: Json | undefined = root
  const raw = pointer === '' ? [] : pointer.slice(1).split('/')
  const segments = pointerSegments(pointer)
  for (let i = 0; i < segments.length; i++) {
    if (typeof value === 'string') return { leaf: join(raw.slice(0, i)), rest: join(raw.slice(i)) }
    value = child(value, segments[i]!)
  }
  return { leaf: pointer, rest: '' }
}

function update(root: Json, segments: readonly string[], change: (text: string) => string): Json {
  if (segments.length === 0) return typeof root === 'string' ? change(root) : root
  const holder = walkTo(root, segments.slice(0, -1))
  const last = segments.at(-1)!
  if (Array.isArray(holder)) {
    const value = holder[Number(last)]
    if (typeof value === 'string') holder[Number(last)] = change(value)
  } else if (isObject(holder) && Object.hasOwn(holder, last)) {
    const value = holder[last]
    if (typeof value === 'string') setOwn(holder, last, change(value))
  }
  return root
}

/** Renames a key in its place; a name that is taken already gets a number, so that no value is lost. */
function renameKey(root: Json, replacements: readonly Replacement[]): void {
  const segments = pointerSegments(replacements[0]!.pointer)
  const holder = walkTo(root, segments.slice(0, -1))
  const old = segments.at(-1)
  if (!isObject(holder) || old === undefined || !Object.hasOwn(holder, old)) return
  const base = splice(old, replacements)
  let name = base
  for (let n = 2; name !== old && Object.hasOwn(holder, name); n++) name = `${base}_${n}`
  const entries = Object.entries(holder)
  for (const [key] of entries) delete holder[key]
  for (const [key, value] of entries) setOwn(holder, key === old ? name : key, value)
}

function walkTo(root: Json, segments: readonly string[]): Json | undefined {
  let value: Json | undefined = root
  for (const segment of segments) value = child(value, segment)
  return value
}

function child(value: Json | undefined, segment: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(segment)]
  return isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An assignment to `__proto__` would set the prototype; the key is an ordinary one here. */
export function setOwn(holder: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    holder[key] = value
  }
}

export function tryParse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function join(raw: readonly string[]): string {
  return raw.length === 0 ? '' : `/${raw.join('/')}`
}
