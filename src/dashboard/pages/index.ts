/** The pages, in the order of the navigation, each with the scope that whoever opens it must hold. */
import { IconGavel, IconKey } from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { Scope } from '../types'
import { Keys } from './keys'
import { Reviews } from './reviews'

export interface PageEntry {
  id: string
  label: string
  /** Undefined: administrators alone. */
  scope?: Scope
  Icon: typeof IconKey
  Page: ComponentType
}

export const pages: readonly PageEntry[] = [
  { id: 'reviews', label: 'Reviews', scope: 'pdp:adjudicate', Icon: IconGavel, Page: Reviews },
  { id: 'keys', label: 'Keys', Icon: IconKey, Page: Keys }
]
