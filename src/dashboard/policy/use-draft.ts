/** A draft in the editor: kept in the browser, checked by the gateway, and parsed for the form beside it. */
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { ApiError, api } from '../api'
import type { Effective, Problem } from '../constitution-types'
import { dropDraft, keepDraft, keptDraft } from './drafts'

/** Long enough that no problem is reported for a half-typed word. */
const checkAfterMs = 600

export interface Base {
  name: string
  /** Null: nothing of it is stored yet. */
  version: number | null
  source: string
}

export interface DraftState {
  source: string
  setSource(source: string): void
  isChanged: boolean
  /** When the draft was last kept; undefined for a draft that has just begun. */
  keptAt: string | undefined
  /** The version that a kept draft began from, if it is no longer the version shown. */
  beganFrom: number | null | undefined
  problems: Problem[]
  warnings: Problem[]
  state: 'as stored' | 'checking' | 'valid' | 'not valid' | 'not checked'
  /** Why it could not be checked. */
  failure: unknown
  /** Of the last text that was valid. */
  effective: Effective | undefined
  drop(): void
}

const none: Problem[] = []

export function useDraft(person: string, base: Base): DraftState {
  const { name, version } = base
  const [kept] = useState(() => keptDraft(person, name))
  const [source, setSource] = useState(kept?.source ?? base.source)
  const [keptAt, setKeptAt] = useState(kept?.at)
  const [from, setFrom] = useState(kept === undefined ? version : kept.from)
  const isChanged = source !== base.source || version === null
  const began = useRef(source)
  useEffect(() => {
    if (source === base.source && version !== null) {
      dropDraft(person, name)
      return setKeptAt(undefined)
    }
    if (source === began.current && kept !== undefined) return
    const at = new Date().toISOString()
    keepDraft(person, name, { source, from, at })
    setKeptAt(at)
  }, [source, base.source, version, person, name, from, kept])

  const [settled] = useDebouncedValue(source, checkAfterMs)
  const check = useQuery({
    queryKey: ['check', name, settled],
    queryFn: () => api.check(name, settled),
    enabled: settled.trim() !== '',
    retry: (count, error) => count < 3 && error instanceof ApiError && error.code === 'overloaded',
    retryDelay: 2_000,
    staleTime: 60_000,
    gcTime: 60_000
  })
  const last = useRef<Effective>(undefined)
  if (check.data?.effective) last.current = check.data.effective
  const isSettled = settled === source && !check.isFetching
  const found = isSettled ? check.data : undefined
  const state = !isSettled
    ? 'checking'
    : check.isError
      ? 'not checked'
      : found?.valid === false
        ? 'not valid'
        : isChanged
          ? 'valid'
          : 'as stored'
  return useMemo(
    () => ({
      source,
      setSource,
      isChanged,
      keptAt,
      beganFrom: kept !== undefined && from !== version ? from : undefined,
      problems: found?.problems ?? none,
      warnings: found?.warnings ?? none,
      state: source.trim() === '' ? 'not valid' : state,
      failure: check.error,
      effective: last.current,
      drop() {
        dropDraft(person, name)
        setSource(base.source)
        setFrom(version)
      }
    }),
    [source, isChanged, keptAt, kept, from, version, found, state, check.error, person, name, base.source]
  )
}
