/** What the two public faces share: settings and an open platform from typed options. */
import type { Clock } from './clock.js'
import { loadSettings } from './config.js'
import { createLog, type Log } from './observe/log.js'
import { openPlatform, type Platform } from './platform.js'
import type { Settings } from './settings.js'

export interface LibraryOptions {
  /** Path of a configuration file, relative to `cwd`; default `SLUICEGATE_CONFIG`, else the shipped defaults. */
  config?: string
  /** Environment that is read instead of `process.env`, as in the README's table. */
  env?: NodeJS.ProcessEnv
  /** Default: the working directory. */
  cwd?: string
  /** A pino logger, or anything of its shape; default: JSON lines on stdout. */
  log?: Log
  clock?: Clock
  /** Told the full first key where this start created one; default: printed once on stdout. */
  onFirstKey?: (key: string) => void
}

export async function openForLibrary(options: LibraryOptions): Promise<{ settings: Settings; platform: Platform }> {
  const { env = process.env, cwd = process.cwd(), config, clock } = options
  const settings = loadSettings({ env, cwd, ...(config === undefined ? {} : { file: config }) })
  const log = options.log ?? createLog({ level: env['SLUICEGATE_LOG_LEVEL'] || 'info' })
  const platform = await openPlatform(settings, { log, ...(clock === undefined ? {} : { clock }) })
  if (platform.firstKey !== undefined) {
    const tell =
      options.onFirstKey ?? ((key) => process.stdout.write(`Sluicegate's first API key, shown this once: ${key}\n`))
    tell(platform.firstKey)
  }
  return { settings, platform }
}
