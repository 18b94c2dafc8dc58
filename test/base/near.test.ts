import t from 'tap'
import { nearest, nearestHint } from '../../src/base/near.js'

t.test('the nearest of the accepted names, at most three', async (t) => {
  const names = ['violence', 'weapons', 'secrets', 'sexual', 'sexual_minors', 'hate']
  t.same(nearest('violense', names), ['violence'])
  t.same(nearest('SECERTS', names), ['secrets'], 'letters that changed places, capitals')
  t.same(nearest('ate', names), ['hate'])
  t.same(nearest('profanity', names), [])
  t.same(nearest('rule_9', ['rule_10', 'rule_1', 'rule_2', 'rule_9a', 'rule_3']), ['rule_1', 'rule_2', 'rule_9a'])
  t.same(nearest('', names), [])
  t.equal(nearestHint('sexuel', names), '; did you mean "sexual"?')
  t.equal(nearestHint('greed', names), '')
})

t.test('a name without end costs no more than a long one', async (t) => {
  const started = performance.now()
  t.same(nearest('x'.repeat(1_000_000), ['y'.repeat(1_000_000)]), [])
  t.ok(performance.now() - started < 1000)
})
