/** `sluicegate keys`: the key service directly on the store, with the rights of a person who may open it. */
import { systemClock } from '../base/clock.js'
import { Fault } from '../base/errors.js'
import { parseDuration } from '../base/units.js'
import type { Actor, KeyRecord } from '../identity/caller.js'
import { isWholeTime } from '../identity/key-input.js'
import { KeyService } from '../identity/key-service.js'
import type { Environment } from '../storage/contracts/index.js'
import { commandSettings, openCommandStorage, tellRunning } from './store.js'
import { print, UsageError } from './terminal.js'

/** Keys that are read, and printed, at once. */
const page = 1000

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
  concurrent?: string
  selfRotation: boolean
  acceptTerms?: true
}

export async function create(options: CreateOptions): Promise<void> {
  const make = (service: KeyService, actor: Actor) =>
    service
      .create(actor, {
        name: options.name,
        environment: options.env,
        scopes: options.scopes,
        ip_allowlist: options.ip,
        expires_at: options.expires === undefined ? undefined : readExpiry(options.expires),
        rate_limit_per_minute: readNumber('--limit', options.limit),
        max_concurrent: readNumber('--concurrent', options.concurrent),
        self_rotation: options.selfRotation,
        accept_terms: options.acceptTerms
      })
      .catch(inOptions)
  const made = await withService(options, make, true)
  show(options, made, () => [`The key, shown this once: ${made.key}`, '', ...table([made.record])])
}

export async function list(options: CommonOptions & { lineage?: string }): Promise<void> {
  await withService(options, async (service, actor) => {
    let widths: number[] | undefined
    let isFirst = true
    for (let cursor: string | undefined; ; isFirst = false) {
      const { keys, next_cursor: next } = await service.list(actor, { limit: page, cursor, lineage: options.lineage })
      if (options.json) {
        const records = keys.map((record) => JSON.stringify(record, null, 2).replaceAll('\n', '\n    '))
        await print(
          `${isFirst ? '{\n  "keys": [' : ''}${records.map((text, i) => `${isFirst && i === 0 ? '' : ','}\n    ${text}`).join('')}`
        )
      } else if (isFirst && keys.length === 0) {
        await print(`No keys in the account ${options.account}.\n`)
      } else {
        // Columns as wide as in the first page: later rows are not known yet.
        const rows = keys.map(rowOf)
        widths ??= widthsOf([head, ...rows])
        await print(`${linesOf(isFirst ? [head, ...rows] : rows, widths).join('\n')}\n`)
      }
      if (next === undefined) break
      cursor = next
    }
    if (options.json) await print('\n  ]\n}\n')
  })
}

export async function revoke(keyId: string, options: CommonOptions & { lineage?: true }): Promise<void> {
  if (options.lineage) {
    const found = await withService(options, (service, actor) => service.revokeLineage(actor, keyId))
    return show(options, found, () => table(found.keys))
  }
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
  use: (service: KeyService, actor: Actor) => Promise<T>,
  mayCreate = false
): Promise<T> {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(account)) {
    throw new UsageError('--account takes a name of letters, digits, "_", "." and "-"')
  }
  const settings = commandSettings()
  const storage = await openCommandStorage(settings, mayCreate)
  try {
    const service = new KeyService({
      keys: storage.keys,
      clock: systemClock,
      audit: storage.audit,
      termsUrl: () => settings.server.termsUrl,
      // Without Redis a running server holds keys in its memory for at most 5 s, and then asks the store.
      invalidate: (prefix) => tellRunning(settings, { kind: 'key', prefix })
    })
    return await use(service, { accountId: account, scopes: ['*'] })
  } finally {
    await storage.close()
  }
}

/** The options that stand for fields of the API, by field. */
const optionOf: Readonly<Record<string, string>> = {
  name: '--name',
  scopes: '--scopes',
  ip_allowlist: '--ip',
  expires_at: '--expires',
  rate_limit_per_minute: '--limit',
  max_concurrent: '--concurrent',
  accept_terms: '--accept-terms'
}

/** A mistake in a field of the API, told of the option that it came from. */
function inOptions(error: unknown): never {
  const { field } = ((error instanceof Fault && error.fields['details']) || {}) as { field?: string }
  const option = field === undefined ? undefined : optionOf[field.split('.', 1)[0]!]
  if (option === undefined || !(error instanceof Fault)) throw error
  throw new UsageError(error.message.replace(/^[a-z_]+(?:\.\d+)?/, option))
}

function readExpiry(text: string): string {
  const fromNow = parseDuration(text)
  if (fromNow !== undefined) return new Date(systemClock.now() + fromNow).toISOString()
  if (isWholeTime(text)) return text
  throw new UsageError('--expires takes a time such as 2030-01-31T12:00:00Z, or a duration from now such as 30d')
}

function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text)) throw new UsageError(`${option} takes a whole number`)
  return Number(text)
}

function show(options: CommonOptions, value: object, lines: () => string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(value, null, 2)}\n` : `${lines().join('\n')}\n`)
}

const head = ['KEY_ID', 'PREFIX', 'STATUS', 'NAME', 'SCOPES', 'ADDRESSES', 'LAST USED', 'ENDS']

function rowOf(record: KeyRecord): string[] {
  return [
    record.key_id,
    record.prefix,
    record.status,
    record.name,
    record.scopes.join(','),
    record.ip_allowlist.join(',') || 'all',
    record.last_used_at ?? 'never',
    record.revoked_at ?? record.expires_at ?? 'never'
  ]
}

function table(records: readonly KeyRecord[]): string[] {
  const rows = [head, ...records.map(rowOf)]
  return linesOf(rows, widthsOf(rows))
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  return head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
}

function linesOf(rows: readonly (readonly string[])[], widths: readonly number[]): string[] {
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  )
}
