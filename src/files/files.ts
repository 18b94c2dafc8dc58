/** Files as the gateway has them read: decoded, looked up, and handed to a child. */
import type { FileSettings } from '../base/settings.js'
import type { FileKind, Reading, UnreadReason } from './file.js'
import { canUnshare, startOf } from './isolation.js'
import { Memory } from './memory.js'
import { findPackages } from './packages.js'
import { Pool } from './pool.js'
import { remembering } from './remembering.js'

export interface FileRequest {
  /** Whose results may be remembered for it. */
  account: string
  /** Names who waits. */
  whose: string
  /** The bytes, in base64. */
  data: string
  type: string
  charset?: string | undefined
  name: string
  /** Whether pictures in it are read, too. */
  readsPictures: boolean
  /** Set where it stands in a place that takes pictures alone. */
  isPicture?: boolean | undefined
  /** Whether nobody waits for it any more. */
  isGone(): boolean
}

export interface Files {
  /** @throws Fault `overloaded`, `evaluator_unavailable` */
  read(request: FileRequest): Promise<Reading>
  /** Whether the children have a network namespace of their own. */
  readonly hasNamespace: boolean
  /** Files that wait for a child. */
  waiting(): number
  close(): void
}

/** Told of each file, and each sound, that was asked about. */
export type FileReport = (outcome: FileKind | 'sound' | UnreadReason, seconds: number) => void

/**
 * Starts the children and waits until one can read.
 * @param readsPictures whether any route has pictures read
 * @throws FilesError where packages are missing
 */
export async function openFiles(settings: FileSettings, readsPictures: boolean, report: FileReport): Promise<Files> {
  const { entries, languages } = findPackages(readsPictures ? settings.languages : [])
  const hasNamespace = await canUnshare()
  const pool = new Pool(startOf(settings.memoryBytes, hasNamespace, entries, languages), settings)
  try {
    await pool.open()
  } catch (error) {
    pool.close()
    throw error
  }
  const memory = new Memory()

  return {
    hasNamespace,
    waiting: () => pool.waiting,
    read: remembering({ most: settings.fileBytes, memory, report }, ({ whose, isGone }, { head, size, parts }) =>
      pool.read({ whose, head: { ...head, size }, parts, isGone })
    ),
    close: () => pool.close()
  }
}
