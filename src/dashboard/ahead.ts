/** What the first view asks the gateway for, asked before the code of that view is there to ask. */
import { askAhead } from './api'
import type { Place } from './place'

/** @param isLikely whether somebody is most likely signed in; else it would only be refused */
export function askForView({ page, query }: Place, isLikely: boolean): void {
  askAhead('/auth/session')
  if (!isLikely) return
  askAhead('/alerts')
  const { window = '1h', ...filter } = Object.fromEntries(query)
  // With a filter it shows other figures.
  if ((page === '' || page === 'live') && Object.keys(filter).length === 0) askAhead('/safety/metrics', { window })
}
