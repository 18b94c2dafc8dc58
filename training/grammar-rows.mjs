// The rows of the grammars as JSON lines: node training/grammar-rows.mjs --seed N --out FILE
import { closeSync, openSync, writeSync } from 'node:fs'
import { parseArgs } from 'node:util'
import '../test/support/typescript.mjs'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, out: { type: 'string' } }
})
if (values.out === undefined) {
  console.error('usage: node training/grammar-rows.mjs [--seed N] --out FILE')
  process.exit(2)
}
const { syntheticRows } = await import('./grammar/index.ts')
const file = openSync(values.out, 'w')
let batch = ''
for (const { role, ...row } of syntheticRows(Number(values.seed))) {
  batch += `${JSON.stringify({ ...row, ...(role === undefined ? {} : { context: { role } }) })}\n`
  if (batch.length > 1 << 20) {
    writeSync(file, batch)
    batch = ''
  }
}
writeSync(file, batch)
closeSync(file)
