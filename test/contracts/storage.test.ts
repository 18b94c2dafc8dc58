import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStorage } from '../../src/storage/open.js'
import { storageSuite } from './storage-suite.js'

for (const [name, url] of [
  ['memory', () => 'memory:'],
  ['sqlite', (t: Test) => `sqlite:${join(t.testdir(), 'data', 'test.db')}`]
] as const) {
  t.test(name, (t) => {
    storageSuite(t, async (t) => {
      const storage = await openStorage({ url: url(t) })
      t.teardown(() => storage.close())
      return storage
    })
  })
}
