import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { EncoderSettings } from '../../src/base/settings.js'
import type { EncoderFailure } from '../../src/encoder/index.js'
import { EncoderKeeper } from '../../src/encoder/keeper.js'
import { EncoderFileError } from '../../src/encoder/manifest.js'
import { noReport } from '../../src/encoder/open.js'
import { asks, fixture, isShipped, sameAlone, shipped } from './support.js'

const failure = (kind: EncoderFailure) => ({ name: 'EncoderError', failure: kind })
const settings = (more: Partial<EncoderSettings> = {}): EncoderSettings => ({
  use: 'required',
  folder: fixture,
  threads: 1,
  queue: 256,
  deadlineMs: 10_000,
  ...more
})
const deps = { clock: systemClock, report: noReport, crashed() {} }

t.test('so are those of the weights that ship', { skip: isShipped ? false : 'no weights ship yet' }, (t) =>
  sameAlone(t, shipped)
)

t.test('gateways with one configuration share an encoder', async (t) => {
  const keeper = new EncoderKeeper(deps)
  const [a, b] = [await keeper.open(settings()), await keeper.open(settings())]
  t.equal(a.encoder, b.encoder)
  t.equal(keeper.current, a.encoder)
  t.equal(keeper.waiting(), 0)
  await a.close()
  await a.close()
  t.match(await b.encoder!.read([asks('steal')]), [{ findings: [{ kind: 'illicit' }] }])
  const c = await keeper.open(settings({ queue: 512 }))
  t.not(c.encoder, b.encoder)
  await b.close()
  await t.rejects(b.encoder!.read([asks('a')]), failure('closed'))
  await c.close()
  await t.rejects(keeper.open(settings({ folder: '/nowhere' })), EncoderFileError)
  const off = await keeper.open(settings({ use: 'off' }))
  t.equal(off.encoder, undefined)
  await off.close()
  const again = await keeper.open(settings({ queue: 512 }))
  await again.encoder!.read([asks('a')])
  await again.close()
})
