/** Files as the gateway has them read: decoded in pieces, looked up, and handed to a child. */
import { setImmediate } from 'node:timers/promises'
import type { FileSettings } from '../base/settings.js'
import type { FileKind, Reading, UnreadReason } from './file.js'
import { canUnshare, startOf } from './isolation.js'
import { Memory } from './memory.js'
import { findPackages } from './packages.js'
import { Pool } from './pool.js'

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
  isPicture?: boolean
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

/** Told of each file that was asked about. */
export type FileReport = (outcome: FileKind | UnreadReason, seconds: number) => void

/** UTF-16 units of base64 that are decoded and digested at once: a multiple of four, well below a millisecond. */
const pieceUnits = 256 * 1024
const base64 = /^[A-Za-z0-9+/]*$/
const lastBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const mostNameUnits = 255

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

  async function read({ account, whose, data, isGone, ...asked }: FileRequest): Promise<Reading> {
    const { type, charset, name, readsPictures, isPicture } = asked
    const head = { type, charset, name: name.slice(-mostNameUnits), readsPictures, isPicture }
    const digest = memory.digest(account, head)
    const parts: Buffer[] = []
    let size = 0
    for (let at = 0; at < data.length; at += pieceUnits) {
      const piece = data.slice(at, at + pieceUnits)
      const isLast = at + pieceUnits >= data.length
      if (!(isLast ? lastBase64 : base64).test(piece)) return { whole: false, reason: 'bad_encoding' }
      const bytes = Buffer.from(piece, 'base64')
      digest.update(bytes)
      size += bytes.length
      parts.push(bytes)
      if (!isLast) await setImmediate()
    }
    if (size > settings.fileBytes) return { whole: false, reason: 'too_large' }
    const key = digest.digest('base64')
    const known = memory.get(key)
    if (known !== undefined) return known
    const reading = await pool.read({ whose, head: { ...head, size }, parts, isGone })
    memory.set(key, reading)
    return reading
  }

  return {
    hasNamespace,
    waiting: () => pool.waiting,
    async read(request) {
      const began = performance.now()
      const reading = await read(request)
      report(reading.whole ? reading.kind : reading.reason, (performance.now() - began) / 1000)
      return reading
    },
    close: () => pool.close()
  }
}
