/** Compiles the settings of the encoder: one word, or a mapping. */
import { resolve } from 'node:path'
import type { EncoderSettings, EncoderUse } from '../base/settings.js'
import { parseDuration } from '../base/units.js'
import type { FileEncoder } from './schema.js'

/** The default without the key. */
export const defaultEncoderUse: EncoderUse = 'preferred'

/**
 * @param use from the environment, which overrides the file
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
