/**
 * Reloads the configuration while serving, when its file or one of its constitutions changes. The files are polled, not
 * watched: polling handles swapped symlinks (as Kubernetes mounts configuration), network file systems and replaced
 * files, where notifications differ by platform.
 */
import { realpath, stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Settings } from '../base/settings.js'
import { isShipped } from './shipped.js'

/** A change is acted upon once two looks in a row saw the same, so that a file half written is not read. */
const defaultLookEveryMs = 250

/** Settings that a running process cannot change, each with a getter and a function that keeps the old value. */
const restartParts: Readonly<Record<string, (settings: Settings) => unknown>> = {
  'server.host': ({ server }) => server.host,
  'server.port': ({ server }) => server.port,
  'server.tls': ({ server }) => server.tls,
  'server.drain_delay': ({ server }) => server.drainDelayMs,
  'ops.host': ({ ops }) => ops.host,
  'ops.port': ({ ops }) => ops.port,
  'storage.url': ({ storage }) => storage.url,
  'storage.stale_keys': ({ storage }) => storage.staleKeysMs,
  'storage.spool': ({ storage }) => storage.spoolBytes,
  'redis.url': ({ redis }) => redis,
  tracing: ({ tracing }) => tracing,
  SLUICEGATE_NODE: ({ node }) => node,
  SLUICEGATE_DATA_DIR: ({ dataDir }) => dataDir,
  SLUICEGATE_DATA_KEY: ({ dataKey }) => dataKey,
  SLUICEGATE_WORKERS: ({ workers }) => workers,
  SLUICEGATE_BOOTSTRAP_KEY: ({ bootstrapKey }) => bootstrapKey
}

/** The keys (or variables) whose change takes a restart. */
export const restartKeys: readonly string[] = Object.keys(restartParts)

export interface WatchHandlers {
  /** Called with new settings, which keep the old values of the changed keys in `restart`: those wait for a restart. */
  change(next: Settings, restart: readonly string[]): void | Promise<void>
  /** Called when the settings could not be loaded or put in force; the last good ones stay. */
  failure(error: unknown): void
}

export interface Watcher {
  /** Checks once; a timer calls it repeatedly. */
  look(): Promise<void>
  /** Loads now, changed or not, as SIGHUP does. */
  reload(): Promise<void>
  /** Applies the present settings again, for changes outside of the file. Rejects on failure. */
  renew(): Promise<void>
  close(): void
}

/**
 * @param load reads the configuration afresh; throws where it is bad
 * @param current what is in force now
 * @param asRead the fingerprint of its files before `current` was put in force; default: that of the first look
 */
export function watchSettings(
  load: () => Settings,
  current: Settings,
  handlers: WatchHandlers,
  { lookEveryMs = defaultLookEveryMs, asRead }: { lookEveryMs?: number; asRead?: Promise<string> } = {}
): Watcher {
  let inForce = current
  let closed = false
  /** Those of the last configuration that could be read, in force or not: a faulty constitution may be mended. */
  let watched = filesOf(current)
  let acted: string | undefined
  let seen: string | undefined
  /** Reloads one after another: two gateways built at once could end up swapped. */
  let queue: Promise<void> = Promise.resolve()

  async function reloadNow(): Promise<void> {
    if (closed) return
    try {
      const next = load()
      // Before the constitutions are read, so that what changes meanwhile is seen by the next look.
      await follow(filesOf(next))
      const { settings, restart } = merge(inForce, next)
      await handlers.change(settings, restart)
      inForce = settings
    } catch (error) {
      handlers.failure(error)
    }
  }
  async function follow(files: readonly string[]): Promise<void> {
    if (isDeepStrictEqual(files, watched)) return
    const fingerprint = await fingerprintOfAll(files)
    watched = files
    acted = fingerprint
  }
  function reload(): Promise<void> {
    queue = queue.then(reloadNow)
    return queue
  }
  function renew(): Promise<void> {
    const renewed = queue.then(async () => {
      if (!closed) await handlers.change(inForce, [])
    })
    queue = renewed.catch(handlers.failure)
    return renewed
  }
  async function look(): Promise<void> {
    if (watched.length === 0) return
    const looked = watched
    const now = await fingerprintOfAll(looked)
    // A reload meanwhile has changed what is looked at.
    if (looked !== watched) return
    const isFirst = acted === undefined
    const isStable = now === seen
    seen = now
    acted ??= now
    if (isFirst) {
      // A file may have changed since `current` was read from it, while the process started.
      if (((await asRead) ?? now) !== now || differs()) await reload()
      return
    }
    if (!isStable || now === acted) return
    acted = now
    await reload()
  }
  function differs(): boolean {
    try {
      return !isDeepStrictEqual(load(), inForce)
    } catch {
      // To be told of by the reload.
      return true
    }
  }

  const timer = setInterval(() => void look(), lookEveryMs)
  timer.unref()
  const onHangup = () => void reload()
  process.on('SIGHUP', onHangup)
  void look()
  return {
    look,
    reload,
    renew,
    close() {
      closed = true
      clearInterval(timer)
      process.off('SIGHUP', onHangup)
    }
  }
}

/** What a change of the configuration's file, or of a constitution that it names, changes. */
export function fingerprintOf(settings: Settings): Promise<string> {
  return fingerprintOfAll(filesOf(settings))
}

/** Without shipped constitutions: those change with an upgrade, which takes effect at the next start. */
function filesOf({ file, constitutions }: Settings): readonly string[] {
  if (file === undefined) return []
  return [file, ...Object.values(constitutions).filter((path) => !isShipped(path))]
}

async function fingerprintOfAll(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(fingerprint))).join('\n')
}

/** Changes with the file's content, its replacement, or the swap of a symlink on the way to it. */
async function fingerprint(file: string): Promise<string> {
  try {
    const [path, { ino, size, mtimeMs }] = await Promise.all([realpath(file), stat(file)])
    return [path, ino, size, mtimeMs].join(' ')
  } catch {
    return 'absent'
  }
}

function merge(old: Settings, next: Settings): { settings: Settings; restart: string[] } {
  const restart = Object.entries(restartParts)
    .filter(([, read]) => !isDeepStrictEqual(read(old), read(next)))
    .map(([key]) => key)
  if (restart.length === 0) return { settings: next, restart }
  const settings: Settings = {
    ...next,
    server: {
      ...next.server,
      host: old.server.host,
      port: old.server.port,
      tls: old.server.tls,
      drainDelayMs: old.server.drainDelayMs
    },
    ops: old.ops,
    storage: old.storage,
    redis: old.redis,
    tracing: old.tracing,
    workers: old.workers,
    node: old.node,
    dataDir: old.dataDir,
    dataKey: old.dataKey,
    bootstrapKey: old.bootstrapKey
  }
  return { settings: Object.freeze({ ...settings, server: Object.freeze(settings.server) }), restart }
}
