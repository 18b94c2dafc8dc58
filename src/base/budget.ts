/** The budget of a request: limits on its JSON values, texts, characters and findings. */

export interface Budget {
  /** JSON values of a body, containers included. */
  nodes: number
  /** Texts: string leaves, and keys that are no names of the API's own. */
  parts: number
  /** UTF-16 units of the texts, and of texts that a model reads as one. */
  units: number
  /** UTF-16 units of their other readings (decoded, corrected). */
  views: number
  /** Reported findings in them. */
  findings: number
}

/**
 * Several times the amounts in a 1 MiB body of chat, tools and documents. The findings suffice for a customer list of
 * that length, and can be reported and redacted without delaying other requests.
 */
export const defaultBudget: Budget = {
  nodes: 50_000,
  parts: 20_000,
  units: 8_000_000,
  views: 4_000_000,
  findings: 20_000
}

/** The configuration keys that raise each limit. */
export const budgetSettings = {
  nodes: 'limits.request.nodes',
  parts: 'limits.request.parts',
  units: 'limits.request.units',
  views: 'limits.request.views',
  findings: 'limits.request.findings'
} as const satisfies Record<keyof Budget, string>
