// Tests run from their TypeScript. What tap brings for that checks and translates every file anew in every process, which
// took most of a test file's time; here types are only taken out, in less than a millisecond a file.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
