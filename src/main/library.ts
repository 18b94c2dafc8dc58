/** Opens a gateway from typed options, for both library entrances: the Fastify plugin and the http-proxy one. */
import type { Clock } from '../base/clock.js'
import { loadSettings } from '../config/load.js'
import { createLog, type Log } from '../observe/log.js'
import { createGateway, type Gateway } from './gateway.js'
import { openPlatform } from './platform.js'

export interface LibraryOptions {
  /** Path of a configuration file, relative to `cwd`; default `SLUICEGATE_CONFIG`, else the shipped defaults. */
  config?: string
  /** Environment that is read instead of `process.env`, as in the table of docs/configuration.md. */
  env?: NodeJS.ProcessEnv
  /** Default: the working directory. */
  cwd?: string
  /** A pino logger, or anything of its shape; default: JSON lines on stdout. */
  log?: Log
  clock?: Clock
  /** Receives the full first key if this start created one; default: printed once on stdout. */
  onFirstKey?: (key: string) => void
}

/** Opens settings, platform and gateway, and reports the first key. */
export async function openForLibrary(options: LibraryOptions): Promise<{ gateway: Gateway; close(): Promise<void> }> {
  const { env = process.env, cwd = process.cwd(), config, clock } = options
  const settings = loadSettings({ env, cwd, ...(config === undefined ? {} : { file: config }) })
  const log = options.log ?? createLog({ level: env['SLUICEGATE_LOG_LEVEL'] || 'info' })
  const platform = await openPlatform(settings, { log, ...(clock === undefined ? {} : { clock }) })
  try {
    const gateway = await createGateway(settings, platform)
    const firstKey = await platform.firstKey()
    if (firstKey !== undefined) (options.onFirstKey ?? printFirstKey)(firstKey)
    return {
      gateway,
      async close() {
        await gateway.close()
        await platform.close()
      }
    }
  } catch (error) {
    await platform.close()
    throw error
  }
}

function printFirstKey(key: string): void {
  process.stdout.write(`Sluicegate's first API key, shown this once: ${key}\n`)
}
