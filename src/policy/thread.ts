import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A module that runs in a thread, beside this very file: `.js` in the package, `.ts` where a loader runs the sources. */
export function threadFile(name: string): string {
  return fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url))
}

/** Whether the program runs as it was built. Where a loader runs the sources, every thread would load them anew. */
export const isBuilt = extname(import.meta.url) === '.js'
