/** The names behind ids, as far as the signed-in user may see them. */
import { useQuery } from '@tanstack/react-query'
import { api } from '../api'
import { useMay } from './may'

/** @returns the login of a person, the name of a key, `you`, or the id itself */
export function useNames(): (id: string) => string {
  const session = useQuery({ queryKey: ['session'], queryFn: api.session })
  const enabled = useMay('*')
  const users = useQuery({ queryKey: ['users'], queryFn: api.users, enabled, staleTime: 30_000 })
  const keys = useQuery({ queryKey: ['keys'], queryFn: api.keys, enabled, staleTime: 30_000 })
  const names = new Map<string, string>()
  for (const { user_id, login } of users.data?.users ?? []) names.set(user_id, login)
  for (const { key_id, name } of keys.data?.keys ?? []) names.set(key_id, name)
  const own = session.data?.user?.user_id
  return (id) => (id === own ? 'you' : (names.get(id) ?? id))
}
