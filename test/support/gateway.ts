/** The whole gateway for a test, closed by the test: as a plugin with a clock of the test's, or as the real process would start it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Clock } from '../../src/base/clock.js'
import sluicegate from '../../src/index.js'
import { type Serving, start } from '../../src/main/server.js'
import { createLog } from '../../src/observe/log.js'
import { firstReaderAlone } from './first-reader.js'

type Teardown = { teardown(fn: () => unknown): unknown }

/** An empty folder that goes with the test. */
export function tempDir(t: Teardown): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluicegate-test-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export interface BuildOptions {
  /** YAML of the configuration; storage is in memory unless it says otherwise. */
  yaml?: string
  env?: NodeJS.ProcessEnv
  clock?: Clock
  prefix?: string
  /** The host application speaks HTTP/2, without TLS. */
  http2?: boolean
}

export interface Built {
  app: FastifyInstance
  url: string
  key: string
  /** Every log line. */
  logs: string[]
}

/** The plugin on a host application that listens on a free port. */
export async function build(
  t: Teardown,
  { yaml = '', env = {}, clock, prefix, http2 = false }: BuildOptions = {}
): Promise<Built> {
  const dir = tempDir(t)
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, yaml.includes('storage:') ? yaml : `${yaml}\nstorage: { url: "memory:" }\n`)
  const logs: string[] = []
  // No bound on the start but the test's own: compiling the constitutions takes long on a busy machine.
  const app = Fastify({ pluginTimeout: 0, ...(http2 ? { http2 } : {}) } as FastifyServerOptions)
  let key = ''
  app.register(sluicegate, {
    ...(prefix === undefined ? {} : { prefix }),
    ...(clock === undefined ? {} : { clock }),
    config,
    cwd: dir,
    env: { SLUICEGATE_DATA_DIR: dir, ...firstReaderAlone, ...env },
    log: createLog({ level: 'debug', destination: { write: (line) => logs.push(line) } }),
    onFirstKey: (first) => {
      key = first
    }
  })
  // Last in, first out: the gateway is closed before its folder goes.
  t.teardown(() => app.close())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, url: url + (prefix ?? ''), key, logs }
}

/** What `sluicegate serve` starts, on free ports, with its listeners and their bounds. */
export async function serveReal(
  t: Teardown,
  { yaml, env = {} }: { yaml?: string; env?: NodeJS.ProcessEnv } = {}
): Promise<Serving> {
  const dir = tempDir(t)
  if (yaml !== undefined) writeFileSync(join(dir, 'gateway.yaml'), yaml)
  const serving = await start({
    cwd: dir,
    env: {
      SLUICEGATE_DATA_DIR: dir,
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_LOG_LEVEL: 'silent',
      ...firstReaderAlone,
      ...(yaml === undefined ? {} : { SLUICEGATE_CONFIG: join(dir, 'gateway.yaml') }),
      ...env
    }
  })
  t.teardown(() => serving.close())
  return serving
}

export interface Call {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the wire gave
  body: any
}

/** One JSON call; `body` is sent as JSON unless it is a string already. */
export async function call(
  url: string,
  path: string,
  {
    key,
    method,
    body,
    headers = {}
  }: { key?: string; method?: string; body?: unknown; headers?: Record<string, string> } = {}
): Promise<Call> {
  const response = await fetch(url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers
    },
    ...(body === undefined
      ? {}
      : { body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  let parsed: unknown = text
  try {
    parsed = JSON.parse(text)
  } catch {
    // Not every answer is JSON.
  }
  return { status: response.status, headers: response.headers, body: parsed }
}
