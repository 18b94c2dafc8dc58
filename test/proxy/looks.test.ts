import t from 'tap'
import { Looks, mostAtOnce } from '../../src/proxy/answer/window.js'

function stepped() {
  let now = 1000
  return { now: () => now, monotonic: () => now, advance: (ms: number) => (now += ms) }
}

/** A stream that holds so many UTF-16 units, all that has come. */
const holding = (units: number) => ({ weight: units, came: units })

/** UTF-16 units that are looked at over a stream of which nothing settles. */
function lookedAt(length: number, piece: number): number {
  const looks = new Looks(stepped())
  let sum = 0
  for (let held = piece; held <= length; held += piece) {
    if (!looks.areDue(holding(held))) continue
    sum += held
    looks.looked(1000)
  }
  return sum
}

t.test('what does not settle is looked at in proportion to its length, however it is cut', async (t) => {
  for (const piece of [1, 4, 100, 4000]) {
    const [once, twice] = [lookedAt(500_000, piece), lookedAt(1_000_000, piece)]
    t.ok(twice / once < 2 ** 1.2, `pieces of ${piece}: ${once}, then ${twice}`)
  }
})

t.test('a look that took long is followed by a rest, after which what was put off is due', async (t) => {
  const clock = stepped()
  const looks = new Looks(clock)
  t.equal(looks.areDue(holding(100)), true, 'the first is due at once')
  clock.advance(5)
  looks.looked(1000)
  t.equal(looks.left(), undefined, 'nothing was put off yet')
  t.equal(looks.areDue(holding(100)), false)
  t.equal(looks.left(), 45)
  t.equal(looks.isFull(100), false)
  t.equal(looks.isFull(mostAtOnce), true, 'no more is read meanwhile')
  clock.advance(45)
  t.equal(looks.left(), 0)
  t.equal(looks.areDue(holding(100)), true)
  const began = clock.monotonic()
  clock.advance(10_000)
  looks.looked(began)
  t.equal(looks.areDue(holding(100)), false)
  t.equal(looks.left(), 100, 'people read along: no rest is longer')
})
