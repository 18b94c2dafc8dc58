import { join } from 'node:path'
import t from 'tap'
import { contractSuites } from './contract-suites.js'

t.test('memory', async (t) => contractSuites(t, () => 'memory:'))

t.test('sqlite', async (t) => contractSuites(t, (t) => `sqlite:${join(t.testdir(), 'data', 'test.db')}`))
