/** The children that read files. */
import type { FileSettings } from '../base/settings.js'
import { parseDuration, parseSize } from '../base/units.js'
import type { FileFiles } from './schema.js'

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
