/** Scopes: docs/api.md, section 3. */
import { Fault } from '../base/errors.js'

/** What a key may have. */
export const keyScopes = [
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
/** What people hold who sign in, and they alone: no key has it, and `*` does not grant it. */
export const personalScopes = ['samples:read'] as const
export const scopes = [...keyScopes, ...personalScopes] as const
export type Scope = (typeof scopes)[number]

/** Whether a key may have it. */
export function isScope(text: string): text is (typeof keyScopes)[number] {
  return (keyScopes as readonly string[]).includes(text)
}

/** `*` grants everything that a key may have; nothing but `*` grants `*`. */
export function holds(held: readonly Scope[], needed: Scope): boolean {
  return held.includes(needed) || (held.includes('*') && isScope(needed))
}

/** The 403 of docs/api.md, section 2: the message names the scope, `required` and `available` repeat it for machines. */
export function insufficientScope(required: Scope, available: readonly Scope[]): Fault {
  return new Fault('insufficient_scope', {
    message: `This operation needs the scope ${required}.`,
    fields: { required, available: [...available] }
  })
}
