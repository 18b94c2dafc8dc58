import t from 'tap'
import { readingsOf } from '../../src/text/views.js'
import { hostileShapes } from './hostile-shapes.js'

t.test('texts of 256 Ki units made to be slow are read to their end', async (t) => {
  for (const [name, text] of hostileShapes(1 << 18)) {
    const { views } = readingsOf(text)
    t.equal(views[0]!.text.length, text.length, name)
    for (const view of views) t.ok(view.folded.length > 0)
  }
})
