/** The budget of a request: how many JSON values, texts and characters of it are judged at most, and how much may be found. */

export interface Budget {
  /** JSON values of a body, containers included. */
  nodes: number
  /** Texts: string leaves, and keys that are no names of the API's own. */
  parts: number
  /** UTF-16 units of the texts, and of texts that a model reads as one. */
  units: number
  /** UTF-16 units of their other readings (decoded, put right). */
  views: number
  /** Places that are found in them and shown, each with what is known of it. */
  findings: number
}

/**
 * Several times what a body of 1 MiB of chat, tools and documents comes to; of findings, what a list of customers of that
 * length holds, and as many as are told, counted and replaced without keeping others waiting.
 */
export const defaultBudget: Budget = {
  nodes: 50_000,
  parts: 20_000,
  units: 8_000_000,
  views: 4_000_000,
  findings: 20_000
}

/** The keys of the configuration that raise each. */
export const budgetSettings = {
  nodes: 'limits.request.nodes',
  parts: 'limits.request.parts',
  units: 'limits.request.units',
  views: 'limits.request.views',
  findings: 'limits.request.findings'
} as const satisfies Record<keyof Budget, string>
