/** The second reader of a configuration: one word, or a mapping. */
import { resolve } from 'node:path'
import type { EncoderSettings, EncoderUse } from '../base/settings.js'
import { parseDuration } from '../base/units.js'
import type { FileEncoder } from './schema.js'

/** What a configuration without the key means. */
export const defaultEncoderUse: EncoderUse = 'preferred'

/**
 * @param use as the environment says, before the file
 * @param folder of the file, from which its paths start
 * @param shipped folder of the weights of the package
 */
export function compileEncoder(
  file: FileEncoder | undefined,
  { use, folder, shipped }: { use: EncoderUse | undefined; folder: string; shipped: string }
): EncoderSettings {
  const given = typeof file === 'string' ? { use: file } : (file ?? {})
  return {
    use: use ?? given.use ?? defaultEncoderUse,
    folder: given.folder === undefined ? shipped : resolve(folder, given.folder),
    threads: given.threads ?? 1,
    queue: given.queue ?? 256,
    deadlineMs: parseDuration(given.deadline ?? '2s') as number
  }
}
