/**
 * Rewrites string leaves. A leaf that itself holds JSON (the arguments of a tool call) is judged in its decoded form
 * too; the pointer of such an inner leaf simply continues into the string, as if the string were the object it encodes.
 */
import type { Json, JsonObject } from '../base/chat.js'
import { replaceEach } from './needles.js'

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
  return pointer === '' ? [] : pointer.slice(1).split('/').map(unescaped)
}

function unescaped(segment: string): string {
  return segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment
}

/** RFC 6901 section 3. */
export function pointerSegment(name: string): string {
  return name.includes('~') || name.includes('/') ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
}

/** Replaces spans in one text. Overlapping spans are merged under the text of the first. */
export function splice(text: string, replacements: readonly Replacement[]): string {
  const ordered =
    replacements.length < 2 ? replacements : [...replacements].sort((a, b) => a.start - b.start || b.end - a.end)
  let out = ''
  let at = 0
  for (const { start, end, text: replacement } of ordered) {
    if (end <= at || start >= text.length) continue
    if (start >= at) out += text.slice(at, start) + replacement
    at = end
  }
  return out + text.slice(at)
}

/** The replacements in one value of a tree, and in what lies below it; there may be as many values as texts in a request. */
interface Marked {
  /** Replacements of the value itself, where it is a text. */
  own: Replacement[] | undefined
  /** Replacements of its key in an object. */
  name: Replacement[] | undefined
  below: Map<string, Marked> | undefined
}

const unmarked = (): Marked => ({ own: undefined, name: undefined, below: undefined })
const none: readonly Replacement[] = []

/**
 * Rewrites a leaf of which some replacements may lie in its decoded form.
 * @param text the leaf
 * @param own replacements by offsets of the leaf itself
 * @param inner replacements whose pointer is relative to the JSON in the leaf
 */
export function rewriteLeaf(text: string, own: readonly Replacement[], inner: readonly Replacement[]): string {
  return rewriteText(text, own, inner.length === 0 ? undefined : mark(inner))
}

/** @param inner replacements within the JSON in the leaf */
function rewriteText(text: string, own: readonly Replacement[] = none, inner?: Marked): string {
  if (inner === undefined) return splice(text, own)
  const value = tryParse(text)
  if (value === undefined) return splice(text, own)
  const out = JSON.stringify(rewriteValue(value, inner))
  // Both readings of one secret are reported; secrets that the decoded form did not cover are replaced at every
  // occurrence.
  const rest = new Map<string, string>()
  for (const { start, end, text: replacement } of own) {
    const found = text.slice(start, end)
    if (found !== '' && !rest.has(found)) rest.set(found, replacement)
  }
  return replaceEach(out, rest)
}

/** Applies replacements to a tree in place and returns it (or its replacement, where it is a string itself). */
export function rewriteTree(root: Json, replacements: readonly Replacement[]): Json {
  return replacements.length === 0 ? root : rewriteValue(root, mark(replacements))
}

/** The replacements as a tree of their own, by the segments of their pointers. */
function mark(replacements: readonly Replacement[]): Marked {
  const root = unmarked()
  /** Parents of marked values by pointer: most values share theirs. */
  const holders = new Map<string, Marked>()
  let at: string | undefined
  let marked = root
  for (const replacement of replacements) {
    const { pointer, isKey } = replacement
    if (pointer !== at) {
      at = pointer
      marked = pointer === '' ? root : markedAt(root, holders, pointer)
    }
    if (isKey) marked.name = added(marked.name, replacement)
    else marked.own = added(marked.own, replacement)
  }
  return root
}

function added(list: Replacement[] | undefined, replacement: Replacement): Replacement[] {
  if (list === undefined) return [replacement]
  list.push(replacement)
  return list
}

function markedAt(root: Marked, holders: Map<string, Marked>, pointer: string): Marked {
  const end = pointer.lastIndexOf('/')
  const above = pointer.slice(0, end)
  let holder = holders.get(above)
  if (holder === undefined) {
    holder = pointerSegments(above).reduce(markedBelow, root)
    holders.set(above, holder)
  }
  return markedBelow(holder, unescaped(pointer.slice(end + 1)))
}

function markedBelow(holder: Marked, segment: string): Marked {
  holder.below ??= new Map()
  let marked = holder.below.get(segment)
  if (marked === undefined) {
    marked = unmarked()
    holder.below.set(segment, marked)
  }
  return marked
}

/**
 * Depth is bounded by the strict reader; in the JSON of a leaf, by the engine's parser and the depth of the search for
 * texts.
 */
function rewriteValue(value: Json, { own, below }: Marked): Json {
  // What lies below a string lies in the JSON that it holds.
  if (typeof value === 'string')
    return rewriteText(value, own, below === undefined ? undefined : { ...unmarked(), below })
  if (below === undefined) return value
  if (Array.isArray(value)) {
    for (const [segment, marked] of below) {
      const i = Number(segment)
      const child = value[i]
      if (child !== undefined) value[i] = rewriteValue(child, marked)
    }
  } else if (isObject(value)) {
    const named: Renamed[] = []
    for (const [segment, marked] of below) {
      if (!Object.hasOwn(value, segment)) continue
      const child = value[segment]!
      const rewritten = rewriteValue(child, marked)
      if (rewritten !== child) setOwn(value, segment, rewritten)
      if (marked.name !== undefined)
        named.push({ old: segment, length: pointerSegment(segment).length, replacements: marked.name })
    }
    if (named.length > 0) renameKeys(value, named)
  }
  return value
}

interface Renamed {
  old: string
  /** Of its segment in a pointer. */
  length: number
  replacements: readonly Replacement[]
}

/**
 * Renames keys in their places, all of an object at once; a name that is taken already gets a number, so that no value is
 * lost.
 */
function renameKeys(holder: JsonObject, named: Renamed[]): void {
  const entries = Object.entries(holder)
  const taken = new Set(entries.map(([key]) => key))
  const names = new Map<string, string>()
  /** The number that is tried next, by the name that was taken. */
  const numbers = new Map<string, number>()
  // The longest first, as pointers to them are.
  named.sort((a, b) => b.length - a.length)
  for (const { old, replacements } of named) {
    const base = splice(old, replacements)
    let name = base
    if (name !== old && taken.has(name)) {
      let n = numbers.get(base) ?? 2
      do name = `${base}_${n++}`
      while (name !== old && taken.has(name))
      numbers.set(base, n)
    }
    taken.delete(old)
    taken.add(name)
    names.set(old, name)
  }
  for (const [key] of entries) delete holder[key]
  for (const [key, value] of entries) setOwn(holder, names.get(key) ?? key, value)
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
