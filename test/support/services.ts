/**
 * Real servers for tests: TEST_POSTGRES_URL and TEST_REDIS_URL, else what answers on the standard local ports. Where
 * there is none the test is skipped by name; with CI=true it fails.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { Redis } from 'ioredis'
import pg from 'pg'

type Teardown = { teardown(fn: () => unknown): unknown }

const isCi = process.env['CI'] === 'true'

async function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1000 })
    const end = (found: boolean) => {
      socket.destroy()
      resolve(found)
    }
    socket.once('connect', () => end(true))
    for (const event of ['error', 'timeout']) socket.once(event, () => end(false))
  })
}

async function serverUrl(variable: string, port: number, standard: string): Promise<string | undefined> {
  const given = process.env[variable]
  if (given !== undefined && given !== '') return given
  return (await answers(port)) || isCi ? standard : undefined
}

/** The server, where there is one; with CI=true always, so that its absence fails. */
export const postgresServer = await serverUrl('TEST_POSTGRES_URL', 5432, 'postgres://postgres@127.0.0.1:5432/postgres')
export const redisServer = await serverUrl('TEST_REDIS_URL', 6379, 'redis://127.0.0.1:6379')

/** For tap's `skip`: the reason, or false. */
export const noPostgres = postgresServer === undefined && 'no PostgreSQL: set TEST_POSTGRES_URL'
export const noRedis = redisServer === undefined && 'no Redis: set TEST_REDIS_URL'

async function administer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

/** Whether a server can be started; with CI=true always, so that its absence fails. */
export const hasCommand = (name: string) => isCi || spawnSync('which', [name]).status === 0

/** For `openStorage`: many writers at once, on a machine that does other things too. */
export const patient = { connectMs: 120_000, queryMs: 120_000 } as const

/** An empty database of the test's own, which goes with the test. */
export async function createDatabase(t: Teardown): Promise<string> {
  const name = `sluicegate_test_${randomBytes(6).toString('hex')}`
  await administer(postgresServer!, (client) => client.query(`create database ${name}`))
  t.teardown(() => administer(postgresServer!, (client) => client.query(`drop database ${name} with (force)`)))
  const url = new URL(postgresServer!)
  url.pathname = `/${name}`
  return url.href
}

/** A prefix of the test's own; what bears it goes with the test. */
export function redisPrefix(t: Teardown): string {
  const prefix = `sluicegate_test_${randomBytes(6).toString('hex')}:`
  t.teardown(async () => {
    const redis = new Redis(redisServer!)
    const names = await redis.keys(`${prefix}*`)
    if (names.length > 0) await redis.del(names)
    redis.disconnect()
  })
  return prefix
}

/** Takes every row out of a database of a test's, and keeps the tables: a new database takes half a second. */
export function emptyDatabase(url: string): Promise<void> {
  return administer(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%'`
    )
    const names = rows.map(({ name }) => name)
    for (let tries = names.length ** 2; names.length > 0; tries--) {
      const name = names.shift()!
      await client.query(`delete from ${name}`).catch((error) => {
        // Rows of another table refer to these: that table comes first.
        if (error.code !== '23503' || tries === 0) throw error
        names.push(name)
      })
    }
  })
}
