/** The current place, in the fragment of the address, which is never part of a request or a log. */
import { useSyncExternalStore } from 'react'
import { type Place, placeOf } from './place'

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

export function usePlace(): Place {
  return placeOf(useSyncExternalStore(subscribe, () => location.hash))
}

export function linkTo(page: string, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(query).toString()
  return `#/${page}${search === '' ? '' : `?${search}`}`
}

/** The same without a new history entry, for filters that change while the user types. */
export function replacePlace(page: string, query: Record<string, string>): void {
  location.replace(linkTo(page, query))
}

export function goTo(page: string, query: Record<string, string> = {}): void {
  location.hash = linkTo(page, query)
}
