/** Where one is, in the fragment of the address: no request and no log on the way ever has it. */
import { useSyncExternalStore } from 'react'

export interface Place {
  /** The first segment; empty at the start. */
  page: string
  query: URLSearchParams
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

export function usePlace(): Place {
  return read(useSyncExternalStore(subscribe, () => location.hash))
}

/** The same, once. */
export function placeNow(): Place {
  return read(location.hash)
}

function read(hash: string): Place {
  const [page = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  return { page, query: new URLSearchParams(query) }
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
