// Scores texts by the classifier that ships: node screen-scores.mjs --rows FILE --out FILE. Both are JSON lines, a text (a string) in,
// its scores by lane out, before the classifier's own calibration. The encoder's training sets confidences by them (encoder/second.py).
import { createWriteStream, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import '../test/support/typescript.mjs'

const { values } = parseArgs({ options: { rows: { type: 'string' }, out: { type: 'string' } } })
if (values.rows === undefined || values.out === undefined) {
  process.stderr.write('screen-scores needs --rows FILE and --out FILE\n')
  process.exit(2)
}
const { lanes } = await import('../src/classifier/lanes.ts')
const { shippedScorer } = await import('../src/classifier/shipped.ts')
const { Folder } = await import('../src/text/fold.ts')

const folder = new Folder()
const scorer = shippedScorer()
const out = createWriteStream(values.out)
for (const line of readFileSync(values.rows, 'utf8').split('\n')) {
  if (line === '') continue
  const text = JSON.parse(line)
  scorer.score(folder.fold(text), text)
  out.write(`${JSON.stringify(lanes.map((_, lane) => Number(scorer.strongest(lane).toFixed(3))))}\n`)
}
out.end()
