/** `sluicegate users`: manages people who may sign in, with the rights of a person who may open the store. */

import { invitationPath } from '../api/users.js'
import { systemClock } from '../base/clock.js'
import { type UserRole, userRoles } from '../base/settings.js'
import { reachableHost } from '../base/units.js'
import type { Actor } from '../identity/caller.js'
import { UserService } from '../users/user-service.js'
import { commandSettings, openCommandStorage } from './store.js'
import { UsageError } from './terminal.js'

interface Options {
  account: string
  json?: true
}

export async function invite({
  role,
  samples = false,
  ...options
}: Options & { role: string; samples?: boolean }): Promise<void> {
  if (!(userRoles as readonly string[]).includes(role)) throw new UsageError(`--role takes ${userRoles.join(', ')}`)
  const { invitation, address } = await withUsers(options, async (users, actor, address) => ({
    invitation: await users.invite(actor, role as UserRole, samples),
    address
  }))
  const link = `${address}${invitationPath(invitation.token)}`
  write(options, { ...invitation, link }, [
    `The link for a new ${role}${samples ? ' who reads samples' : ''}, which works once, until ${invitation.expires_at}:`,
    link
  ])
}

export async function list(options: Options): Promise<void> {
  const found = await withUsers(options, (users, actor) => users.list(actor))
  const lines = found.users.map(
    ({ user_id, login, role, reads_samples, status, signed_in_at }) =>
      `${user_id}  ${login}  ${role}${reads_samples ? ' and samples' : ''}  ${status}  last signed in ${signed_in_at ?? 'never'}`
  )
  write(options, found, lines.length === 0 ? [`Nobody in the account ${options.account}.`] : lines)
}

export async function disable(userId: string, options: Options): Promise<void> {
  const record = await withUsers(options, (users, actor) => users.change(actor, userId, { disabled: true }))
  write(options, record, [`${record.login} is disabled, and signed out everywhere.`])
}

async function withUsers<T>(
  { account }: Options,
  use: (users: UserService, actor: Actor, address: string) => Promise<T>
): Promise<T> {
  const settings = commandSettings()
  const { host, port, tls } = settings.server
  const address =
    settings.signIn.publicUrl ?? `${tls === undefined ? 'http' : 'https'}://${reachableHost(host)}:${port}`
  const storage = await openCommandStorage(settings)
  try {
    const users = new UserService({ users: storage.users, audit: storage.audit, clock: systemClock })
    return await use(users, { accountId: account, scopes: ['*'] }, address)
  } finally {
    await storage.close()
  }
}

function write(options: Options, value: object, lines: string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(value, null, 2)}\n` : `${lines.join('\n')}\n`)
}
