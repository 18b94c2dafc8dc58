/**
 * Completions and explanations for the text of a constitution, from the schema, the shipped names, and the text itself.
 */
import { isMap, isScalar, isSeq, parseDocument, visit } from 'yaml'
import type { Effective, JsonSchema, Language } from '../constitution-types'

/** The sources of an editor's completions. */
export interface Known {
  language: Language
  /** Of the last draft that was valid. */
  effective: Effective | undefined
}

interface Place {
  /** To the word: of a key, to the map in which it stands. */
  path: (string | number)[]
  isKey: boolean
  /** Keys that stand beside it already. */
  beside: string[]
  /** The whole text, as far as it can be read. */
  value: unknown
}

export interface Offer {
  label: string
  detail?: string
  info?: string
  /** Whether it is a key, which takes a colon. */
  isKey: boolean
}

const mark = 'qzqzq'
const word = /[\w$.-]/

/** The word around an offset. */
export function wordAt(text: string, at: number): { from: number; to: number } {
  let from = at
  let to = at
  while (from > 0 && word.test(text[from - 1]!)) from--
  while (to < text.length && word.test(text[to]!)) to++
  return { from, to }
}

/** Parses the text with a mark in place of the word: the tolerant parser shows where in the document the mark is. */
function placeAt(text: string, from: number, to: number): Place | undefined {
  const document = parseDocument(text.slice(0, from) + mark + text.slice(to), { prettyErrors: false, strict: false })
  let found: Place | undefined
  visit(document, {
    Scalar(key, node, ancestors) {
      if (typeof node.value !== 'string' || !node.value.includes(mark)) return undefined
      const path: (string | number)[] = []
      const chain = [...ancestors, node]
      for (const [i, above] of chain.entries()) {
        const next = chain[i + 1]
        if (isSeq(above)) path.push(above.items.indexOf(next))
        else if (isMap(above)) {
          const pair = next as { key?: unknown } | undefined
          if (isScalar(pair?.key) && !(key === 'key' && chain[i + 2] === node)) path.push(String(pair.key.value))
        }
      }
      const map = key === 'key' ? ancestors.at(-2) : undefined
      const beside = isMap(map) ? map.items.map((item) => String((item.key as { value?: unknown })?.value)) : []
      found = { path, isKey: key === 'key', beside, value: document.toJS() }
      return visit.BREAK
    }
  })
  return found
}

export function schemaAt(root: JsonSchema, path: readonly (string | number)[]): JsonSchema | undefined {
  let schema: JsonSchema | undefined = root
  for (const step of path) {
    schema =
      typeof step === 'number'
        ? schema?.items
        : (schema?.properties?.[step] ?? Object.values(schema?.patternProperties ?? {})[0])
  }
  return schema
}

function rootOf(value: unknown, { schemas }: Language): JsonSchema {
  return typeof value === 'object' && value !== null && 'extends' in value ? schemas.overlay : schemas.whole
}

/** The completions at an offset, with the range that they replace. */
export function offersAt(
  text: string,
  at: number,
  known: Known
): { from: number; to: number; offers: Offer[] } | undefined {
  const { from, to } = wordAt(text, at)
  const place = placeAt(text, from, to)
  if (place === undefined) return undefined
  const schema = schemaAt(rootOf(place.value, known.language), place.path)
  // A word alone below a key that holds a map is the beginning of a key.
  const keys = schema?.properties
  if (place.isKey || keys !== undefined) {
    const offers = Object.entries(keys ?? {}).flatMap(([label, field]): Offer[] =>
      place.beside.includes(label)
        ? []
        : [{ label, isKey: true, detail: acceptedBy(field), info: field.description ?? '' }]
    )
    return offers.length === 0 ? undefined : { from, to, offers }
  }
  const values = namesAt(place, known) ?? schema?.enum ?? (schema?.type === 'boolean' ? ['true', 'false'] : [])
  const about = meaningsOf(schema?.description)
  const offers = values.map((label): Offer => ({ label, isKey: false, info: about.get(label) ?? '' }))
  return offers.length === 0 ? undefined : { from, to, offers }
}

/** Names that no schema lists: of detectors, what they find, lists, formats, lexicons and rules. */
function namesAt({ path, value }: Place, { language, effective }: Known): string[] | undefined {
  const [first, index, field] = path
  const own = value as Record<string, unknown>
  if (first === 'lists') return language.lists.map(({ name }) => name)
  if (first === 'without') return effective?.rules.map(({ name }) => name)
  if (first !== 'rules' || typeof index !== 'number') return undefined
  const rule = (own['rules'] as Record<string, unknown>[] | undefined)?.[index]
  switch (field) {
    case 'detector':
      return language.detectors.map(({ name }) => name)
    case 'kinds': {
      const detector = language.detectors.find(({ name }) => name === rule?.['detector'])
      return detector && [...detector.groups, ...detector.kinds]
    }
    case 'formats':
      return language.formats
    case 'when':
      return typeof path[3] === 'string' ? effective?.rules.map(({ name }) => name) : undefined
    case 'name':
      return 'extends' in own ? effective?.rules.map(({ name }) => name) : undefined
    case 'any':
    case 'all':
    case 'unless':
    case 'unless_trusted':
      return [
        ...Object.keys((own['lexicons'] as object | undefined) ?? {}),
        ...language.lists.flatMap(({ lexicons }) => lexicons)
      ].map((name) => `$${name}`)
    default:
      return undefined
  }
}

/** The meaning of a key at an offset: its path, its description, and the accepted values. */
export function meaningAt(
  text: string,
  at: number,
  { language }: Known
): { from: number; to: number; path: string; description: string; accepted: string } | undefined {
  const document = parseDocument(text, { prettyErrors: false, strict: false })
  let found: ReturnType<typeof meaningAt>
  visit(document, {
    Pair(_key, pair, ancestors) {
      const { key } = pair
      if (!isScalar(key) || !key.range || at < key.range[0] || at > key.range[1]) return undefined
      const path: (string | number)[] = []
      const chain = [...ancestors, pair]
      for (const [i, above] of chain.entries()) {
        const next = chain[i + 1]
        if (isSeq(above)) path.push(above.items.indexOf(next))
        else if (isMap(above)) path.push(String((next as { key?: { value?: unknown } }).key?.value))
      }
      const schema = schemaAt(rootOf(document.toJS(), language), path)
      if (schema === undefined) return visit.BREAK
      found = {
        from: key.range[0],
        to: key.range[1],
        path: path
          .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
          .join('')
          .slice(1),
        description: schema.description ?? '',
        accepted: acceptedBy(schema)
      }
      return visit.BREAK
    }
  })
  return found
}

/** The accepted values in a few words: a closed set, a range, or a kind. */
export function acceptedBy(schema: JsonSchema): string {
  const { enum: values, type, minimum, maximum, items } = schema
  if (values !== undefined) return values.length > 6 ? `${values.slice(0, 6).join(', ')}, …` : values.join(', ')
  if (minimum !== undefined && maximum !== undefined) return `${type ?? 'number'} from ${minimum} to ${maximum}`
  if (type === 'array') return `list of ${items?.enum?.join(', ') ?? (items?.type === 'object' ? 'maps' : 'texts')}`
  return type === 'object' ? 'map' : type === 'string' ? 'text' : (type ?? '')
}

/** Descriptions explain each value as `value: meaning.` */
function meaningsOf(description = ''): Map<string, string> {
  return new Map(
    [...description.matchAll(/(?:^|\. )([a-z_]+): ([^.]+\.)/g)].map(([, value, meaning]) => [value!, meaning!])
  )
}
