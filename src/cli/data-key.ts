/** `sluicegate data-key`: shows the keys that open the store, and rotates them beside running servers. */
import { resolve } from 'node:path'
import { systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { isoTime } from '../base/units.js'
import { type DataKey, existingDataKey, nextKeyFile, readKeyFile, replaceKeyFile } from '../sealing/key-file.js'
import { openKeyring } from '../sealing/keyring.js'
import { type RotationDeps, retireDataKey, rotateDataKey } from '../sealing/rotation.js'
import { sealedBy } from '../sealing/seal.js'
import type { Storage } from '../storage/contracts/index.js'
import { commandSettings, openCommandStorage } from './store.js'
import { print, UsageError } from './terminal.js'

export async function list(options: { json?: true }): Promise<void> {
  await withStore(async ({ storage }) => {
    const keys = []
    for (const { keyId, state, createdAt } of await storage.dataKeys.list()) {
      const texts = await storage.dataKeys.count(sealedBy(keyId))
      keys.push({ key_id: keyId, state, created_at: isoTime(createdAt), texts })
    }
    const lines = keys.map(
      ({ key_id: id, state, created_at: at, texts }) => `${id}  ${state.padEnd(7)}  since ${at}  ${texts} texts`
    )
    await print(options.json ? `${JSON.stringify({ keys }, null, 2)}\n` : `${lines.join('\n')}\n`)
  })
}

export async function rotate({ to }: { to?: string }): Promise<void> {
  await withStore(async ({ storage, settings, dataKey, deps }) => {
    const { path } = dataKey
    if (path === undefined && to === undefined) {
      throw new UsageError(
        'SLUICEGATE_DATA_KEY gives the key: --to FILE names a file with the next one (openssl rand -base64 32 > FILE)'
      )
    }
    if (path !== undefined && to !== undefined) {
      throw new UsageError(
        `The key is in ${path}, and so will the next one be: --to is for a key that SLUICEGATE_DATA_KEY gives`
      )
    }
    const next =
      path === undefined ? { key: readKeyFile(resolve(to!)), path: undefined } : nextKeyFile(settings.dataDir)
    const done = await rotateDataKey(next.key, deps)
    const audit = (kind: string, data: Record<string, unknown>) =>
      storage.audit.append({ at: systemClock.now(), kind, account: null, keyId: null, subject: done.to, data })
    audit('data_key.rotated', { from: done.from, texts: done.texts })
    await print(`Done: the key ${done.to} seals, and ${done.texts} texts of the key ${done.from} are sealed anew.\n`)
    if (path === undefined || next.path === undefined) {
      await print(
        'Both keys open the store. Give every node the next one as SLUICEGATE_DATA_KEY, restart them one by one, and then: sluicegate data-key retire.\n'
      )
      return
    }
    const kept = replaceKeyFile(path, next.path)
    await retireDataKey(deps, true)
    audit('data_key.retired', { key: done.from })
    await print(`${path} holds the next key. ${kept} opens only older backups: delete it with the last of them.\n`)
  })
}

export async function retire(): Promise<void> {
  await withStore(async ({ storage, dataKey, deps }) => {
    const keyId = await retireDataKey(deps, dataKey.path !== undefined)
    const { startedWith } = deps.keyring.facts()
    storage.audit.append({
      at: systemClock.now(),
      kind: 'data_key.retired',
      account: null,
      keyId: null,
      subject: startedWith,
      data: { key: keyId }
    })
    await print(`The key ${keyId} opens nothing any more but backups of before.\n`)
  })
}

interface Store {
  storage: Storage
  settings: Settings
  dataKey: DataKey
  deps: RotationDeps
}

async function withStore(use: (store: Store) => Promise<void>): Promise<void> {
  const settings = commandSettings()
  const dataKey = existingDataKey(settings)
  const storage = await openCommandStorage(settings)
  try {
    const keyring = await openKeyring({
      store: storage.dataKeys,
      key: dataKey.key,
      source: dataKey.path ?? 'SLUICEGATE_DATA_KEY',
      now: systemClock.now()
    })
    try {
      const tell = (sentence: string) => void process.stderr.write(`${sentence}\n`)
      const deps = {
        store: storage.dataKeys,
        processes: storage.processes,
        keyring,
        now: () => systemClock.now(),
        tell
      }
      await use({ storage, settings, dataKey, deps })
    } finally {
      keyring.close()
    }
  } finally {
    await storage.close()
  }
}
