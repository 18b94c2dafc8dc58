/** Scopes: docs/api.md, section 3. */
import { Fault } from '../base/errors.js'

export const scopes = [
  '*',
  'safety:evaluate',
  'safety:metrics',
  'pdp:adjudicate',
  'constitutions:read',
  'constitutions:write',
  'billing:read',
  'keys:rotate',
  'mcp:call'
] as const
export type Scope = (typeof scopes)[number]

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}

/** `*` grants everything; nothing but `*` grants `*`. */
export function holds(held: readonly Scope[], needed: Scope): boolean {
  return held.includes('*') || held.includes(needed)
}

/** The 403 of docs/api.md, section 2: the message names the scope, `required` and `available` repeat it for machines. */
export function insufficientScope(required: Scope, available: readonly Scope[]): Fault {
  return new Fault('insufficient_scope', {
    message: `This operation needs the scope ${required}.`,
    fields: { required, available: [...available] }
  })
}
