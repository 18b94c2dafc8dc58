// The rows of the grammars as JSON lines: node training/grammar-rows.mjs --dist DIR --seed N --out FILE
import { closeSync, openSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { dist: { type: 'string' }, seed: { type: 'string', default: '1' }, out: { type: 'string' } }
})
if (values.dist === undefined || values.out === undefined) {
  console.error('usage: node training/grammar-rows.mjs --dist DIR [--seed N] --out FILE')
  process.exit(2)
}
const { syntheticRows } = await import(pathToFileURL(resolve(values.dist, 'classifier/grammar/index.js')).href)
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
