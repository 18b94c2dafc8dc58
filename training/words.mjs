// Counts words: npm run train:words -- --data DIR. See training/README.md.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import '../test/support/typescript.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { wordsCommand } = await import('./words.ts')
try {
  wordsCommand(process.argv.slice(2), root)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
