/** Drafts that are not stored yet: kept in this browser, by person and constitution, until they are stored or thrown away. */

export interface Draft {
  source: string
  /** The version that it began from; null: the constitution is new. */
  from: number | null
  /** ISO 8601. */
  at: string
}

const prefix = 'sluicegate.draft.'
const keyOf = (person: string, name: string) => `${prefix}${person}.${name}`

export function keptDraft(person: string, name: string): Draft | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(person, name)) ?? 'null')
    return typeof kept === 'object' && kept !== null && typeof (kept as Draft).source === 'string'
      ? (kept as Draft)
      : undefined
  } catch {
    return undefined
  }
}

/** If the browser has no room or no storage, the draft is lost when the page closes; nothing more is promised. */
export function keepDraft(person: string, name: string, draft: Draft): void {
  try {
    localStorage.setItem(keyOf(person, name), JSON.stringify(draft))
  } catch {}
}

export function dropDraft(person: string, name: string): void {
  try {
    localStorage.removeItem(keyOf(person, name))
  } catch {}
}

/** The names of constitutions that a person has drafts of. */
export function draftNames(person: string): string[] {
  try {
    const start = keyOf(person, '')
    return Object.keys(localStorage).flatMap((key) => (key.startsWith(start) ? [key.slice(start.length)] : []))
  } catch {
    return []
  }
}
