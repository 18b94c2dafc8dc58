/** Problems of a constitution, each with its place in the file and the accepted values. */
import type { ErrorObject } from 'ajv'
import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair } from 'yaml'
import { nearestHint } from '../../base/near.js'
import { fieldsOf, type Marked, valuesOf } from './gone.js'

export interface Problem {
  /** 1-based. */
  line: number
  column: number
  /** `rules[3].weight`; empty for the document as a whole. */
  path: string
  message: string
  /** The accepted values, where the set is closed. */
  accepted?: readonly string[]
}

/** A constitution that cannot be put in force. `message` lists every problem, one a line, as `file:line:column path: reason`. */
export class ConstitutionError extends Error {
  readonly file: string
  readonly problems: readonly Problem[]

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map((p) => `${file}:${p.line}:${p.column} ${p.path === '' ? '' : `${p.path}: `}${p.message}`)
    super(`The constitution is not valid.\n${lines.join('\n')}`)
    this.name = 'ConstitutionError'
    this.file = file
    this.problems = problems
  }
}

/** Keys and indexes from the root of the document: `['rules', 3, 'weight']`. */
export type Path = readonly (string | number)[]

export interface ProblemDetail {
  /** The mistake is the key rather than its value. */
  atKey?: boolean
  accepted?: readonly string[]
}

/** Collects problems, in the order found. */
export interface Problems {
  readonly list: Problem[]
  add(path: Path, message: string, detail?: ProblemDetail): void
  /** A place as its problems name it, for a message about another place. */
  nameOf(path: Path): string
}

/** @param open parses the text, for the places; called for the first problem */
export function collectProblems(open: () => { document: Document; lines: LineCounter }): Problems {
  const list: Problem[] = []
  let opened: ReturnType<typeof open> | undefined
  return {
    list,
    nameOf: showPath,
    add(path, message, { atKey = false, accepted } = {}) {
      opened ??= open()
      const { document, lines } = opened
      const { line, col } = lines.linePos(offsetOf(document, path, atKey))
      const place = { line: Math.max(1, line), column: Math.max(1, col), path: showPath(path) }
      list.push({ ...place, message, ...(accepted === undefined ? {} : { accepted }) })
    }
  }
}

function showPath(path: Path): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')
}

/** Offset in the file of the deepest node along the path that exists. */
function offsetOf(document: Document, path: Path, atKey: boolean): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const [depth, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document)
    let pair: Pair | undefined
    if (isMap(node)) pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step))
    const next = isSeq(node) && typeof step === 'number' ? node.items[step] : pair?.value
    const key = startOf(pair?.key)
    if (depth === path.length - 1 && atKey && key !== undefined) return key
    if (next === undefined || next === null) return key ?? offset
    offset = startOf(next) ?? key ?? offset
    node = next
  }
  return offset
}

function startOf(node: unknown): number | undefined {
  return (node as Node | undefined | null)?.range?.[0]
}

/** Turns one finding of the schema into a sentence that names what is accepted. */
export function addSchemaProblem(problems: Problems, error: ErrorObject, value: unknown): void {
  const path = pathOf(error.instancePath, value)
  if (error.keyword === 'additionalProperties') {
    path.push(String((error.params as { additionalProperty: string }).additionalProperty))
    const accepted = fieldsOf(error.parentSchema as Marked | undefined)
    const near = nearestHint(String(path.at(-1)), accepted)
    problems.add(path, `unknown field; accepted here: ${accepted.join(', ')}${near}`, { atKey: true, accepted })
  } else if (error.keyword === 'enum') {
    const accepted = valuesOf(error.parentSchema as Marked | undefined)
    const near = typeof error.data === 'string' ? nearestHint(error.data, accepted) : ''
    problems.add(path, `must be one of: ${accepted.join(', ')}${near}`, { accepted })
  } else {
    problems.add(path, sentence(error, path))
  }
}

function sentence({ keyword, params, message }: ErrorObject, path: Path): string {
  switch (keyword) {
    case 'required':
      return `"${params['missingProperty']}" is missing${path[0] === 'categories' ? ' (every category is listed once)' : ''}`
    case 'type':
      return `must be of type ${params['type']}${params['type'] === 'string' ? ' (quote it)' : ''}`
    case 'pattern':
      return `must match ${params['pattern']}`
    case 'minItems':
      return `must list at least ${params['limit']}`
    case 'minLength':
      return 'must not be empty'
    default:
      return String(message)
  }
}

/** A JSON pointer to a path; a step into an array becomes a number. */
export function pathOf(pointer: string, root: unknown): (string | number)[] {
  let value = root
  return pointer
    .split('/')
    .slice(1)
    .map((token) => {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(value) ? Number(name) : name
      value = (value as Record<string, unknown>)?.[name]
      return step
    })
}
