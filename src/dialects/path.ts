/** Path templates: `/v1beta/models/{model}:generateContent`. A parameter never spans a slash. */
import type { Dialect } from './dialect.js'

export type PathParameters = Readonly<Record<string, string>>

const parameter = /\{([a-z_]+)\}/g

/** The names of a template's parameters, in order. */
export function parametersOf(template: string): string[] {
  return [...template.matchAll(parameter)].map((match) => match[1]!)
}

/**
 * @returns reads a canonical path: the values of its parameters, or undefined where it is another path
 * @throws Error for a parameter that the dialect does not know
 */
export function compilePath(
  template: string,
  { parameters }: Pick<Dialect, 'parameters'>
): (path: string) => PathParameters | undefined {
  const none: PathParameters = {}
  const names = parametersOf(template)
  if (names.length === 0) return (path) => (path === template ? none : undefined)
  const source = template
    .split(/(\{[a-z_]+\})/)
    .map((piece) => {
      const name = /^\{(.+)\}$/.exec(piece)?.[1]
      return name === undefined
        ? piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        : `(${patternOf(parameters, name).source})`
    })
    .join('')
  const pattern = new RegExp(`^${source}$`)
  return (path) => {
    const match = pattern.exec(path)
    return match === null ? undefined : Object.fromEntries(names.map((name, i) => [name, match[i + 1]!]))
  }
}

function patternOf(parameters: Dialect['parameters'], name: string): RegExp {
  const pattern = parameters[name]
  if (pattern === undefined) {
    throw new Error(
      `{${name}} is no parameter of this dialect (${Object.keys(parameters).join(', ') || 'it has none'})`
    )
  }
  return pattern
}

/** The template with its parameters filled in. */
export function fillPath(template: string, parameters: PathParameters): string {
  return template.includes('{') ? template.replace(parameter, (_, name: string) => parameters[name]!) : template
}

/**
 * The template in the router's notation (find-my-way): a pattern of its own for each parameter, literal colons doubled. The
 * router decodes a parameter before it matches it, so what it finds is read again from the raw target by `compilePath`.
 */
export function routerPath(template: string, { parameters }: Pick<Dialect, 'parameters'>): string {
  return template
    .split(/(\{[a-z_]+\})/)
    .map((piece) => {
      const name = /^\{(.+)\}$/.exec(piece)?.[1]
      if (name === undefined) return piece.replaceAll(':', '::')
      return `:${name}(^${decoded(patternOf(parameters, name).source)}$)`
    })
    .join('')
}

/** A pattern's percent-encoded characters as a router sees them. */
function decoded(source: string): string {
  return source.replace(/%[0-9A-F]{2}/g, decodeURIComponent)
}
