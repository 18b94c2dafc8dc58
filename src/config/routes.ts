/** Compiles the routes: merges defaults, checks references, and makes one `RouteSettings` each. */

import { dialectIds, type RouteSettings } from '../base/settings.js'
import { parseDuration, parseSize } from '../base/units.js'
import { dialects, operationAt } from '../dialects/index.js'
import { compilePath, parametersOf } from '../dialects/path.js'
import type { Fail } from './problem.js'
import type { FileConfig, FileRoute, FileTreatment } from './schema.js'

/** Values where neither a route nor `defaults` sets one (docs/configuration.md). */
export const treatment: Required<FileTreatment> = {
  mode: 'enforce',
  respond: 'error',
  output: 'window',
  hold: {},
  divert: 'queue',
  on_failure: 'closed',
  unscannable: 'deny',
  redact: [],
  constitution: 'default',
  caller_context: ['topic', 'platform']
}

export function compileRoutes(file: FileConfig, bodyLimit: number): RouteSettings[] {
  const written = file.routes ?? publishedRoutes()
  // `flatMap` skips the holes of dropped routes.
  const routes = written.flatMap((route): RouteSettings => {
    const merged = { ...treatment, ...file.defaults, ...route }
    const isSocket = dialects[route.dialect][0].isSocket === true
    return {
      id: route.path,
      method: isSocket ? 'GET' : 'POST',
      path: route.path,
      upstreamPath: route.upstream_path ?? route.path,
      dialect: route.dialect,
      upstream: route.upstream ?? 'default',
      match: route.match,
      mode: merged.mode,
      respond: merged.respond,
      output: merged.output,
      hold: holdOf({ ...file.defaults?.hold, ...route.hold }),
      // An open session cannot change its upstream, so a diverted event goes to a person.
      divert: isSocket ? 'queue' : merged.divert,
      onFailure: merged.on_failure,
      unscannable: merged.unscannable,
      redact: [...new Set(merged.redact)],
      constitution: merged.constitution,
      constitutionGiven: (route.constitution ?? file.defaults?.constitution) !== undefined,
      callerContext: [...new Set(merged.caller_context)],
      bodyLimit: route.body_limit === undefined ? bodyLimit : (parseSize(route.body_limit) as number)
    }
  })
  return withUniqueIds(routes)
}

export function holdOf({ size = '1MiB', time = '2s' }: NonNullable<FileTreatment['hold']>): RouteSettings['hold'] {
  return { bytes: parseSize(size) as number, ms: parseDuration(time) as number }
}

/** The published paths of all dialects, which are served without configured routes. */
function publishedRoutes(): FileRoute[] {
  return dialectIds.flatMap((dialect) =>
    dialects[dialect].flatMap(({ paths }) => paths.map((path) => ({ path, dialect })))
  )
}

/** Ids of routes with a shared path get the upstream, and if that is shared too, a number. */
function withUniqueIds(routes: RouteSettings[]): RouteSettings[] {
  const taken = new Map<string, number>()
  return routes.map((route) => {
    const isShared = routes.filter(({ path }) => path === route.path).length > 1
    const id = isShared ? `${route.path}@${route.upstream}` : route.path
    const seen = (taken.get(id) ?? 0) + 1
    taken.set(id, seen)
    return { ...route, id: seen === 1 ? id : `${id}#${seen}` }
  })
}

/** Checks that all names in the file refer to something. */
export function checkReferences(
  file: FileConfig,
  upstreams: ReadonlySet<string>,
  constitutions: ReadonlySet<string>,
  fail: Fail
): void {
  const known = (names: ReadonlySet<string>) => [...names].sort().join(', ') || 'none is configured'
  const needUpstream = (path: readonly (string | number)[], name: string | undefined) => {
    if (name !== undefined && !upstreams.has(name))
      fail(path, `names an upstream that does not exist (${known(upstreams)})`)
  }
  const checkTreatment = (path: readonly (string | number)[], { constitution, divert, unscannable }: FileTreatment) => {
    if (constitution !== undefined && !constitutions.has(constitution)) {
      fail([...path, 'constitution'], `names a constitution that does not exist (${known(constitutions)})`)
    }
    if (typeof divert === 'object') needUpstream([...path, 'divert', 'upstream'], divert.upstream)
    checkScans([...path, 'unscannable'], unscannable, file, fail)
  }

  for (const [name, upstream] of Object.entries(file.upstreams ?? {})) {
    upstream.fallback?.forEach((other, index) => {
      const path = ['upstreams', name, 'fallback', index]
      if (other === name) fail(path, 'names the upstream itself (another upstream)')
      else needUpstream(path, other)
    })
  }
  checkTreatment(['defaults'], file.defaults ?? {})
  for (const [name, server] of Object.entries(file.mcp?.servers ?? {})) checkTreatment(['mcp', 'servers', name], server)
  if (file.routes === undefined) {
    if (!upstreams.has('default')) {
      fail(['upstreams'], 'has no "default", which the published routes lead to (name one default, or write routes)')
    }
    return
  }
  const unmatched = new Map<string, number>()
  file.routes.forEach((route, index) => {
    const path = ['routes', index]
    // Without an upstream of its own a route leads to `default`.
    needUpstream([...path, 'upstream'], route.upstream ?? 'default')
    checkTreatment(path, route)
    if (dialects[route.dialect][0].isSocket === true && typeof route.divert === 'object') {
      fail([...path, 'divert'], 'names an upstream, and an open session cannot change its own (queue)')
    }
    checkPath(path, route, fail)
    const before = unmatched.get(route.path)
    if (before !== undefined) {
      fail(
        [...path, 'path'],
        `is taken: routes[${before}] has this path and no match, so that no request reaches this route (another path, or a match on the earlier one)`
      )
    } else if (route.match === undefined) unmatched.set(route.path, index)
  })
}

const nouns = { video: 'films are', tokens: 'tokens are' } as const

/** Refuses `scan` for kinds that cannot be read: such a setting is a misunderstanding. */
function checkScans(
  path: readonly (string | number)[],
  unscannable: FileTreatment['unscannable'],
  { transcription }: FileConfig,
  fail: Fail
): void {
  if (typeof unscannable !== 'object') return
  if (unscannable.audio === 'scan' && transcription === undefined) {
    fail([...path, 'audio'], 'cannot be scan without transcription: { base_url, model } (deny, review, permit)')
  }
  for (const [kind, noun] of Object.entries(nouns)) {
    if (unscannable[kind as keyof typeof nouns] !== 'scan') continue
    fail([...path, kind], `cannot be scan: ${noun} not read by this version (deny, review, permit)`)
  }
}

/** Refuses `names` without an encoder, the only detector of names. */
export function checkNames({ defaults, routes, mcp }: FileConfig, fail: Fail): void {
  const reason = 'cannot be replaced: the encoder finds them, and it is off (encoder: required or preferred)'
  const check = (path: readonly (string | number)[], redact: FileTreatment['redact']) => {
    const at = redact?.indexOf('names') ?? -1
    if (at !== -1) fail([...path, 'redact', at], reason)
  }
  check(['defaults'], defaults?.redact)
  routes?.forEach(({ redact }, index) => {
    check(['routes', index], redact)
  })
  for (const [name, { redact }] of Object.entries(mcp?.servers ?? {})) check(['mcp', 'servers', name], redact)
}

/** Checks that the upstream path names an operation of the dialect, with the dialect's parameters. */
function checkPath(path: readonly (string | number)[], route: FileRoute, fail: Fail): void {
  const { dialect } = route
  const upstreamPath = route.upstream_path ?? route.path
  const operation = operationAt(dialect, upstreamPath)
  if (operation === undefined) {
    const endings = dialects[dialect].map(({ suffix }) => suffix).join(', ')
    fail([...path, 'upstream_path'], `names no operation of ${dialect} (a path that ends with ${endings})`)
    return
  }
  for (const [name, template] of [
    ['path', route.path],
    ['upstream_path', upstreamPath]
  ] as const) {
    try {
      compilePath(template, operation)
    } catch (error) {
      fail([...path, name], `has a parameter that is not known: ${(error as Error).message}`)
      return
    }
  }
  const given = parametersOf(route.path)
  const missing = parametersOf(upstreamPath).find((name) => !given.includes(name))
  if (missing !== undefined) fail([...path, 'upstream_path'], `has {${missing}}, which path does not have`)
}
