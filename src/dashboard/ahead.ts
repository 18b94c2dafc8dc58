/** The requests of the first view, sent before the code of that view is loaded. */
import { askAhead } from './api'
import type { Place } from './place'

/** @param isLikely whether somebody is probably signed in; otherwise the requests would only be refused */
export function askForView({ page, query }: Place, isLikely: boolean): void {
  askAhead('/auth/session')
  if (!isLikely) return
  askAhead('/alerts')
  const { window = '1h', ...filter } = Object.fromEntries(query)
  // With a filter it shows other figures.
  if ((page === '' || page === 'live') && Object.keys(filter).length === 0) askAhead('/safety/metrics', { window })
}
