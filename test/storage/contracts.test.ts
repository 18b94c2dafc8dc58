import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStorage } from '../../src/storage/open.js'
import { createDatabase, emptyDatabase, noPostgres } from '../support/services.js'
import { constitutionSuite } from './constitution-suite.js'
import { peopleSuite } from './people-suite.js'
import { storageSuite } from './storage-suite.js'
import { textsSuite } from './texts-suite.js'

function suites(t: Test, newUrl: (t: Test) => string | Promise<string>): void {
  const open = async (t: Test) => {
    const storage = await openStorage({ url: await newUrl(t) })
    t.teardown(() => storage.close())
    return storage
  }
  storageSuite(t, open)
  constitutionSuite(t, open)
  peopleSuite(t, open)
  textsSuite(t, open)
}

t.test('memory', async (t) => suites(t, () => 'memory:'))

t.test('sqlite', async (t) => suites(t, (t) => `sqlite:${join(t.testdir(), 'data', 'test.db')}`))

t.test('postgres', { skip: noPostgres }, async (t) => {
  const url = await createDatabase(t)
  suites(t, async () => {
    await emptyDatabase(url)
    return url
  })
})
