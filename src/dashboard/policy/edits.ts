/**
 * The text of a constitution as the form changes it. A value that stands there is replaced where it stands, so that comments
 * and layout stay; what does not stand there yet is added, and the rest is written anew with its comments.
 */
import { type Document, isMap, isScalar, isSeq, parseDocument, Scalar, stringify, type YAMLMap } from 'yaml'

export type Path = readonly (string | number)[]

export interface Opened {
  document: Document
  source: string
}

/** @returns undefined where the text is no YAML */
export function open(source: string): Opened | undefined {
  const document = parseDocument(source, { prettyErrors: false, uniqueKeys: true, stringKeys: true })
  return document.errors.length > 0 || !isMap(document.contents) ? undefined : { document, source }
}

/** The value at a path, as plain data; undefined if there is none. */
export function valueAt({ document }: Opened, path: Path): unknown {
  const node = document.getIn(path, true) as { toJS?: (document: Document) => unknown } | undefined
  return node?.toJS === undefined ? node : node.toJS(document)
}

/** The index in `rules` of the rule with a name; -1: none. */
export function ruleIndex({ document }: Opened, name: string): number {
  const rules = document.get('rules')
  return isSeq(rules) ? rules.items.findIndex((rule) => isMap(rule) && rule.get('name') === name) : -1
}

export function setValue(opened: Opened, path: Path, value: unknown): string {
  const { document, source } = opened
  const node = document.getIn(path, true)
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  if (isScalar(node) && node.range && isPlain) {
    const isQuoted = node.type === Scalar.QUOTE_SINGLE || node.type === Scalar.QUOTE_DOUBLE
    if (isQuoted || node.type === Scalar.PLAIN) {
      const written = typeof value === 'string' && isQuoted ? quoted(value, node.type!) : inFlow(value)
      return source.slice(0, node.range[0]) + written + source.slice(node.range[1])
    }
  }
  const parent = document.getIn(path.slice(0, -1), true)
  if (parent === undefined && path.length > 1) {
    // A small map of its own stands on one line, as in the constitutions that ship.
    const last = path.at(-1)!
    document.setIn(path.slice(0, -1), document.createNode({ [last]: value }, { flow: true }))
  } else document.setIn(path, document.createNode(value, { flow: true }))
  return written(document)
}

/**
 * A text that people read, or several by name: on a line of its own each, and one of several lines as they are. A text that
 * stands on one line is replaced where it stands.
 */
export function setText(opened: Opened, path: Path, text: string | Readonly<Record<string, string>>): string {
  const { document } = opened
  if (typeof text === 'string' && !text.includes('\n') && isScalar(document.getIn(path, true))) {
    return setValue(opened, path, text)
  }
  for (let depth = 1; depth < path.length; depth++) {
    // A key without a value, or with one of another kind, holds nothing that could be kept.
    const above = document.getIn(path.slice(0, depth), true)
    if (above !== undefined && !isMap(above)) document.deleteIn(path.slice(0, depth))
  }
  document.setIn(path, document.createNode(text))
  return written(document)
}

export function removeValue({ document }: Opened, path: Path): string {
  document.deleteIn(path)
  for (let depth = path.length - 1; depth > 0; depth--) {
    const above = document.getIn(path.slice(0, depth), true)
    if ((isMap(above) || isSeq(above)) && above.items.length === 0) document.deleteIn(path.slice(0, depth))
  }
  return written(document)
}

/** Sets a field of a rule: in place if the text has the rule, else as a change to the rule of the base. */
export function setRuleField(opened: Opened, name: string, field: string, value: number): string {
  const index = ruleIndex(opened, name)
  if (index >= 0) return setValue(opened, ['rules', index, field], value)
  return addTo(opened, 'rules', { name, [field]: value })
}

/** Removes a field from a rule of the text; a rule with only its name left is removed. */
export function clearRuleField(opened: Opened, name: string, field: string): string {
  const index = ruleIndex(opened, name)
  if (index < 0) return opened.source
  const rule = opened.document.getIn(['rules', index]) as YAMLMap
  rule.delete(field)
  return rule.items.length <= 1 ? removeValue(opened, ['rules', index]) : written(opened.document)
}

/** Adds an entry at the end of a list of the text, which is made where there is none. */
export function addTo(opened: Opened, list: string, entry: unknown): string {
  const { document } = opened
  const node = document.createNode(entry, { flow: true })
  const there = document.get(list)
  if (isSeq(there)) there.add(node)
  else {
    const made = document.createNode([], typeof entry === 'string' ? { flow: true } : {})
    if (isSeq(made)) made.items.push(node as never)
    document.set(list, made)
  }
  return written(document)
}

export function takeFrom(opened: Opened, list: string, entry: string): string {
  const there = opened.document.get(list)
  const index = isSeq(there) ? there.items.findIndex((item) => isScalar(item) && item.value === entry) : -1
  return index < 0 ? opened.source : removeValue(opened, [list, index])
}

function written(document: Document): string {
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

const quoted = (text: string, type: string) =>
  type === Scalar.QUOTE_DOUBLE ? JSON.stringify(text) : `'${text.replaceAll("'", "''")}'`

/** As it may stand in a map on one line too. */
function inFlow(value: string | number | boolean): string {
  const text = stringify(value, { lineWidth: 0 }).trimEnd()
  return typeof value === 'string' && /[,[\]{}#:&*!|>%@`\n]/.test(value) && !/^['"]/.test(text)
    ? JSON.stringify(value)
    : text
}
