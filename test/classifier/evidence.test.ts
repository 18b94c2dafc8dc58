import { fileURLToPath } from 'node:url'
import t from 'tap'
import { lanes, WIDTH } from '../../src/classifier/lanes.js'
import { readModel } from '../../src/classifier/model.js'
import { Scorer } from '../../src/classifier/scorer.js'
import { longest } from '../../src/classifier/windows.js'
import { classifier } from '../../src/detectors/classifier.js'
import { Folder } from '../../src/text/fold.js'
import { tinyCorpus } from './support.js'

const file = fileURLToPath(new URL('../../config/models/classifier.bin', import.meta.url))
const sentences = tinyCorpus().map(({ text }) => text)

t.test('a finding is shown from where the evidence began, which nothing that follows can move', async (t) => {
  const model = readModel(file)
  const { evidence } = new Scorer(model)
  const folder = new Folder()
  const floors = new Map<string, number>(lanes.map((lane) => [lane, 0.65]))
  const drifts = evidence.drifts(Float64Array.from({ length: WIDTH }, (_, i) => floors.get(lanes[i] ?? '') ?? 0))
  const separators = [' ', '. ', '\n', '\n\n', '! ']
  let findings = 0
  let later = 0
  for (let i = 0; i < 200; i++) {
    const length = 1 + ((i * 13) % 24)
    const text = Array.from(
      { length },
      (_, k) => `${sentences[(i * 31 + k * 17) % sentences.length]}${separators[(i + k) % 5]}`
    ).join('')
    for (const { kind, shown, start } of classifier.find(text, undefined, undefined, floors)) {
      if (shown === undefined) continue
      findings++
      // What has left already counts with what has not.
      const head = text.slice(0, text.lastIndexOf(' ', shown.start) + 1)
      const open = classifier.growsFrom!(text, '', floors)
      const rest = classifier.growsFrom!(text.slice(head.length), head, floors)
      if (rest !== Math.max(0, open - head.length))
        t.fail(`${kind} in text ${i}: ${rest} of ${open} after ${head.length}`)
      if (shown.start > start) later++
      const own = drifts.map((drift, lane) => (lanes[lane] === kind ? drift : Number.POSITIVE_INFINITY))
      // A text that ends where the finding ends stands in the run, and so does each that ends in between; a run that is
      // longer than any window is shown from the longest window on.
      for (let at = shown.end; at > shown.start; at -= 29) {
        const cut = at === shown.end ? at : text.lastIndexOf(' ', at) + 1
        if (cut <= shown.start) break
        const known = text.slice(0, cut)
        const begins = evidence.open(folder.fold(known), known, own)
        const isShort = shown.end - begins < longest
        if (isShort ? begins !== shown.start : begins > shown.start)
          t.fail(`${kind} in text ${i}, cut at ${cut}: ${begins}, not ${shown.start}`)
      }
    }
  }
  t.ok(findings > 100 && later > 20, `${findings} findings, ${later} of them begin after their window does`)
})
