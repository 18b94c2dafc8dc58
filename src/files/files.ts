/** The file service: decodes files, looks them up in the memory, and passes them to a child process. */
import type { FileSettings } from '../base/settings.js'
import type { FileReport, Files } from './file.js'
import { canUnshare, startOf } from './isolation.js'
import { Memory } from './memory.js'
import { findPackages } from './packages.js'
import { Pool } from './pool.js'
import { remembering } from './remembering.js'

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
