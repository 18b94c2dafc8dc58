/** Pages whose code is fetched when they are first looked at: most of it draws charts and edits policies. */
export const loads = {
  'first-steps': async () => ({ default: (await import('./first-steps')).FirstSteps }),
  live: async () => ({ default: (await import('./live')).Live }),
  constitutions: async () => ({ default: (await import('./constitutions')).Constitutions }),
  playground: async () => ({ default: (await import('./playground')).Playground }),
  usage: async () => ({ default: (await import('./usage')).Usage })
}
/** Fetches the code of a page before it is looked at; where that fails, looking at it tries again. */
export function fetchAhead(page: string): void {
  const load = Object.entries(loads).find(([id]) => id === (page === '' ? 'live' : page))?.[1]
  load?.().catch(() => {})
}
