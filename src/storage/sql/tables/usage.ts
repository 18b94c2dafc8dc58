import type { Environment } from '../../contracts/key-store.js'
import type { UsageRow } from '../../contracts/usage-store.js'

export interface UsageTable {
  account: string
  key_id: string
  environment: Environment
  surface: string
  day: string
  evaluations: number
  characters: number
}

export function fromUsage({ keyId, ...same }: UsageRow): UsageTable {
  return { ...same, key_id: keyId }
}

export function toUsage({ key_id: keyId, ...same }: UsageTable): UsageRow {
  return { ...same, keyId }
}
