import { useQuery } from '@tanstack/react-query'
import { api } from '../api'
import type { HeldScope } from '../types'

/** `*` covers every scope that a key may have; reading samples is not one of them. */
export function mayWith(held: readonly HeldScope[], scope: HeldScope | undefined): boolean {
  if (scope !== undefined && held.includes(scope)) return true
  return scope !== 'samples:read' && held.includes('*')
}

/**
 * Whether the signed-in user holds a scope. Pages hide actions that the user may not take; the gateway refuses them all
 * the same.
 */
export function useMay(scope: HeldScope): boolean {
  const { data } = useQuery({ queryKey: ['session'], queryFn: api.session })
  return mayWith(data?.scopes ?? [], scope)
}
