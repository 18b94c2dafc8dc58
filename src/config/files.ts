/** Compiles the settings of file reading and of transcription. */
import type { FileSettings, TranscriptionSettings } from '../base/settings.js'
import { parseDuration, parseSize } from '../base/units.js'
import type { Fail } from './problem.js'
import type { FileFiles, FileTranscription } from './schema.js'
import { readTls } from './upstreams.js'

export function compileFiles(file: FileFiles = {}): FileSettings {
  return {
    processes: file.processes ?? 1,
    queue: file.queue ?? 32,
    deadlineMs: parseDuration(file.deadline ?? '10s') as number,
    memoryBytes: parseSize(file.memory ?? '512MiB') as number,
    fileBytes: parseSize(file.file_limit ?? '32MiB') as number,
    languages: file.languages ?? ['eng']
  }
}

export function compileTranscription(
  file: FileTranscription | undefined,
  folder: string,
  fail: Fail
): TranscriptionSettings | undefined {
  if (file === undefined) return undefined
  return {
    baseUrl: file.base_url,
    key: file.api_key === '' ? undefined : file.api_key,
    model: file.model,
    tls: readTls(file.tls ?? {}, folder, ['transcription', 'tls'], fail),
    timeoutMs: parseDuration(file.timeout ?? '30s') as number,
    maxConcurrent: file.max_concurrent ?? 4,
    queue: file.queue ?? 32,
    soundBytes: parseSize(file.sound_limit ?? '25MiB') as number
  }
}
