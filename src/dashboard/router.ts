/** Where one is, in the fragment of the address: no request and no log on the way ever has it. */
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

/** The same, and the way back leads past it: of filters that change while one types. */
export function replacePlace(page: string, query: Record<string, string>): void {
  location.replace(linkTo(page, query))
}

export function goTo(page: string, query: Record<string, string> = {}): void {
  location.hash = linkTo(page, query)
}
