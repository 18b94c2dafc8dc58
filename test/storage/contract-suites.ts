/** The suites of every contract of a store, over whatever a URL opens. */
import type { Test } from 'tap'
import { openStorage } from '../../src/storage/open.js'
import { patient } from '../support/services.js'
import { constitutionSuite } from './constitution-suite.js'
import { courseSuite } from './course-suite.js'
import { peopleSuite } from './people-suite.js'
import { pinsSuite } from './pins-suite.js'
import { samplesSuite } from './samples-suite.js'
import { storageSuite } from './storage-suite.js'
import { textsSuite } from './texts-suite.js'

export function contractSuites(t: Test, newUrl: (t: Test) => string | Promise<string>): void {
  const open = async (t: Test) => {
    const storage = await openStorage({ url: await newUrl(t), waits: patient })
    t.teardown(() => storage.close())
    return storage
  }
  storageSuite(t, open)
  constitutionSuite(t, open)
  peopleSuite(t, open)
  courseSuite(t, open)
  textsSuite(t, open)
  samplesSuite(t, open)
  pinsSuite(t, open)
}
