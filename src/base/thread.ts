/**
 * What threads of this program share. A thread that calls native code (SQLite, ONNX) is never ended within such a call: the
 * library could not throw there, and would end the whole process (`Error::ThrowAsJavaScriptException` of node-addon-api).
 * Whoever closes one waits until it has answered.
 */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * A module that runs in a thread: `.js` in the package, `.ts` where a loader runs the sources.
 * @param beside `import.meta.url` of a module in the same folder @param name without an ending
 */
export function threadFile(beside: string, name: string): string {
  return fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, beside))
}

/** Whether the built program runs. With a loader every thread would load the sources anew. */
export const isBuilt = extname(import.meta.url) === '.js'
