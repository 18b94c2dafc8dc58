/** The data key in a file of the data folder, generated at the first start, where no variable gives one. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../base/folder.js'
import { dataKeyLength, keyIdOf } from './seal.js'

export interface DataKey {
  key: Buffer
  /** The file that holds it; undefined where it was given by a variable. */
  path: string | undefined
  /** True for a newly generated key: the operator is told to keep a copy. */
  generated: boolean
}

export interface DataKeySource {
  dataKey?: Buffer | undefined
  dataDir: string
}

/**
 * The key that was given, else the one in `<dataDir>/master.key` (base64, mode 0600), made where it is absent.
 * @throws an Error that names the file where it holds no key, or the folder where it cannot be used
 */
export function loadDataKey({ dataKey, dataDir }: DataKeySource): DataKey {
  if (dataKey) return { key: dataKey, path: undefined, generated: false }
  const path = join(dataDir, 'master.key')
  const generated = keyFileIn(dataDir, path)
  return { key: readKeyFile(path), path, generated }
}

/** The same, of a store that exists. @throws an Error where there is no such file, too */
export function existingDataKey(source: DataKeySource): DataKey {
  if (!source.dataKey && !existsSync(join(source.dataDir, 'master.key'))) {
    throw missingDataKey(source)
  }
  return loadDataKey(source)
}

export function missingDataKey({ dataDir }: DataKeySource): Error {
  return new Error(
    `There is no data key: SLUICEGATE_DATA_KEY is not set, and there is no ${join(dataDir, 'master.key')}. Set SLUICEGATE_DATA_KEY to the key that sealed this store (32 bytes in base64), or put its master.key back there.`
  )
}

/** Deletes a generated key that the store refused: the store has another, which the file would hide. */
export function discardDataKey({ path, generated }: DataKey): void {
  if (generated && path !== undefined) unlinkSync(path)
}

/** @throws an Error that names the file */
export function readKeyFile(path: string): Buffer {
  let text: string
  try {
    text = readFileSync(path, 'latin1').trim()
  } catch (error) {
    throw new Error(`${path} cannot be read (${codeOf(error)})`, { cause: error })
  }
  const key = Buffer.from(text, 'base64')
  if (key.length !== dataKeyLength || key.toString('base64') !== text) {
    throw new Error(`${path} must hold ${dataKeyLength} bytes in base64`)
  }
  return key
}

/** The file of the next key during a rotation, generated if absent: an interrupted rotation continues with it. */
export function nextKeyFile(dataDir: string): { key: Buffer; path: string } {
  const path = join(dataDir, 'master.key.next')
  keyFileIn(dataDir, path)
  return { key: readKeyFile(path), path }
}

/**
 * Replaces the key by the next one. The old key stays beside it under its id, since older backups need it.
 * @returns the new place of the old key
 */
export function replaceKeyFile(path: string, next: string): string {
  const kept = `${path}.${keyIdOf(readKeyFile(path))}`
  // A link and a rename, so that a key exists at every moment and no start generates another.
  if (!existsSync(kept)) linkSync(path, kept)
  renameSync(next, path)
  return kept
}

function keyFileIn(dataDir: string, path: string): boolean {
  try {
    return createKeyFile(dataDir, path)
  } catch (error) {
    throw new Error(`The data folder ${dataDir} cannot be used (${codeOf(error)}): SLUICEGATE_DATA_DIR names it.`, {
      cause: error
    })
  }
}

/** Atomic, and never over an existing file: a lost key loses every sealed text. False where it exists. */
function createKeyFile(dataDir: string, path: string): boolean {
  try {
    closeSync(openSync(path, 'r'))
    return false
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error
  }
  makeFolder(dataDir)
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(file, `${randomBytes(dataKeyLength).toString('base64')}\n`)
    fsyncSync(file)
    // A link, not a rename: it fails where another process that started at the same time was first.
    linkSync(temporary, path)
    const folder = openSync(dataDir, 'r')
    fsyncSync(folder)
    closeSync(folder)
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  } finally {
    closeSync(file)
    unlinkSync(temporary)
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
