/**
 * The data keys of a process: the one that it was started with, and those that it gets from the store during a
 * rotation. Every few seconds it asks the store which key seals now.
 */
import { hkdfSync, timingSafeEqual } from 'node:crypto'
import { isoTime } from '../base/units.js'
import type { DataKeyRow, DataKeyStore } from '../storage/contracts/data-keys.js'
import { createSeal, keyIdOf, type Seal, sealedFor, sealerOf, sealOf } from './seal.js'

/** How soon a process follows a rotation. */
const refreshEveryMs = 2_000

/** Keys for other purposes than texts. They derive from a store's first data key, and survive rotations. */
export interface Secrets {
  /** Key of the fingerprints of exceptions; under another key all accepted ones would be lost. */
  fingerprints: Buffer
  /** Key of device cookies, which mark a browser with an earlier sign-in. */
  deviceCookies: Buffer
  /** Key of the digests of clarification questions. */
  questions: Buffer
}

/** A process's report on its keys, for the rotation. */
export interface KeyringFacts {
  /** The id of the key that it was started with, and would use again after a restart. */
  startedWith: string
  /** Id of the key that it seals with. */
  current: string
  /** Ids of the keys that it opens with. */
  known: readonly string[]
}

export interface Keyring {
  /** Seals with the current key, and opens with any that is known. */
  seal: Seal
  secrets: Secrets
  facts(): KeyringFacts
  /** A key by its id; undefined where it is not known. */
  key(keyId: string): Buffer | undefined
  /** Asks the store now. @returns whether anything changed */
  refresh(): Promise<boolean>
  close(): void
}

export interface KeyringOptions {
  store: DataKeyStore
  /** 32 bytes. */
  key: Buffer
  /** Its source, for error messages. */
  source: string
  /** Wall time, ms. */
  now: number
  /** Called when a refresh changed anything. */
  changed?(): void
  /** Told the error of each refresh, or undefined where it succeeded: the store may not answer, or have another key. */
  rounds?(error: unknown): void
}

/** The data key does not fit the store: sealed texts could not be read, and new ones only by this process. */
export class WrongDataKey extends Error {
  override name = 'WrongDataKey'
}

/** @throws WrongDataKey; Fault `storage_unavailable` */
export async function openKeyring({ store, key, source, now, changed, rounds }: KeyringOptions): Promise<Keyring> {
  const own = keyIdOf(key)
  let rows = await store.list()
  if (rows.length === 0) {
    // A store of an earlier version has no such row, but may have texts.
    const text = await store.anySealed()
    if (text !== undefined && sealerOf(text) !== own)
      throw refusal(own, source, `the store is sealed with the key ${sealerOf(text)}`)
    await store.first(newRow(key, firstSecrets(key), now))
    rows = await store.list()
  }
  const row = rows.find(({ keyId }) => keyId === own)
  if (row === undefined) {
    const { keyId, createdAt } = rows.find(({ state }) => state === 'current') ?? rows[0]!
    throw refusal(own, source, `the store is sealed with the key ${keyId} since ${isoTime(createdAt)}`)
  }
  const secrets = openSecrets(row, key, source)
  const known = new Map([[own, key]])
  let current = own
  /** @returns whether anything changed */
  function take(rows: readonly DataKeyRow[]): boolean {
    const before = `${current} ${known.size}`
    for (const row of rows) {
      const opened = known.has(row.keyId) ? undefined : handedOn(row, known)
      if (opened !== undefined) known.set(row.keyId, opened)
    }
    const next = rows.find(({ state }) => state === 'current')
    if (next !== undefined && !known.has(next.keyId))
      throw refusal(current, source, `the store is sealed with the key ${next.keyId} now`)
    current = next?.keyId ?? current
    return `${current} ${known.size}` !== before
  }
  take(rows)

  async function refresh(): Promise<boolean> {
    const isNew = take(await store.list())
    if (isNew) changed?.()
    return isNew
  }
  const timer = setInterval(() => void refresh().then(() => rounds?.(undefined), rounds), refreshEveryMs)
  timer.unref()
  return {
    seal: sealOf(
      () => known.get(current)!,
      (keyId) => known.get(keyId)
    ),
    secrets,
    facts: () => ({ startedWith: own, current, known: [...known.keys()] }),
    key: (keyId) => known.get(keyId),
    refresh,
    close: () => clearInterval(timer)
  }
}

/** The store's row of a key. */
export function newRow(key: Buffer, { fingerprints, deviceCookies, questions }: Secrets, now: number): DataKeyRow {
  const text = JSON.stringify({
    fingerprints: fingerprints.toString('base64'),
    deviceCookies: deviceCookies.toString('base64'),
    questions: questions.toString('base64')
  })
  const keyId = keyIdOf(key)
  const sealedSecrets = createSeal(key).seal(Buffer.from(text), sealedFor(keyId, 'secrets'))
  return { keyId, state: 'current', sealedSecrets, sealedKey: null, createdAt: now }
}

/** A key, sealed with the other one of a rotation. */
export function handOn(key: Buffer, other: Buffer): Buffer {
  return createSeal(other).seal(key, sealedFor(keyIdOf(key), 'key'))
}

function handedOn({ keyId, sealedKey }: DataKeyRow, known: ReadonlyMap<string, Buffer>): Buffer | undefined {
  const other = sealedKey === null ? undefined : known.get(sealerOf(sealedKey))
  if (sealedKey === null || other === undefined) return undefined
  const key = createSeal(other).open(sealedKey, sealedFor(keyId, 'key'))
  if (!timingSafeEqual(Buffer.from(keyIdOf(key)), Buffer.from(keyId)))
    throw new Error(`the store's data key ${keyId} is another`)
  return key
}

function openSecrets({ keyId, sealedSecrets }: DataKeyRow, key: Buffer, source: string): Secrets {
  try {
    const { fingerprints, deviceCookies, questions } = JSON.parse(
      createSeal(key).open(sealedSecrets, sealedFor(keyId, 'secrets')).toString()
    )
    return {
      fingerprints: Buffer.from(fingerprints, 'base64'),
      deviceCookies: Buffer.from(deviceCookies, 'base64'),
      questions: Buffer.from(questions, 'base64')
    }
  } catch (error) {
    throw new WrongDataKey(
      `The key ${keyId} in ${source} does not open what the store keeps for it: the row is damaged.`,
      {
        cause: error
      }
    )
  }
}

/** One key for each purpose, none of which reveals the data key. */
function firstSecrets(key: Buffer): Secrets {
  const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', key, '', `sluicegate ${purpose}`, 32))
  return {
    fingerprints: derived('fingerprints of texts'),
    deviceCookies: derived('device cookies'),
    questions: derived('questions to people')
  }
}

function refusal(own: string, source: string, found: string): WrongDataKey {
  return new WrongDataKey(
    `The data key does not open the store: ${source} holds the key ${own}, and ${found}. Give the gateway the key that sealed this store, or restore the store that belongs to this key (docs/operations.md).`
  )
}
