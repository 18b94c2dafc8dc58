// The compiler that builds and checks: TypeScript 7, which takes a third of the time of 6. 6 stays beside it for what needs
// the compiler as a library (tap, test/deploy.test.ts), which 7 is not.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const manifest = createRequire(import.meta.url).resolve('typescript-7/package.json')

/** Path of its program, for Node. */
export const tsc = join(manifest, '../bin/tsc')
