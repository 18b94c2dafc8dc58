import { ConfigError } from '../../src/config/problem.js'

/** The problems of a configuration, one a line; '' where it is accepted. */
export function problemsOf(load: () => unknown): string {
  try {
    load()
    return ''
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message
  }
}
