/** The pages, in the order of the navigation, each with the scope that whoever opens it must hold. */
import {
  IconActivity,
  IconBookmarks,
  IconChartBar,
  IconFlask,
  IconGavel,
  IconHeartbeat,
  IconHistory,
  IconKey,
  IconMessageCircle,
  IconMoodCheck,
  IconRocket,
  IconScale,
  IconUsers
} from '@tabler/icons-react'
import { type ComponentType, lazy } from 'react'
import type { HeldScope } from '../types'
import { Audit } from './audit'
import { Exceptions } from './exceptions'
import { Keys } from './keys'
import { People } from './people'
import { Reviews } from './reviews'
import { Samples } from './samples'
import { Status } from './status'
import { Texts } from './texts'

/** Most of the code draws charts and edits policies: it is fetched when such a page is first looked at. */
const loads = {
  'first-steps': async () => ({ default: (await import('./first-steps')).FirstSteps }),
  live: async () => ({ default: (await import('./live')).Live }),
  constitutions: async () => ({ default: (await import('./constitutions')).Constitutions }),
  playground: async () => ({ default: (await import('./playground')).Playground }),
  usage: async () => ({ default: (await import('./usage')).Usage })
}
const FirstSteps = lazy(loads['first-steps'])
const Live = lazy(loads.live)
const Constitutions = lazy(loads.constitutions)
const Playground = lazy(loads.playground)
const Usage = lazy(loads.usage)

/** Fetches the code of a page before it is looked at; where that fails, looking at it tries again. */
export function fetchAhead(page: string): void {
  const load = Object.entries(loads).find(([id]) => id === (page === '' ? 'live' : page))?.[1]
  load?.().catch(() => {})
}

export interface PageEntry {
  id: string
  label: string
  /** Undefined: administrators alone. */
  scope?: HeldScope
  Icon: typeof IconKey
  Page: ComponentType
}

export const pages: readonly PageEntry[] = [
  { id: 'live', label: 'Live', scope: 'safety:metrics', Icon: IconActivity, Page: Live },
  { id: 'reviews', label: 'Reviews', scope: 'pdp:adjudicate', Icon: IconGavel, Page: Reviews },
  { id: 'keys', label: 'Keys', Icon: IconKey, Page: Keys },
  { id: 'playground', label: 'Playground', scope: 'constitutions:read', Icon: IconFlask, Page: Playground },
  { id: 'constitutions', label: 'Constitutions', scope: 'constitutions:read', Icon: IconScale, Page: Constitutions },
  { id: 'texts', label: 'Texts', scope: 'constitutions:read', Icon: IconMessageCircle, Page: Texts },
  { id: 'samples', label: 'Samples', scope: 'samples:read', Icon: IconBookmarks, Page: Samples },
  { id: 'exceptions', label: 'Exceptions', scope: 'constitutions:read', Icon: IconMoodCheck, Page: Exceptions },
  { id: 'usage', label: 'Usage', scope: 'billing:read', Icon: IconChartBar, Page: Usage },
  { id: 'audit', label: 'Audit', Icon: IconHistory, Page: Audit },
  { id: 'people', label: 'People', Icon: IconUsers, Page: People },
  { id: 'status', label: 'Status', scope: 'safety:metrics', Icon: IconHeartbeat, Page: Status },
  { id: 'first-steps', label: 'First steps', Icon: IconRocket, Page: FirstSteps }
]
