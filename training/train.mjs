// Trains the classifier: npm run train -- --data DIR. See docs/accuracy.md.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import '../test/support/typescript.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { trainCommand } = await import('./classifier/command.ts')
try {
  await trainCommand(process.argv.slice(2), root)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
