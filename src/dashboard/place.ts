/** The page that an address names, and its parameters. */
export interface Place {
  /** The first segment; empty at the start. */
  page: string
  query: URLSearchParams
}

export function placeOf(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [page = '', id = ''] = path.split('/')
  const query = new URLSearchParams(search)
  // People write links as the API has its paths: `#/reviews/rev_…`.
  if (id !== '' && !query.has('id')) query.set('id', id)
  return { page, query }
}
