/**
 * Readers of media: child processes for files and pictures, a backend for sound. Each opens only where a route scans
 * its kind.
 */
import type { Settings } from '../base/settings.js'
import { actFor } from '../base/unscannable.js'
import type { FileReport, Files } from '../files/file.js'
import { openFiles } from '../files/files.js'
import { findPackages } from '../files/packages.js'
import { openTranscriber, type Transcriber } from '../proxy/request/transcriber.js'
import type { Platform } from './platform.js'

/** The settings that chat routes and MCP servers share. */
type GuardedRoute = Settings['mcp']['servers'][string]['route']

/** Routes of chats, and those of MCP servers. */
export function guardedRoutes({ routes, mcp }: Pick<Settings, 'routes' | 'mcp'>): readonly GuardedRoute[] {
  return [...routes, ...Object.values(mcp.servers).map(({ route }) => route)]
}

function scanned(settings: Pick<Settings, 'routes' | 'mcp'>): { readsPictures: boolean; readsFiles: boolean } {
  const guarded = guardedRoutes(settings)
  const scans = (kind: 'file' | 'image') => guarded.some(({ unscannable }) => actFor(unscannable, kind) === 'scan')
  const readsPictures = scans('image')
  return { readsPictures, readsFiles: readsPictures || scans('file') }
}

/** Looks for what `openReaders` would start. @throws FilesError where packages are missing */
export function checkReaders(settings: Pick<Settings, 'files' | 'routes' | 'mcp'>): void {
  const { readsPictures, readsFiles } = scanned(settings)
  if (readsFiles) findPackages(readsPictures ? settings.files.languages : [])
}

/** @throws FilesError where packages are missing, once the others are closed */
export async function openReaders(
  settings: Settings,
  { metrics, log }: Platform,
  closeOthers: () => Promise<void>
): Promise<Files | undefined> {
  const { files: own } = settings
  const { readsPictures, readsFiles } = scanned(settings)
  if (!readsFiles) return undefined
  try {
    const files = await openFiles(own, readsPictures, reportTo(metrics))
    const isolation = files.hasNamespace
      ? 'a network namespace of its own'
      : 'no network namespace: the process itself gives up its sockets'
    const languages = readsPictures ? own.languages : undefined
    log.info({ processes: own.processes, isolation, languages }, 'files are read in processes of their own')
    return files
  } catch (error) {
    await closeOthers()
    throw error
  }
}

export function openSound({ routes, transcription }: Settings, { metrics }: Platform): Transcriber | undefined {
  const isUsed = routes.some(({ unscannable }) => actFor(unscannable, 'audio') === 'scan')
  return transcription === undefined || !isUsed ? undefined : openTranscriber(transcription, reportTo(metrics))
}

function reportTo({ filesRead, fileDuration }: Platform['metrics']): FileReport {
  return (outcome, seconds) => {
    filesRead.inc({ outcome })
    fileDuration.observe({ outcome }, seconds)
  }
}
