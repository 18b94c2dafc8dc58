/** A gateway on a folder whose constitution file, store and key are the test's; opened again, it is a restart. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { generateKey } from '../../src/identity/key-format.js'
import { KeyService } from '../../src/identity/key-service.js'
import type { Storage } from '../../src/storage/contracts/index.js'
import { openStorage } from '../../src/storage/open.js'
import { source } from '../policy/support.js'
import { type Call, call, serveReal } from './gateway.js'

type Teardown = { teardown(fn: () => unknown): unknown }

/** A constitution that forbids one word. */
export function forbidding(word: string, { name = 'default', version = '1' } = {}): string {
  return source({ name, version, rules: `  - { name: ${word}_rule, category: violence, weight: 0.9, any: [${word}] }` })
}

export const constitutionsPath = '/api/v1/constitutions'

export async function openHouse(t: Teardown, dir: string, yaml = 'constitutions: { default: default.yaml }') {
  const keyFile = join(dir, 'key')
  if (!existsSync(keyFile)) writeFileSync(keyFile, generateKey('live'))
  const key = readFileSync(keyFile, 'utf8')
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, `${yaml}\nlimits: { live_per_minute: 1000000 }\n`)
  const serving = await serveReal(t, {
    env: { SLUICEGATE_CONFIG: config, SLUICEGATE_DATA_DIR: dir, SLUICEGATE_BOOTSTRAP_KEY: key }
  })
  const { url, opsUrl } = serving
  const write = (at: string, body: unknown, method: string, by = key) =>
    call(url, constitutionsPath + at, { key: by, method, body })
  /** The same store, as another process sees it. */
  async function beside<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
    const storage = await openStorage({ url: `sqlite:${join(dir, 'sluicegate.db')}` })
    try {
      return await work(storage)
    } finally {
      await storage.close()
    }
  }
  return {
    dir,
    url,
    opsUrl,
    key,
    file: join(dir, 'default.yaml'),
    close: () => serving.close(),
    get: (at = '', by = key): Promise<Call> => call(url, constitutionsPath + at, { key: by }),
    put: (source: string, extra: object = {}, name = 'default') => write(`/${name}`, { source, ...extra }, 'PUT'),
    activate: (version: number, extra: object = {}, name = 'default') =>
      write(`/${name}/activate`, { version, ...extra }, 'POST'),
    write,
    /** What decides on each word, and under which label. */
    async judge(...words: string[]): Promise<string[]> {
      const replies = await Promise.all(
        words.map((input_text) => call(url, '/api/v1/safety/evaluate', { key, body: { input_text } }))
      )
      return [...replies.map(({ body }) => body.evaluation.decision), replies[0]?.body.evaluation.policy]
    },
    make: async (scopes: string[]): Promise<string> =>
      (await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'k', scopes, accept_terms: true } })).body.key,
    beside,
    /** A key of another account. */
    foreign() {
      return beside(async ({ keys, audit }) => {
        const service = new KeyService({ keys, audit, clock: systemClock, invalidate() {} })
        return (await service.create({ accountId: 'other', scopes: ['*'] }, { name: 'foreign' })).key
      })
    }
  }
}
