/**
 * Encrypts texts that only authorised people may read: AES-256-GCM with a random nonce. Layout: version (1 byte), key
 * id (4 bytes), nonce (12), ciphertext, tag (16). The owning object and field are authenticated with it, so that no
 * sealed text can be moved to another review or field.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'

const version = 1
const keyIdLength = 4
const nonceLength = 12
const tagLength = 16
const headerLength = 1 + keyIdLength + nonceLength
export const dataKeyLength = 32

export interface Seal {
  /** @param belongsTo see `sealedFor`; the same is needed to open */
  seal(bytes: Uint8Array, belongsTo: string): Buffer
  /** @throws an Error where the bytes were changed, moved, or sealed with a key that is not held */
  open(sealed: Uint8Array, belongsTo: string): Buffer
}

/** The binding of a stored text: one field of one object. */
export function sealedFor(id: string, field: string): string {
  return `${id}:${field}`
}

/** The id of a key, which distinguishes a wrong key from a damaged text: 8 hexadecimal digits of a hash. */
export function keyIdOf(key: Buffer): string {
  return hash('sha256', key, 'buffer').subarray(0, keyIdLength).toString('hex')
}

/** The first bytes of everything that a key has sealed. */
export function sealedBy(keyId: string): Buffer {
  return Buffer.concat([Buffer.of(version), Buffer.from(keyId, 'hex')])
}

/** The id of the key that sealed it. @throws an Error where it is no sealed text */
export function sealerOf(sealed: Uint8Array): string {
  if (sealed.length < headerLength + tagLength || sealed[0] !== version) throw new Error('not a sealed text')
  return Buffer.from(sealed.subarray(1, 1 + keyIdLength)).toString('hex')
}

/**
 * Seals with one key, and opens texts of several: keys are looked up each time, since a rotation changes them.
 * @param current 32 bytes
 * @param find the key of an id; undefined where it is not held
 */
export function sealOf(current: () => Buffer, find: (keyId: string) => Buffer | undefined): Seal {
  return {
    seal(bytes, belongsTo) {
      const key = current()
      const nonce = randomBytes(nonceLength)
      const header = Buffer.concat([sealedBy(keyIdOf(key)), nonce])
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
      cipher.setAAD(Buffer.concat([header, Buffer.from(belongsTo)]))
      return Buffer.concat([header, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, belongsTo) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const key = find(sealerOf(bytes))
      if (key === undefined) throw new Error('sealed with another data key')
      const header = bytes.subarray(0, headerLength)
      const nonce = header.subarray(1 + keyIdLength)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
      decipher.setAAD(Buffer.concat([header, Buffer.from(belongsTo)]))
      decipher.setAuthTag(bytes.subarray(-tagLength))
      return Buffer.concat([decipher.update(bytes.subarray(headerLength, -tagLength)), decipher.final()])
    }
  }
}

/** @param key 32 bytes */
export function createSeal(key: Buffer): Seal {
  if (key.length !== dataKeyLength) throw new Error(`the data key must have ${dataKeyLength} bytes, not ${key.length}`)
  const id = keyIdOf(key)
  return sealOf(
    () => key,
    (keyId) => (keyId === id ? key : undefined)
  )
}
