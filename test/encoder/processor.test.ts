import t from 'tap'
import { cutsOffHere, mayCutOff } from '../../src/encoder/processor.js'

const cpu = (...flags: string[]) =>
  `processor\t: 0\nflags\t\t: fpu sse2 avx2 ${flags.join(' ')}\nbugs\t\t: spectre_v1\n\n`

t.test('sums may be cut off on x64 without VNNI alone', async (t) => {
  t.equal(mayCutOff('x64', cpu()), true)
  t.equal(mayCutOff('x64', cpu('avx512_vnni')), false)
  t.equal(mayCutOff('x64', cpu('avx_vnni')), false)
  t.equal(mayCutOff('x64', cpu('not_avx512_vnni_at_all')), true, 'a flag is a word')
  t.equal(mayCutOff('x64', cpu('avx_vnni') + cpu()), true, 'every processor must have it')
  t.equal(mayCutOff('arm64', undefined), false)
})

t.test('where nobody tells, they may', async (t) => {
  t.equal(mayCutOff('x64', undefined), true)
  t.equal(mayCutOff('x64', ''), true)
})

t.type(await cutsOffHere(), 'boolean')
