/** The contract of the store of connected backends, in versions: the newest of a name is valid. */

export const backendApis = ['openai', 'anthropic', 'gemini', 'ollama', 'azure'] as const
/** API of a backend; `openai` for all compatible ones. */
export type BackendApi = (typeof backendApis)[number]

export interface UpstreamRow {
  /** Id of this version; its key is sealed for it. */
  upstreamId: string
  account: string
  name: string
  /** Counts up from 1 within a name. */
  version: number
  /** Null: it was removed. */
  url: string | null
  api: BackendApi
  /** The credential, sealed; null where there is none, and for every version but the newest. */
  sealedKey: Uint8Array | null
  at: number
  by: string | null
}

export interface UpstreamStore {
  /** The newest version of each name, removed ones included. */
  newest(account: string): Promise<UpstreamRow[]>
  /**
   * Adds a version, and erases the key of the one before it.
   * @returns false where `row.version` is not the next one, since another write was faster
   */
  put(row: UpstreamRow): Promise<boolean>
}
