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
import { loads } from './loads'
import { People } from './people'
import { Reviews } from './reviews'
import { Samples } from './samples'
import { Status } from './status'
import { Texts } from './texts'

const FirstSteps = lazy(loads['first-steps'])
const Live = lazy(loads.live)
const Constitutions = lazy(loads.constitutions)
const Playground = lazy(loads.playground)
const Usage = lazy(loads.usage)

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
