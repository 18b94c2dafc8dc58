/** `sluicegate migrate`: the tables in their newest form, and the move from one machine's file to a shared server. */
import { resolve } from 'node:path'
import { loadSettings } from '../config/load.js'
import { copyStorage, migrateStorage } from '../storage/open.js'
import { UsageError } from './terminal.js'

export async function migrate({ from, to }: { from?: string; to?: string }): Promise<void> {
  if (from === undefined && to !== undefined) throw new UsageError('--to needs --from: what is to be moved there')
  const target = to ?? loadSettings({ env: process.env, cwd: process.cwd() }).storage.url
  if (target === 'memory:') throw new UsageError('storage.url is memory: it has no tables')
  if (from === undefined) {
    const done = await migrateStorage(target)
    process.stdout.write(done.length === 0 ? 'The tables are in their newest form.\n' : `Done: ${done.join(', ')}\n`)
    return
  }
  const source = /^sqlite:(?:\/\/)?(.+)$/.exec(from)?.[1]
  if (source === undefined) throw new UsageError('--from takes sqlite:<path>')
  const copied = await copyStorage(`sqlite:${resolve(source)}`, target)
  const width = Math.max(...copied.map(({ table }) => table.length))
  for (const { table, rows } of copied) process.stdout.write(`${table.padEnd(width)}  ${rows}\n`)
  process.stdout.write(
    'Everything was moved. SLUICEGATE_DATA_KEY must be what sealed the texts: master.key, or the variable.\n'
  )
}
