/** `sluicegate migrate`: migrates the tables, and moves an embedded store to a shared server. */
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { loadSettings } from '../config/load.js'
import { copyStorage, isStorageInUse, migrateStorage } from '../storage/open.js'
import { show } from './backup.js'
import { UsageError } from './terminal.js'

const lookEveryMs = 500

export async function migrate({ from, to }: { from?: string; to?: string }): Promise<void> {
  if (from === undefined && to !== undefined) throw new UsageError('--to needs --from: what is to be moved there')
  const target = to ?? loadSettings({ env: process.env, cwd: process.cwd() }).storage.url
  if (target === 'memory:') throw new UsageError('storage.url is memory: it has no tables')
  if (from === undefined) {
    const done = await migrateStorage(target)
    process.stdout.write(done.length === 0 ? 'The tables are in their newest form.\n' : `Done: ${done.join(', ')}\n`)
    return
  }
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(from)?.[1]
  if (path === undefined) throw new UsageError('--from takes sqlite:<path>')
  const source = `sqlite:${resolve(path)}`
  await untilFree(source)
  show(await copyStorage(source, target))
  process.stdout.write(
    'Everything was moved. SLUICEGATE_DATA_KEY must be the key that sealed the texts: the one of master.key, or of the variable.\n'
  )
}

/** Rows that a server stores after the move would be lost. */
async function untilFree(source: string): Promise<void> {
  if (!isStorageInUse(source)) return
  process.stderr.write(
    `A process has ${source} open. What it stores after the move would be lost: stop it. The move begins when it has ended …\n`
  )
  while (isStorageInUse(source)) await delay(lookEveryMs)
}
