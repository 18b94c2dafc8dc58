import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStorage } from '../../src/storage/open.js'
import { constitutionSuite } from './constitution-suite.js'
import { storageSuite } from './storage-suite.js'

for (const [name, url] of [
  ['memory', () => 'memory:'],
  ['sqlite', (t: Test) => `sqlite:${join(t.testdir(), 'data', 'test.db')}`]
] as const) {
  t.test(name, (t) => {
    const open = async (t: Test) => {
      const storage = await openStorage({ url: url(t) })
      t.teardown(() => storage.close())
      return storage
    }
    storageSuite(t, open)
    constitutionSuite(t, open)
  })
}
