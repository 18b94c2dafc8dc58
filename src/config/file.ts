/**
 * Reads a YAML file into plain values, with `${VAR}` and `${VAR:-default}` substituted, and remembers the place of each
 * value, so that every problem can be shown as `file:line:column path: reason`.
 */
import { readFileSync } from 'node:fs'
import { type Document, isMap, isNode, isPair, isScalar, type Node, type Scalar, visit } from 'yaml'
import { openYaml } from '../base/yaml.js'
import { ConfigError, type Problem, showPath } from './problem.js'

export interface ConfigFile {
  /** Plain values; keys without a value (`upstreams:` alone) are left out. */
  value: unknown
  /** The problem at a path, or at the nearest existing parent. */
  problem(path: readonly (string | number)[], reason: string, atKey?: boolean): Problem
}

/**
 * @param shown the file's name in messages
 * @param lookup a variable's value; undefined where it is unset or empty
 * @throws ConfigError for what is not readable, not YAML, or names an unset variable
 */
export function readConfigFile(file: string, shown: string, lookup: (name: string) => string | undefined): ConfigFile {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError([{ source: shown, path: '', reason: `cannot be read (${errorCode(error)})` }])
  }
  const { document, lines } = openYaml(text)
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { source: shown, line, column: col }
  }

  const problems: Problem[] = [...document.errors, ...document.warnings].map((fault) => ({
    ...at(fault.pos[0]),
    path: '',
    reason: fault.message
  }))
  if (problems.length === 0) {
    visit(document, {
      Alias(_, node) {
        if (node.resolve(document) === undefined)
          problems.push({ ...at(node.range?.[0] ?? 0), path: '', reason: 'Unresolved alias' })
      }
    })
    substituteAll(document, lookup, (node, path, reason) =>
      problems.push({ ...at(node.range?.[0] ?? 0), path, reason })
    )
  }
  if (problems.length > 0) throw new ConfigError(problems)

  return {
    value: withoutEmpty(plainValues(document, shown)) ?? {},
    problem: (path, reason, atKey = false) => ({
      ...at(offsetOf(document, path, atKey)),
      path: showPath(path),
      reason
    })
  }
}

function plainValues(document: Document, shown: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // Aliases that would unfold into a bomb.
    throw new ConfigError([{ source: shown, path: '', reason: (error as Error).message }])
  }
}

const variable = /\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|)/g

/**
 * Substitutes in place, inside scalars only, so that no value of a variable can add keys or change the structure. The
 * result is a text; the schema's check reads it as a number or as true or false where the key takes one.
 */
function substituteAll(
  document: Document,
  lookup: (name: string) => string | undefined,
  fail: (node: Scalar, path: string, reason: string) => void
): void {
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return
      const path = ancestors.flatMap((item) => (isPair(item) ? [String(item.key)] : [])).join('.')
      const text = node.value.replace(variable, (_, name: string | undefined, fallback: string | undefined) => {
        const value = name === undefined ? undefined : (lookup(name) ?? fallback)
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the sentence shows the syntax
        if (name === undefined) fail(node, path, 'holds "${" that begins neither a ${VAR} nor a ${VAR:-default}')
        else if (value === undefined)
          fail(node, path, `needs the variable ${name}, which is not set and has no default`)
        return value ?? ''
      })
      // An empty variable counts as unset, and so does a key with nothing else.
      node.value = text === '' ? null : text
    }
  })
}

/** A key without a value is a key left out; in a list it stays, and the schema refuses it. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, withoutEmpty(inner)])
  )
}

function offsetOf(document: Document, path: readonly (string | number)[], atKey: boolean): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (!isNode(node)) continue
    if (!atKey || length < path.length) return node.range?.[0] ?? 0
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
    return keyOffset(parent, String(path.at(-1))) ?? node.range?.[0] ?? 0
  }
  return (document.contents as Node | null)?.range?.[0] ?? 0
}

function keyOffset(parent: unknown, key: string): number | undefined {
  if (!isMap(parent)) return undefined
  const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === key)
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined
}

/** `ENOENT`, `EACCES`, …: the error without any content. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).name
}
