import { useQuery } from '@tanstack/react-query'
import { api } from '../api'
import type { HeldScope } from '../types'

/** `*` is everything that a key may have, and reading samples is no part of it. */
export function mayWith(held: readonly HeldScope[], scope: HeldScope | undefined): boolean {
  if (scope !== undefined && held.includes(scope)) return true
  return scope !== 'samples:read' && held.includes('*')
}

/** Whether who is signed in holds a scope. What one may not do is not offered; the gateway refuses it all the same. */
export function useMay(scope: HeldScope): boolean {
  const { data } = useQuery({ queryKey: ['session'], queryFn: api.session })
  return mayWith(data?.scopes ?? [], scope)
}
