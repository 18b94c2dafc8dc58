/**
 * Encrypts what a reviewer must read and nobody else may: AES-256-GCM with a random nonce. Layout: version (1 byte),
 * key id (4 bytes), nonce (12), ciphertext, tag (16). What the text belongs to is authenticated with it, so that no
 * sealed text can be moved to another review or another field.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../base/folder.js'

const version = 1
const keyIdLength = 4
const nonceLength = 12
const tagLength = 16
const headerLength = 1 + keyIdLength + nonceLength
const dataKeyLength = 32

export interface Seal {
  /** @param belongsTo for example `rev_…:note`; the same is needed to open */
  seal(bytes: Uint8Array, belongsTo: string): Buffer
  /** @throws an Error where the bytes were changed, moved, or sealed with another key */
  open(sealed: Uint8Array, belongsTo: string): Buffer
}

/** @param key 32 bytes */
export function createSeal(key: Buffer): Seal {
  if (key.length !== dataKeyLength) throw new Error(`the data key must have ${dataKeyLength} bytes, not ${key.length}`)
  // Tells a wrong key from a damaged text; four bytes of a hash say nothing of the key.
  const keyId = hash('sha256', key, 'buffer').subarray(0, keyIdLength)

  return {
    seal(bytes, belongsTo) {
      const nonce = randomBytes(nonceLength)
      const header = Buffer.concat([Buffer.of(version), keyId, nonce])
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
      cipher.setAAD(Buffer.concat([header, Buffer.from(belongsTo)]))
      return Buffer.concat([header, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, belongsTo) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      if (bytes.length < headerLength + tagLength || bytes[0] !== version) throw new Error('not a sealed text')
      const header = bytes.subarray(0, headerLength)
      if (!header.subarray(1, 1 + keyIdLength).equals(keyId)) throw new Error('sealed with another data key')
      const nonce = header.subarray(1 + keyIdLength)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
      decipher.setAAD(Buffer.concat([header, Buffer.from(belongsTo)]))
      decipher.setAuthTag(bytes.subarray(-tagLength))
      return Buffer.concat([decipher.update(bytes.subarray(headerLength, -tagLength)), decipher.final()])
    }
  }
}

export interface DataKey {
  key: Buffer
  /** True where the key was made just now: the operator is told to keep a copy. */
  generated: boolean
}

/**
 * The key that was given, else the one in `<dataDir>/master.key` (base64, mode 0600), made where it is absent.
 * @throws an Error that names the file where it holds no key, or the folder where it cannot be used
 */
export function loadDataKey({ dataKey, dataDir }: { dataKey?: Buffer | undefined; dataDir: string }): DataKey {
  if (dataKey) return { key: dataKey, generated: false }
  const path = join(dataDir, 'master.key')
  const generated = keyFileIn(dataDir, path)
  const text = readFileSync(path, 'latin1').trim()
  const key = Buffer.from(text, 'base64')
  if (key.length !== dataKeyLength || key.toString('base64') !== text) {
    throw new Error(`${path} must hold ${dataKeyLength} bytes in base64`)
  }
  return { key, generated }
}

function keyFileIn(dataDir: string, path: string): boolean {
  try {
    return createKeyFile(dataDir, path)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error
    throw new Error(`The data folder ${dataDir} cannot be used (${reason}): SLUICEGATE_DATA_DIR names it.`, {
      cause: error
    })
  }
}

/** Whole or not at all, and never over an existing file: a lost key loses every sealed text. False where it exists. */
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
