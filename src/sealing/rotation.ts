/**
 * Rotates the data key while processes serve. Each step waits until all processes have followed the last one: first
 * every process can open the new key's texts, then every process seals with it, then old texts are resealed. An
 * interrupted rotation continues where it stopped.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { DataKeyStore, ProcessStore, SealedPlace } from '../storage/contracts/index.js'
import { handOn, type Keyring, type KeyringFacts, newRow } from './keyring.js'
import { keyIdOf, sealedBy, sealedFor } from './seal.js'

/** Texts of one transaction: of a megabyte each at most, and others write between two of them. */
const batch = 20
const pauseMs = 20
/** Processes report every 10 s; one that is silent for this long is not waited for. */
const silentMs = 35_000
/** Longer than a crashed process counts as serving. */
const patienceMs = 60_000
const lookEveryMs = 500

export interface RotationDeps {
  store: DataKeyStore
  processes: ProcessStore
  /** Opened with a key of the store. */
  keyring: Keyring
  /** Wall time, ms. */
  now(): number
  /** Prints progress. */
  tell(sentence: string): void
}

/** @returns how many texts were sealed anew @throws an Error that says what to do */
export async function rotateDataKey(
  next: Buffer,
  deps: RotationDeps
): Promise<{ from: string; to: string; texts: number }> {
  const { store, keyring, now, tell } = deps
  const to = keyIdOf(next)
  const rows = await store.list()
  if (rows.some(({ keyId, state }) => keyId === to && state === 'leaving'))
    throw new Error(`The key ${to} is the one that leaves: it takes another.`)
  const other = rows.find(({ keyId }) => keyId !== to)
  const standing = rows.find(({ keyId }) => keyId === to)
  if (rows.length === 1 && standing !== undefined) throw new Error(`The key ${to} is the current one already.`)
  if (rows.length > 1 && standing === undefined) {
    const leaving = rows.find(({ state }) => state === 'leaving')
    throw new Error(
      leaving === undefined
        ? `A rotation to another key (${rows.find(({ state }) => state === 'coming')?.keyId}) is under way: go on with that one.`
        : `The key ${leaving.keyId} of the rotation before is still there: sluicegate data-key retire.`
    )
  }
  if (other === undefined) throw new Error('the store has no data key')
  const from = other.keyId
  if (standing === undefined) {
    const old = keyring.key(from)!
    const coming = { ...newRow(next, keyring.secrets, now()), state: 'coming' as const, sealedKey: handOn(next, old) }
    if (!(await store.begin(coming, { keyId: from, sealedKey: handOn(old, next) })))
      throw new Error('Another rotation has just begun.')
  }
  await keyring.refresh()
  if (standing?.state !== 'current') {
    tell(`Every process learns the key ${to} …`)
    await allProcesses(({ known }) => known.includes(to), deps)
    await store.promote(to)
    await keyring.refresh()
  }
  tell(`Every process seals with the key ${to} …`)
  await allProcesses(({ current }) => current === to, deps)
  tell(`What the key ${from} sealed is sealed anew …`)
  return { from, to, texts: await resealAll(from, deps) }
}

/**
 * Deletes the leaving key once no process would use it after a restart.
 * @param isReplaced whether processes would start with the new key by now
 */
export async function retireDataKey(deps: RotationDeps, isReplaced = false): Promise<string> {
  const { store } = deps
  const rows = await store.list()
  const leaving = rows.find(({ state }) => state === 'leaving')
  if (leaving === undefined) {
    const coming = rows.find(({ state }) => state === 'coming')
    throw new Error(
      coming === undefined
        ? 'No key is leaving: there is nothing to retire.'
        : `The rotation to the key ${coming.keyId} is not done.`
    )
  }
  const { keyId } = leaving
  if (!isReplaced) {
    const old = (await serving(deps)).filter(({ facts }) => facts?.startedWith === keyId)
    if (old.length > 0)
      throw new Error(
        `Started with the key ${keyId}, and not able to start again without it: ${old.map(nameOf).join(', ')}. Give them the new key, restart them one by one, and retire the key then.`
      )
  }
  await resealAll(keyId, deps)
  await store.retire(keyId)
  return keyId
}

/** Repeats until none is left, since texts may be added meanwhile. */
async function resealAll(from: string, { store, keyring }: RotationDeps): Promise<number> {
  const prefix = sealedBy(from)
  let texts = 0
  for (let round = 0; ; ) {
    let after: SealedPlace | undefined
    for (;;) {
      const step = await store.reseal(prefix, { after, limit: batch }, (sealed, { id, field }) => {
        const belongsTo = sealedFor(id, field)
        return keyring.seal.seal(keyring.seal.open(sealed, belongsTo), belongsTo)
      })
      if (step === undefined) break
      round += step.texts
      after = step.last
      await delay(pauseMs)
    }
    if (round === 0) return texts
    texts += round
    round = 0
  }
}

interface Serving {
  node: string
  pid: unknown
  /** Undefined of a version that knows no rotation. */
  facts: KeyringFacts | undefined
}

const nameOf = ({ node, pid }: Serving) => `${node} (pid ${pid})`

async function serving({ processes, now }: RotationDeps): Promise<Serving[]> {
  const rows = await processes.list(now() - silentMs)
  return rows.map(({ node, facts }) => ({
    node,
    pid: facts['pid'],
    facts: facts['dataKeys'] as KeyringFacts | undefined
  }))
}

async function allProcesses(follows: (facts: KeyringFacts) => boolean, deps: RotationDeps): Promise<void> {
  for (const deadline = deps.now() + patienceMs; ; ) {
    const late = (await serving(deps)).filter(({ facts }) => facts === undefined || !follows(facts))
    if (late.length === 0) return
    const deaf = late.filter(({ facts }) => facts === undefined)
    if (deaf.length > 0)
      throw new Error(
        `Of a version that knows no rotation: ${deaf.map(nameOf).join(', ')}. Upgrade them, and rotate then.`
      )
    if (deps.now() > deadline)
      throw new Error(
        `Have not followed: ${late.map(nameOf).join(', ')}. Both keys open the store; see to these processes, and give the command again.`
      )
    await delay(lookEveryMs)
  }
}
