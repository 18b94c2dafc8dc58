/** `sluicegate keys`: the key service on the store itself, with the rights of whoever may open its file. */
import { systemClock } from '../clock.js'
import type { Actor, KeyRecord } from '../identity/caller.js'
import { KeyService } from '../identity/key-service.js'
import type { Environment } from '../storage/contracts.js'
import { parseDuration } from '../units.js'
import { commandSettings, openCommandStorage, tellRunning } from './store.js'
import { UsageError } from './terminal.js'

interface CommonOptions {
  account: string
  json?: true
}

interface CreateOptions extends CommonOptions {
  name: string
  scopes?: string[]
  env: Environment
  ip?: string[]
  expires?: string
  limit?: string
}

export async function create(options: CreateOptions): Promise<void> {
  const made = await withService(options, (service, actor) =>
    service.create(actor, {
      name: options.name,
      environment: options.env,
      scopes: options.scopes,
      ip_allowlist: options.ip,
      expires_at: options.expires === undefined ? undefined : readExpiry(options.expires),
      rate_limit_per_minute: options.limit === undefined ? undefined : readLimit(options.limit)
    })
  )
  show(options, made, () => [`The key, shown this once: ${made.key}`, '', ...table([made.record])])
}

export async function list(options: CommonOptions): Promise<void> {
  const found = await withService(options, (service, actor) => service.list(actor))
  show(options, found, () =>
    found.keys.length === 0 ? [`No keys in the account ${options.account}.`] : table(found.keys)
  )
}

export async function revoke(keyId: string, options: CommonOptions): Promise<void> {
  const record = await withService(options, (service, actor) => service.revoke(actor, keyId))
  show(options, record, () => table([record]))
}

export async function rotate(keyId: string, options: CommonOptions): Promise<void> {
  const rotated = await withService(options, (service, actor) => service.rotate(actor, keyId))
  show(options, rotated, () => [
    `The new key, shown this once: ${rotated.key}`,
    `The old one works until ${rotated.previous.revoked_at}.`,
    '',
    ...table([rotated.record, rotated.previous])
  ])
}

async function withService<T>(
  { account }: CommonOptions,
  use: (service: KeyService, actor: Actor) => Promise<T>
): Promise<T> {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(account)) {
    throw new UsageError('--account takes a name of letters, digits, "_", "." and "-"')
  }
  const settings = commandSettings()
  const storage = await openCommandStorage(settings)
  try {
    const service = new KeyService({
      keys: storage.keys,
      clock: systemClock,
      audit: storage.audit,
      // Without Redis a running server holds keys in its memory for at most 5 s, and then asks the store.
      invalidate: (prefix) => tellRunning(settings, { kind: 'key', prefix })
    })
    return await use(service, { accountId: account, scopes: ['*'] })
  } finally {
    await storage.close()
  }
}

function readExpiry(text: string): string {
  const fromNow = parseDuration(text)
  return fromNow === undefined ? text : new Date(systemClock.now() + fromNow).toISOString()
}

function readLimit(text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError('--limit takes a whole number')
  return Number(text)
}

function show(options: CommonOptions, value: object, lines: () => string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(value, null, 2)}\n` : `${lines().join('\n')}\n`)
}

function table(records: readonly KeyRecord[]): string[] {
  const head = ['KEY_ID', 'PREFIX', 'STATUS', 'NAME', 'SCOPES', 'ADDRESSES', 'LAST USED', 'ENDS']
  const rows = records.map((record) => [
    record.key_id,
    record.prefix,
    record.status,
    record.name,
    record.scopes.join(','),
    record.ip_allowlist.join(',') || 'all',
    record.last_used_at ?? 'never',
    record.revoked_at ?? record.expires_at ?? 'never'
  ])
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  )
}
