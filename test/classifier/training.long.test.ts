import t from 'tap'
import { lanes, WIDTH } from '../../src/classifier/lanes.js'
import { decodeModel } from '../../src/classifier/model.js'
import { Scorer } from '../../src/classifier/scorer.js'
import { noScore } from '../../src/classifier/windows.js'
import { Folder } from '../../src/text/fold.js'
import { plan, train } from '../../training/classifier/command.js'
import { buildDataset } from '../../training/classifier/dataset.js'
import { Trainer } from '../../training/classifier/fit.js'
import { trainLane } from '../../training/classifier/lane.js'
import { emptyWeights } from '../../training/classifier/weights.js'
import type { TrainingRow } from '../../training/rows.js'
import { tinyCorpus } from './support.js'

const print = () => {}
const tiny = tinyCorpus()
const trained = train({ rows: tiny, seed: 3, print })

t.test('training gives the same bytes for the same rows and seed, and others for another seed', async (t) => {
  t.ok(train({ rows: tiny, seed: 3, print }).bytes.equals(trained.bytes))
  t.notOk(train({ rows: tiny, seed: 4, print }).bytes.equals(trained.bytes))
})

t.test('words that no table holds have no score, in training as in the program, and teach nothing', (t) => {
  const unknown: TrainingRow = { ...tiny[0]!, text: 'vreplo gantusk mirodel kaspin torluvex' }
  const data = buildDataset([unknown, ...tiny], { wordBits: 14, pairBits: 14 })
  const options = {
    ...plan,
    seed: 3,
    share: new Float32Array(data.rows.length).fill(1),
    positive: new Float32Array(WIDTH).fill(1)
  }
  const weights = emptyWeights(data)
  const trainer = new Trainer(data, weights, options)
  trainer.begin(plan.rate)
  trainer.scoreRow(0)
  t.ok(trainer.score.every((score) => score === noScore))
  t.equal(trainer.step(0), false)
  t.ok(weights.words.every((weight) => weight === 0))
  trainer.scoreRow(1)
  t.not(trainer.score[0], noScore)
  t.end()
})

t.test('lanes of a model that are kept keep their bytes where all others are trained anew', async (t) => {
  const before = decodeModel(trained.bytes, 'trained')
  const { bytes } = train({ rows: tiny.slice(5), kept: { model: before, lanes: ['screen'] }, seed: 4, print })
  const model = decodeModel(bytes, 'anew')
  const own = lanes.indexOf('screen')
  const isSame = (at: number) => model.words[at] === before.words[at]
  t.same(model.wordTable.tags, before.wordTable.tags)
  t.ok(model.words.every((_, at) => at % WIDTH !== own || isSame(at)))
  t.notOk(model.words.every((_, at) => isSame(at)))
})

t.test('a lane that is trained by itself learns, and every other keeps its bytes', async (t) => {
  const before = decodeModel(trained.bytes, 'trained')
  const own = lanes.indexOf('screen_tool')
  // The words are those that the tables know.
  const rows = tiny.map(({ text, source, labels }): TrainingRow => {
    const isOrder = labels.harassment === 1
    return {
      text,
      labels: isOrder ? { prompt_injection: 1 } : {},
      ...(!isOrder && { unsafe: 0 as const }),
      source,
      kind: 'document',
      role: 'tool',
      says: isOrder ? 0.8 : 0
    }
  })
  const measured = rows.map((row): TrainingRow => ({ ...row, keptBack: true }))
  const { model, curve, keptBack } = trainLane(before, {
    rows: [...rows, ...measured],
    lane: 'screen_tool',
    plan: { ...plan, seed: 3 },
    validated: 100,
    print
  })
  for (const name of ['words', 'pairs', 'unit', 'bias', 'slope', 'offset', 'ceiling'] as const) {
    const was = before[name]
    t.ok(
      model[name].every((value, at) => at % WIDTH === own || value === was[at]),
      `${name} of other lanes`
    )
  }
  const score = (of: typeof model, text: string) => new Scorer(of).score(new Folder().fold(text), text).strongest(own)
  const gap = (of: typeof model) => score(of, 'you are a fool silly clown') - score(of, 'please book a table for two')
  t.ok(gap(model) > gap(before) + 1, 'what it learnt')
  t.ok(curve.some(({ lane, kept }) => lane === 'screen_tool' && kept === 0.98))
  const [point] = keptBack.filter(({ kept }) => kept === 0.98)
  t.ok(point!.raised['document']! < 0.1, 'of rows that are like those that were learnt few harmless ones are raised')
  const without = trainLane(before, { rows, lane: 'screen_tool', plan: { ...plan, seed: 3 }, validated: 100, print })
  t.same(model.words, without.model.words, 'nothing is learnt of rows that are kept back')
})
