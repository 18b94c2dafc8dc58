/** `sluicegate backup` and `restore`, for the embedded store. A database server has its own tools. */
import { resolve } from 'node:path'
import type { Settings } from '../base/settings.js'
import { existingDataKey } from '../sealing/key-file.js'
import { keyIdOf } from '../sealing/seal.js'
import { backupStorage, restoreStorage } from '../storage/open.js'
import { checkFile } from '../storage/sqlite/backup.js'
import { commandSettings } from './store.js'
import { UsageError } from './terminal.js'

const day = 86_400_000

export async function backup(file: string): Promise<void> {
  const settings = embedded(
    'pg_dump --format=custom --exclude-table-data=samples --exclude-table-data=sample_totals --file=FILE "$SLUICEGATE_DATABASE_URL"'
  )
  const { tables, dataKeys } = await backupStorage(settings.storage.url, resolve(file))
  show(tables)
  const retention = Math.ceil(settings.review.retentionMs / day)
  process.stdout.write(
    `\n${file} is complete. Its texts are sealed with the data key ${dataKeys.join(' and ') || 'of this store'}, which is not in it: keep it elsewhere.\n` +
      `It holds no samples.\nIt holds what retention deletes from the store later: delete it within ${retention} ${retention === 1 ? 'day' : 'days'} (review.retention).\n`
  )
}

export async function restore(file: string, { replace = false }: { replace?: boolean }): Promise<void> {
  const settings = embedded('pg_restore --no-owner --dbname "$SLUICEGATE_DATABASE_URL" FILE')
  const from = resolve(file)
  const { dataKeys } = checkFile(from)
  const key = existingDataKey(settings)
  const id = keyIdOf(key.key)
  if (dataKeys.length > 0 && !dataKeys.includes(id)) {
    throw new Error(
      `${file} is sealed with the data key ${dataKeys.join(' or ')}, and ${key.path ?? 'SLUICEGATE_DATA_KEY'} holds ${id}: no text of it could be read. Give it that key first.`
    )
  }
  const { checked, aside } = await restoreStorage(settings.storage.url, from, replace)
  show(checked.tables)
  process.stdout.write(
    `\n${settings.storage.url.replace('sqlite:', '')} holds the backup.${aside === undefined ? '' : ` What was there is ${aside}.`}\n` +
      'Everyone is signed out, and invitations are void. Keys that were revoked after the backup work again: revoke them once more.\n' +
      'Texts that retention had deleted since are deleted again within two minutes of the start.\n'
  )
}

/** @param instead the command for PostgreSQL */
function embedded(instead: string): Settings {
  const settings = commandSettings()
  if (!settings.storage.url.startsWith('sqlite:')) throw new UsageError(`The storage is PostgreSQL: use ${instead}`)
  return settings
}

/** Tables with their rows. */
export function show(tables: readonly { table: string; rows: number }[]): void {
  const width = Math.max(...tables.map(({ table }) => table.length))
  for (const { table, rows } of tables) process.stdout.write(`${table.padEnd(width)}  ${rows}\n`)
}
