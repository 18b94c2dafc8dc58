/** A PostgreSQL of the test's own, that may be killed. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './fronts.js'
import { tempDir } from './gateway.js'

type Teardown = { teardown(fn: () => unknown): unknown }

export interface OwnPostgres {
  url: string
  /** As a power cut of the server's process: nothing is flushed, connections break. */
  kill(): void
  start(): void
  /** `encrypted` where a connection of a node is, as the server sees it. */
  encrypted(): string
}

/** Debian keeps the programs of each version apart, and none of them in the path. */
const home = '/usr/lib/postgresql'
const newest = existsSync(home) ? readdirSync(home).sort((a, b) => Number(b) - Number(a))[0] : undefined
export const canStartPostgres = newest !== undefined && existsSync(join(home, newest, 'bin/initdb'))

export async function ownPostgres(t: Teardown, tls?: { certificate: string; key: string }): Promise<OwnPostgres> {
  const folder = tempDir(t)
  const port = await freePort()
  // It does not run as root.
  const isRoot = process.getuid?.() === 0
  const as = isRoot ? ['runuser', '-u', 'postgres', '--'] : []
  const run = (name: string, ...args: string[]) => {
    const [program = '', ...rest] = [...as, join(home, newest!, 'bin', name), ...args]
    const { status, stderr, error } = spawnSync(program, rest, {
      cwd: '/',
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe']
    })
    if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr} ${error ?? ''}`)
  }
  const data = join(folder, 'data')
  if (isRoot) {
    const ids = spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' }).stdout.trim()
    chownSync(folder, Number(ids), -1)
  }
  run('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync')
  const options = `-p ${port}${tls === undefined ? '' : ' -c ssl=on'} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`
  if (tls !== undefined) {
    for (const [from, to] of [
      [tls.certificate, 'server.crt'],
      [tls.key, 'server.key']
    ] as const) {
      copyFileSync(from, join(data, to))
      // It refuses a key that others may read.
      chmodSync(join(data, to), 0o600)
      const { uid, gid } = statSync(data)
      chownSync(join(data, to), uid, gid)
    }
  }
  const own: OwnPostgres = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    kill: () => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop'),
    start: () => run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-o', options, '-w', 'start'),
    encrypted() {
      const query =
        "select case when bool_or(ssl) then 'encrypted' else 'plain' end from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'sluicegate'"
      const psql = ['psql', '-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-Atc', query]
      return spawnSync(join(home, newest!, 'bin', psql[0]!), psql.slice(1), { encoding: 'utf8' }).stdout.trim()
    }
  }
  own.start()
  t.teardown(() => {
    try {
      own.kill()
    } catch {
      // The test has left it stopped.
    }
  })
  return own
}
