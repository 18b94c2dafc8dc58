/** The thread's side of `aside.ts`: a connection of its own to the same file. */
import type { Group } from '../journal/queue.js'
import { createWrite } from '../sql/database.js'
import { createGroupStore } from '../sql/groups.js'
import type { AsideTask } from './aside.js'
import { connectSqlite, sqlite } from './open.js'

let opening: Promise<(group: Group) => Promise<void>> | undefined

async function open(path: string): Promise<(group: Group) => Promise<void>> {
  const { db } = await connectSqlite(path)
  return createGroupStore(createWrite(db, sqlite))
}

export default async function storeAside({ path, group }: AsideTask): Promise<void> {
  opening ??= open(path)
  const store = await opening
  if (group !== undefined) await store(JSON.parse(group) as Group)
}
