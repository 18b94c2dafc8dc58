/** Problems of a configuration. A file of its own, so that other commands need not load the parser. */

import type { Settings } from '../base/settings.js'

export interface Problem {
  /** The source as shown: a file, `environment`, or `option` for one of the command. */
  source: string
  line?: number
  column?: number
  /** Dotted path of the key, or the name of the variable or option; empty for the whole source. */
  path: string
  reason: string
}

/** What could be read of a configuration with problems: paths that may be checked too, and nothing to start with. */
export type Rest = Pick<Settings, 'constitutions' | 'judges' | 'encoder' | 'files' | 'routes' | 'mcp' | 'bootstrapKey'>

/** Every problem of a configuration at once, one line each. Values are never quoted: they may be secrets. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]
  /** Undefined where nothing could be read. */
  readonly rest: Rest | undefined

  constructor(problems: readonly Problem[], rest?: Rest) {
    super(problems.map(formatProblem).join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
    this.rest = rest
  }
}

function formatProblem({ source, line, column, path, reason }: Problem): string {
  const place = line === undefined ? source : `${source}:${line}:${column}`
  return path === '' ? `${place}: ${reason}` : `${place} ${path}: ${reason}`
}

/** `routes[0].match.model[1]` */
export function showPath(path: readonly (string | number)[]): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')
}

/** Reports a problem at a path of the file. */
export type Fail = (path: readonly (string | number)[], reason: string) => void
