/** Constitutions in SQL, for every dialect that Kysely speaks. */
import { type Selectable, sql } from 'kysely'
import {
  type ConstitutionActivation,
  type ConstitutionStore,
  type ConstitutionVersion,
  type NewConstitution,
  nextVersion
} from '../contracts/constitutions.js'
import { storageCall } from '../contracts/failure.js'
import type { Write } from './database.js'
import type { ActivationColumns, Database } from './tables.js'

/** All columns but the long text, which lists do not show. */
const versionColumns = [
  'account',
  'name',
  'version',
  'declared',
  'digest',
  'length',
  'origin',
  'note',
  'createdAt',
  'createdBy'
] as const

function toActivation({ fromVersion, toVersion, ...same }: Selectable<ActivationColumns>): ConstitutionActivation {
  return { ...same, from: fromVersion, to: toVersion }
}

export function createSqlConstitutions(db: Database, writeInAnyOrder: Write): ConstitutionStore {
  // Serialised, since numbers depend on earlier rows, and `revision` must not show a later activation first.
  const write: Write = (work) => writeInAnyOrder(work, 'constitutions')

  const statesOf = (db: Database, account: string, name?: string) => {
    const query = db.selectFrom('constitutions').selectAll().where('account', '=', account).orderBy('name')
    return name === undefined ? query : query.where('name', '=', name)
  }
  const versionsOf = (db: Database, account: string, name: string) =>
    db
      .selectFrom('constitutionVersions')
      .select(versionColumns)
      .where('account', '=', account)
      .where('name', '=', name)
      .orderBy('version', 'desc')

  const bindingsOf = (db: Database, account: string) =>
    db
      .selectFrom('constitutionBindings')
      .select(['account', 'route', 'name', 'at', 'by', 'origin'])
      .where('account', '=', account)

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
      .insertInto('constitutionVersions')
      .values({ ...row, version })
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
      .set({ active: to, activatedAt: at, activatedBy: by, activatedOrigin: origin })
      .where('account', '=', account)
      .where('name', '=', name)
      .execute()
    const row = await db
      .insertInto('constitutionActivations')
      .values({ account, name, fromVersion: from, toVersion: to, at, by, origin })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toActivation(row)
  }

  return {
    add: (row) =>
      write(async (db) => {
        const latest = await versionsOf(db, row.account, row.name).limit(1).executeTakeFirst()
        if (latest?.digest === row.digest) return { version: latest, created: false }
        return { version: await insert(db, row), created: true }
      }),

    get: (account, name, version) =>
      storageCall(async () => {
        const row = await db
          .selectFrom('constitutionVersions')
          .selectAll()
          .where('account', '=', account)
          .where('name', '=', name)
          .where('version', '=', version)
          .executeTakeFirst()
        return row
      }),

    versions: (account, name, { before, limit }) =>
      storageCall(async () => {
        const query = versionsOf(db, account, name).limit(limit)
        const rows = await (before === undefined ? query : query.where('version', '<', before)).execute()
        return rows
      }),

    states: (account, name) => storageCall(() => statesOf(db, account, name).execute()),

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
          if (before?.fileDigest === digest) continue
          const known = await versionsOf(db, account, name).where('digest', '=', digest).limit(1).executeTakeFirst()
          const { version } = known ?? (await insert(db, file))
          await db
            .updateTable('constitutions')
            .set({ fileDigest: digest })
            .where('account', '=', account)
            .where('name', '=', name)
            .execute()
          const standing = before?.activatedOrigin ?? null
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
          .selectFrom('constitutionActivations')
          .selectAll()
          .where('account', '=', account)
          .where('name', '=', name)
          .orderBy('seq', 'desc')
          .limit(limit)
        const rows = await (before === undefined ? query : query.where('seq', '<', before)).execute()
        return rows.map(toActivation)
      }),

    bind: ({ ifName, ...change }) =>
      write(async (db) => {
        const { account, route } = change
        const before = await bindingsOf(db, account).where('route', '=', route).executeTakeFirst()
        if (ifName !== undefined && (before?.name ?? null) !== ifName) return undefined
        const { name, at, by, origin } = change
        await db
          .insertInto('constitutionBindings')
          .values({ ...change, changes: 1 })
          .onConflict((conflict) =>
            conflict
              .columns(['account', 'route'])
              .doUpdateSet({ name, at, by, origin, changes: sql`constitution_bindings.changes + 1` })
          )
          .execute()
        return change
      }),

    bindings: (account) => storageCall(() => bindingsOf(db, account).orderBy('route').execute()),

    revision: () =>
      storageCall(async () => {
        const { activations, versions, bindings } = await db
          .selectNoFrom(({ selectFrom }) => [
            selectFrom('constitutionActivations')
              .select((is) => is.fn.max('seq').as('seq'))
              .as('activations'),
            selectFrom('constitutions')
              .select((is) => is.fn.sum('versions').as('sum'))
              .as('versions'),
            selectFrom('constitutionBindings')
              .select((is) => is.fn.sum('changes').as('sum'))
              .as('bindings')
          ])
          .executeTakeFirstOrThrow()
        return Number(activations ?? 0) + Number(versions ?? 0) + Number(bindings ?? 0)
      })
  }
}
