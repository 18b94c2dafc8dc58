/** The backends that administrators connected, in versions: the newest of a name is the one that counts. */

export const backendApis = ['openai', 'anthropic', 'gemini', 'ollama', 'azure'] as const
/** What a backend speaks; `openai` for all that is compatible. */
export type BackendApi = (typeof backendApis)[number]

export interface UpstreamRow {
  /** Of this version; what its key is sealed for. */
  upstreamId: string
  account: string
  name: string
  /** Counts up from 1 within a name. */
  version: number
  /** Null: it was taken away. */
  url: string | null
  api: BackendApi
  /** The credential, sealed; null where there is none, and for every version but the newest. */
  sealedKey: Uint8Array | null
  at: number
  by: string | null
}

export interface UpstreamStore {
  /** The newest version of each name, those included that were taken away. */
  newest(account: string): Promise<UpstreamRow[]>
  /**
   * Adds a version, and erases the key of the one before it.
   * @returns false where `row.version` is not the one after what stands: somebody else was faster
   */
  put(row: UpstreamRow): Promise<boolean>
}
