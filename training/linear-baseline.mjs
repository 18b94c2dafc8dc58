// The linear reader, trained on the same rows and scoring the same held-out ones:
// node training/linear-baseline.mjs --rows FILE --out FILE. Rows with `"held": true` are scored, never learnt from.
import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import '../test/support/typescript.mjs'

const { values } = parseArgs({
  options: { rows: { type: 'string' }, out: { type: 'string' }, seed: { type: 'string' } }
})
if (!values.rows || !values.out) {
  console.error('usage: node training/linear-baseline.mjs --rows FILE --out FILE [--seed N]')
  process.exit(2)
}
const [{ madeRows }, { buildDataset }, { fit, Trainer }, { positiveWeights, sharesOf }, { Random }, { lanes, WIDTH }] =
  await Promise.all(
    [
      './classifier/augment.ts',
      './classifier/dataset.ts',
      './classifier/fit.ts',
      './classifier/folds.ts',
      './classifier/random.ts',
      '../src/classifier/lanes.ts'
    ].map((file) => import(file))
  )

const learnt = []
const held = []
for await (const line of createInterface({ input: createReadStream(values.rows) })) {
  const { held: isHeld, ...row } = JSON.parse(line)
  if (isHeld) held.push(row)
  else learnt.push(row)
}
const seed = Number(values.seed ?? 1)
const made = madeRows(learnt, new Random(seed))
const rows = [...learnt, ...made, ...held]
const data = buildDataset(rows, { wordBits: 18, pairBits: 17 })
const first = learnt.length + made.length
const share = sharesOf(rows).map((value, i) => (i >= first ? 0 : value))
const options = {
  epochs: 5,
  rate: 0.15,
  decay: 3e-5,
  seed,
  share,
  positive: positiveWeights(data, share),
  progress: (epoch, loss) => console.error(`linear, epoch ${epoch + 1}: mean error ${loss.toFixed(4)}`)
}
const trainer = new Trainer(data, fit(data, options), options)
const out = createWriteStream(values.out)
for (let i = first; i < rows.length; i++) {
  trainer.scoreRow(i)
  out.write(`${JSON.stringify([...trainer.score.slice(0, Math.min(lanes.length, WIDTH))])}\n`)
}
out.end()
