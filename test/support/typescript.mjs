// Tests run from their TypeScript. What tap brings for that translates every file anew in every process, which is most of
// what a test file costs; here a file is translated once and kept, by what it holds, in node_modules/.cache.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
