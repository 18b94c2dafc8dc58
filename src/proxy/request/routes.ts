/** The route table: path → the routes that share it, chosen by the request's model. Compiled once per load. */

import { Fault, invalid } from '../../base/errors.js'
import type { RouteSettings } from '../../base/settings.js'
import type { Dialect } from '../../dialects/dialect.js'
import { operationAt } from '../../dialects/index.js'
import { compilePath, type PathParameters, parametersOf } from '../../dialects/path.js'

export interface Route extends Omit<RouteSettings, 'dialect'> {
  readonly dialect: RouteSettings['dialect'] | 'mcp'
  readonly spoken: Dialect
  /** The caller's context keys that count. */
  readonly contextKeys: ReadonlySet<string>
  readonly matches: (model: string | undefined) => boolean
}

/** All routes of one path. They speak one dialect, so that a body is read before its route is chosen. */
export interface PathEntry {
  /** As it is configured, parameters in braces. */
  readonly path: string
  /** The names of its parameters. */
  readonly parameters: readonly string[]
  /** Reads a canonical path. */
  readonly read: (path: string) => PathParameters | undefined
  readonly dialect: Dialect
  readonly candidates: readonly Route[]
  /** The largest limit of the candidates, since the body is read before the model is known. */
  readonly bodyLimit: number
}

export interface RouteTable {
  readonly entries: readonly PathEntry[]
  /** The entry of a canonical path, with the values of the path's parameters. */
  find(path: string): { entry: PathEntry; params: PathParameters } | undefined
}

/** @throws Error where two routes of one path speak different dialects, or a path names no operation of its dialect */
export function compileRoutes(routes: readonly RouteSettings[]): RouteTable {
  const table = new Map<string, PathEntry & { candidates: Route[]; bodyLimit: number }>()
  for (const settings of routes) {
    const dialect = operationAt(settings.dialect, settings.upstreamPath)
    if (dialect === undefined) throw new Error(`routes: ${settings.upstreamPath} is no path of ${settings.dialect}`)
    const route: Route = {
      ...settings,
      spoken: dialect,
      contextKeys: new Set(settings.callerContext),
      matches: compileMatch(settings.match?.model)
    }
    const entry = table.get(settings.path)
    if (entry === undefined) {
      const { path, bodyLimit } = settings
      table.set(path, {
        path,
        parameters: parametersOf(path),
        read: compilePath(path, dialect),
        dialect,
        candidates: [route],
        bodyLimit
      })
    } else if (entry.dialect !== dialect) {
      throw new Error(`routes: ${settings.path} is bound to ${entry.dialect.id} and to ${dialect.id}`)
    } else {
      entry.candidates.push(route)
      entry.bodyLimit = Math.max(entry.bodyLimit, settings.bodyLimit)
    }
  }
  const entries = [...table.values()]
  const templated = entries.filter(({ parameters }) => parameters.length > 0)
  return {
    entries,
    find(path) {
      const exact = table.get(path)
      if (exact !== undefined) return { entry: exact, params: noParameters }
      for (const entry of templated) {
        const params = entry.read(path)
        if (params !== undefined) return { entry, params }
      }
      return undefined
    }
  }
}

const noParameters: PathParameters = {}

/** The first route that takes the model; a 404 where none does. */
export function chooseRoute(entry: PathEntry, model: string | undefined): Route {
  for (const route of entry.candidates) if (route.matches(model)) return route
  throw new Fault('not_found', { message: 'No route serves this model.' })
}

function compileMatch(globs: readonly string[] | undefined): (model: string | undefined) => boolean {
  if (globs === undefined) return () => true
  const tests = globs.map(compileGlob)
  return (model) => model !== undefined && tests.some((test) => test(model))
}

/**
 * `*` stands for any run of characters. Searches for each literal in turn, in linear time; a regex with many `.*` is
 * slower.
 */
export function compileGlob(glob: string): (text: string) => boolean {
  const literals = glob.split('*')
  const first = literals[0]!
  if (literals.length === 1) return (text) => text === first
  const last = literals.at(-1)!
  const middle = literals.slice(1, -1).filter((literal) => literal !== '')
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
    let at = first.length
    for (const literal of middle) {
      const found = text.indexOf(literal, at)
      if (found === -1) return false
      at = found + literal.length
    }
    return at <= text.length - last.length
  }
}

/**
 * The query string as it may be forwarded.
 * @param target the raw request target, its path checked already
 * @throws Fault `validation_error` for a parameter that the dialect does not list, or lists with another pattern
 */
export function checkQuery(dialect: Pick<Dialect, 'query'>, target: string): string {
  const mark = target.indexOf('?')
  const query = mark === -1 ? '' : target.slice(mark + 1)
  if (query === '') return ''
  const seen = new Set<string>()
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const field = `query.${name.slice(0, 64)}`
    if (!Object.hasOwn(dialect.query, name))
      throw invalid(field, 'unknown_field', 'This query parameter is not known here.')
    if (seen.has(name)) throw invalid(field, 'duplicate_key', 'This query parameter is given twice.')
    seen.add(name)
    if (equals === -1 || !dialect.query[name]!.test(pair.slice(equals + 1))) {
      throw invalid(field, 'invalid_format', 'The value of this query parameter is not valid.')
    }
  }
  return `?${query}`
}
