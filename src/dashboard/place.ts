/** The page that an address names, and its parameters. */
export interface Place {
  /** The first segment; empty at the start. */
  page: string
  query: URLSearchParams
}

export function placeOf(hash: string): Place {
  const [page = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  return { page, query: new URLSearchParams(query) }
}
