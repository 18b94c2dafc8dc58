import { useQuery } from '@tanstack/react-query'
import { api } from '../api'
import type { Scope } from '../types'

/** Whether who is signed in holds a scope. What one may not do is not offered; the gateway refuses it all the same. */
export function useMay(scope: Scope): boolean {
  const { data } = useQuery({ queryKey: ['session'], queryFn: api.session })
  const held = data?.scopes ?? []
  return held.includes('*') || held.includes(scope)
}
