/** From a URL to a storage. */
import type { Storage } from './contracts.js'
import { createMemoryStorage } from './memory/storage.js'
import { openPostgres } from './postgres/open.js'
import type { AuditOptions } from './sql/audit.js'
import { openSqlite } from './sqlite/open.js'

export interface OpenOptions {
  /** `sqlite:<path>`, `postgres://…`, or `memory:` for a storage that ends with the process. */
  url: string
  /** Names the chain of the audit that is written through this storage. */
  node?: string
  /** Where to say that audit rows could not be committed yet (a pino logger fits). */
  log?: { error(details: object, message: string): void } | undefined
}

/** @throws an Error in words that an operator can act on */
export async function openStorage({ url, node = 'local', log }: OpenOptions): Promise<Storage> {
  const auditing: AuditOptions = {
    node,
    onFailure: (error) => log?.error({ err: error }, 'audit and usage wait: the storage does not take them')
  }
  if (url === 'memory:') return createMemoryStorage(node)
  if (url.startsWith('sqlite:')) {
    // `sqlite:///var/x.db`, as other tools write it, means the same file as `sqlite:/var/x.db`.
    const path = url.slice('sqlite:'.length).replace(/^\/\//, '')
    if (path === '' || path === ':memory:') {
      throw new Error('storage.url: sqlite: needs the path of a file; memory: keeps nothing')
    }
    return openSqlite(path, auditing)
  }
  if (/^postgres(ql)?:/.test(url)) return openPostgres(url, auditing)
  // Only the scheme is named: a URL may hold a password.
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'no scheme'
  throw new Error(`storage.url: must begin with sqlite: or postgres:, or be memory: (found ${scheme})`)
}
