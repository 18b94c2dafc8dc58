// What serving sees of an exported encoder, by the libraries that serving uses:
// node --expose-gc training/check-export.mjs --modules DIR --model FILE --tokenizer FILE --rows FILE --out FILE
//
// `--modules` holds node_modules with onnxruntime-node and @huggingface/tokenizers. Each line of `--rows` is
// {text, ids, window}: the ids that Python cut the text into, and what the encoder is given of them, marks included. Written:
// one line of scores a row. Printed: JSON with the rows that were cut differently, whether scores are the same bit for bit in
// another order, time and memory.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const named = ['modules', 'model', 'tokenizer', 'rows', 'out']
const { values } = parseArgs({ options: Object.fromEntries(named.map((name) => [name, { type: 'string' }])) })
if (named.some((name) => values[name] === undefined)) {
  console.error(`usage: node training/check-export.mjs ${named.map((name) => `--${name} PATH`).join(' ')}`)
  process.exit(2)
}
const require = createRequire(join(resolve(values.modules), 'node_modules', 'x.js'))
const { InferenceSession, Tensor } = require('onnxruntime-node')
const { Tokenizer } = require('@huggingface/tokenizers')

const memory = () => {
  globalThis.gc?.()
  return process.memoryUsage().rss / 1e6
}
const before = memory()
let clock = process.cpuUsage()
const cpu = () => {
  const { user, system } = process.cpuUsage(clock)
  clock = process.cpuUsage()
  return (user + system) / 1000
}
const tokenizer = new Tokenizer(JSON.parse(readFileSync(values.tokenizer, 'utf8')), {})
const tokenizerMs = cpu()
const session = await InferenceSession.create(values.model, {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  // Beyond `basic` the optimiser fuses sums and norms into an operator that is slower on CPUs.
  graphOptimizationLevel: 'basic'
})
const sessionMs = cpu()
const run = async (ids) => {
  const input = new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length])
  return (await session.run({ input_ids: input })).scores.data
}
const rows = readFileSync(values.rows, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))

let different = 0
const scores = []
for (const { text, ids, window } of rows) {
  const cut = tokenizer.encode(text, { add_special_tokens: false }).ids
  if (cut.length !== ids.length || cut.some((id, i) => id !== ids[i])) different++
  scores.push([...(await run(window))])
}
let unequal = 0
for (let i = rows.length - 1; i >= 0; i--) {
  const again = await run(rows[i].window)
  if (again.some((score, lane) => score !== scores[i][lane])) unequal++
}
writeFileSync(values.out, scores.map((line) => `${JSON.stringify(line)}\n`).join(''))

const timed = []
for (const length of [32, 64, 96, 128, 256, 512]) {
  const ids = Array.from({ length }, (_, i) => 10 + ((i * 7919) % 60000))
  await run(ids)
  const each = []
  for (let i = 0; i < 30; i++) {
    cpu()
    await run(ids)
    each.push(cpu())
  }
  each.sort((a, b) => a - b)
  timed.push({ tokens: length, cpu_ms_median: Number(each[15].toFixed(2)), cpu_ms_least: Number(each[0].toFixed(2)) })
}
const text = rows.map((row) => row.text.slice(0, 400)).find((row) => row.length === 400) ?? 'word '.repeat(80)
cpu()
for (let i = 0; i < 200; i++) tokenizer.encode(text, { add_special_tokens: false })
const cutting = cpu() / 200
console.log(
  JSON.stringify({
    rows: rows.length,
    cut_differently: different,
    unequal_in_another_order: unequal,
    tokenizer_cpu_ms: Math.round(tokenizerMs),
    session_cpu_ms: Math.round(sessionMs),
    memory_mb: Math.round(memory() - before),
    bytes: statSync(values.model).size + statSync(values.tokenizer).size,
    cutting_400_characters_cpu_ms: Number(cutting.toFixed(3)),
    timed
  })
)
