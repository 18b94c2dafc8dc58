import t from 'tap'
import { train } from '../../training/classifier/command.js'
import { tinyCorpus } from './support.js'

const print = () => {}
const tiny = tinyCorpus()
const trained = train({ rows: tiny, seed: 3, print })

t.test('training gives the same bytes for the same rows and seed, and others for another seed', async (t) => {
  t.ok(train({ rows: tiny, seed: 3, print }).bytes.equals(trained.bytes))
  t.notOk(train({ rows: tiny, seed: 4, print }).bytes.equals(trained.bytes))
})
