import t from 'tap'
import { stopWindows, unusualBeyond, unusualStops, usualShare } from '../../src/notices/stops.js'

const settings = { windowMs: 3_600_000, factor: 3, difference: 0.05, least: 100 }
const counted = (evaluations: number, stopped: number) => ({ evaluations, stopped })
const quiet = Array(7).fill(counted(1000, 20))

t.test('a window is held against the same hours of seven days', async (t) => {
  const now = Date.UTC(2026, 0, 8, 12, 3)
  const windows = stopWindows(now, 3_600_000)
  t.equal(windows.length, 8)
  t.same(windows[0], { from: Date.UTC(2026, 0, 8, 11, 10), to: Date.UTC(2026, 0, 8, 12, 10) })
  t.same(windows[7], { from: Date.UTC(2026, 0, 1, 11, 10), to: Date.UTC(2026, 0, 1, 12, 10) })
})

t.test('what is usual is the median of the days that tell anything, of three at least', async (t) => {
  t.equal(usualShare([counted(100, 1), counted(100, 90), counted(200, 6)], 100), 0.03)
  t.equal(usualShare([...Array(2).fill(counted(100, 2)), ...Array(2).fill(counted(100, 4))], 100), 0.03)
  t.equal(usualShare([...Array(2).fill(counted(1000, 20)), ...Array(5).fill(counted(99, 99))], 100), undefined)
})

t.test('unusual: several times the share or a fraction of it, and by some points at least', async (t) => {
  const cases: [stopped: number, before: typeof quiet, unusual: boolean, what: string][] = [
    [69, quiet, false, 'three times the share is 6 %, but 5 points more are 7 %'],
    [70, quiet, true, 'seven per cent where two are usual'],
    [0, quiet, false, 'nothing stopped where little is'],
    [99, Array(7).fill(counted(1000, 300)), true, 'less than a third of what is usual'],
    [101, Array(7).fill(counted(1000, 300)), false, 'little more than that'],
    [1000, Array(7).fill(counted(1000, 900)), false, 'nothing is three times that much'],
    [500, quiet.slice(0, 2), false, 'two days are no custom']
  ]
  for (const [stopped, before, unusual, what] of cases)
    t.equal(unusualStops([counted(1000, stopped), ...before], settings) !== undefined, unusual, what)
  t.equal(unusualStops([counted(99, 99), ...quiet], settings), undefined, 'a few say nothing')
  t.same(unusualStops([counted(1000, 500), ...quiet], settings), { share: 0.5, usual: 0.02 })
  t.match(unusualBeyond(0.5, settings), { low: 0.5 / 3, high: undefined })
  t.same(unusualBeyond(0.02, settings), { high: 0.07 })
})
