/**
 * What of a constitution that violates the schema can be checked all the same, so that its author sees every problem at
 * once. The faulty places get harmless stand-ins; nothing of the result is ever put in force.
 */
import type { ErrorObject } from 'ajv'
import type { Path, Problems } from './problems.js'
import { pathOf } from './problems.js'

export interface Mended {
  source: object
  /** Takes the further problems: those of a faulty place only follow from what has been said of it. */
  problems: Problems
}

const standIns: Readonly<Record<string, unknown>> = {
  name: 'faulty',
  version: '0',
  bands: { middle: 0.4, high: 0.75 }
}
const categoryStandIn = { high: 'forbid', middle: 'divert' }

/** @returns undefined where too much is missing: without its base nothing of an overlay can be checked */
export function mend(given: unknown, errors: readonly ErrorObject[], problems: Problems): Mended | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const source: Record<string, unknown> = { ...given }
  const faulty = new Set<string>()
  for (const error of errors) {
    const path = faultyPath(error, given)
    const [first, second] = path
    if (first === undefined || first === 'extends') return undefined
    faulty.add(placeOf(path))
    if (second !== undefined && standInFor(source, String(first), second)) continue
    if (String(first) in standIns) source[first] = standIns[first]
    else delete source[first]
  }
  return {
    source,
    problems: {
      list: problems.list,
      nameOf: problems.nameOf,
      add(path, ...said) {
        if (!faulty.has(placeOf(path))) problems.add(path, ...said)
      }
    }
  }
}

/** Puts a stand-in for one rule, category or lexicon, so that what refers to it by name finds it. */
function standInFor(source: Record<string, unknown>, first: string, second: string | number): boolean {
  const whole = source[first]
  if (first === 'rules' && Array.isArray(whole) && typeof second === 'number') {
    const name: unknown = whole[second]?.name
    const known = typeof name === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(name) ? name : `faulty_${second}`
    source[first] = whole.with(second, { name: known, category: 'violence', weight: 0, any: ['faulty'] })
    return true
  }
  if (first === 'lexicons') source[first] = { ...(whole as object), [second]: ['faulty'] }
  else if (first === 'categories') source[first] = { ...(whole as object), [second]: categoryStandIn }
  else return false
  return true
}

/** Of an unknown category the schema names the place of all: then none is checked further. */
function faultyPath({ instancePath, keyword, params }: ErrorObject, given: object): Path {
  const path = pathOf(instancePath, given)
  if (path.length > 0) return path
  const name: unknown =
    keyword === 'additionalProperties'
      ? params['additionalProperty']
      : keyword === 'required'
        ? params['missingProperty']
        : undefined
  return name === undefined ? path : [String(name)]
}

/** A rule, or a whole field of the document. */
function placeOf([first, second]: Path): string {
  return first === 'rules' && second !== undefined ? `rules ${second}` : String(first)
}
