/** Constitutions in SQL, for every dialect that Kysely speaks. */
import { sql } from 'kysely'
import {
  type ConstitutionActivation,
  type ConstitutionStore,
  type ConstitutionVersion,
  type NewConstitution,
  nextVersion
} from '../contracts/constitution-store.js'
import { storageCall } from '../contracts/failure.js'
import { fromRow, toActivation, toState, toVersion, versionColumns } from './tables/constitutions.js'
import type { Database } from './tables.js'
import type { Write } from './write.js'

export function createSqlConstitutions(db: Database, writeInAnyOrder: Write): ConstitutionStore {
  // In turn: what is numbered by what stands before, and `revision`, which must not see a later activation first.
  const write: Write = (work) => writeInAnyOrder(work, 'constitutions')

  const statesOf = (db: Database, account: string, name?: string) => {
    const query = db.selectFrom('constitutions').selectAll().where('account', '=', account).orderBy('name')
    return name === undefined ? query : query.where('name', '=', name)
  }
  const versionsOf = (db: Database, account: string, name: string) =>
    db
      .selectFrom('constitution_versions')
      .select(versionColumns)
      .where('account', '=', account)
      .where('name', '=', name)
      .orderBy('version', 'desc')

  async function insert(db: Database, row: NewConstitution): Promise<ConstitutionVersion> {
    const { account, name } = row
    await db
      .insertInto('constitutions')
      .values({ account, name, versions: 0, latest: 0 })
      .onConflict((conflict) => conflict.columns(['account', 'name']).doNothing())
      .execute()
    const { latest } = await statesOf(db, account, name).executeTakeFirstOrThrow()
    const version = nextVersion(row.declared, latest)
    await db
      .insertInto('constitution_versions')
      .values(fromRow({ ...row, version }))
      .execute()
    await db
      .updateTable('constitutions')
      .set({ latest: version, versions: sql`versions + 1` })
      .where('account', '=', account)
      .where('name', '=', name)
      .execute()
    const { source: _, ...stored } = row
    return { ...stored, version }
  }

  async function putInForce(db: Database, change: Omit<ConstitutionActivation, 'seq'>) {
    const { account, name, from, to, at, by, origin } = change
    await db
      .updateTable('constitutions')
      .set({ active: to, activated_at: at, activated_by: by, activated_origin: origin })
      .where('account', '=', account)
      .where('name', '=', name)
      .execute()
    const row = await db
      .insertInto('constitution_activations')
      .values({ account, name, from_version: from, to_version: to, at, by, origin })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toActivation(row)
  }

  return {
    add: (row) =>
      write(async (db) => {
        const latest = await versionsOf(db, row.account, row.name).limit(1).executeTakeFirst()
        if (latest?.digest === row.digest) return { version: toVersion(latest), created: false }
        return { version: await insert(db, row), created: true }
      }),

    get: (account, name, version) =>
      storageCall(async () => {
        const row = await db
          .selectFrom('constitution_versions')
          .selectAll()
          .where('account', '=', account)
          .where('name', '=', name)
          .where('version', '=', version)
          .executeTakeFirst()
        return row && { ...toVersion(row), source: row.source }
      }),

    versions: (account, name, { before, limit }) =>
      storageCall(async () => {
        const query = versionsOf(db, account, name).limit(limit)
        const rows = await (before === undefined ? query : query.where('version', '<', before)).execute()
        return rows.map(toVersion)
      }),

    states: (account, name) => storageCall(async () => (await statesOf(db, account, name).execute()).map(toState)),

    activate: ({ ifActive, ...change }) =>
      write(async (db) => {
        const { account, name, to } = change
        const state = await statesOf(db, account, name).executeTakeFirst()
        const version = await versionsOf(db, account, name).where('version', '=', to).executeTakeFirst()
        if (state === undefined || version === undefined) return { outcome: 'absent' }
        const from = state.active
        if (ifActive !== undefined && ifActive !== from) return { outcome: 'other', from }
        if (from === to) return { outcome: 'unchanged', from }
        await putInForce(db, { ...change, from })
        return { outcome: 'activated', from }
      }),

    adopt: (files, at) =>
      write(async (db) => {
        const done: ConstitutionActivation[] = []
        for (const { displaces, ...file } of files) {
          const { account, name, digest } = file
          const before = await statesOf(db, account, name).executeTakeFirst()
          if (before?.file_digest === digest) continue
          const known = await versionsOf(db, account, name).where('digest', '=', digest).limit(1).executeTakeFirst()
          const { version } = known ?? (await insert(db, file))
          await db
            .updateTable('constitutions')
            .set({ file_digest: digest })
            .where('account', '=', account)
            .where('name', '=', name)
            .execute()
          const standing = before?.activated_origin ?? null
          const yields = displaces || standing === null || standing === 'file'
          const from = before?.active ?? null
          if (!yields || from === version) continue
          done.push(await putInForce(db, { account, name, from, to: version, at, by: null, origin: 'file' }))
        }
        return done
      }),

    activations: (account, name, { before, limit }) =>
      storageCall(async () => {
        const query = db
          .selectFrom('constitution_activations')
          .selectAll()
          .where('account', '=', account)
          .where('name', '=', name)
          .orderBy('seq', 'desc')
          .limit(limit)
        const rows = await (before === undefined ? query : query.where('seq', '<', before)).execute()
        return rows.map(toActivation)
      }),

    revision: () =>
      storageCall(async () => {
        const { activations, versions } = await db
          .selectNoFrom(({ selectFrom }) => [
            selectFrom('constitution_activations')
              .select((is) => is.fn.max('seq').as('seq'))
              .as('activations'),
            selectFrom('constitutions')
              .select((is) => is.fn.sum('versions').as('sum'))
              .as('versions')
          ])
          .executeTakeFirstOrThrow()
        return Number(activations ?? 0) + Number(versions ?? 0)
      })
  }
}
