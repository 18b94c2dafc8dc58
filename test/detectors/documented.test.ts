import { readFileSync } from 'node:fs'
import t from 'tap'
import { detectors } from '../../src/detectors/index.js'

const page = readFileSync(new URL('../../docs/detectors.md', import.meta.url), 'utf8')

t.test('the page on detectors names every kind, and no other', async (t) => {
  const documented = new Set([...page.matchAll(/`([a-z\d_]+)`/g)].map((match) => match[1]!))
  for (const name of ['kind', 'kinds', 'example', 'xxxxx', '1234567']) documented.delete(name)
  // The classifier's and the encoder's are the categories.
  const known = detectors
    .filter(({ id }) => id !== 'classifier' && id !== 'encoder')
    .flatMap(({ kinds, groups }) => [...kinds, ...(groups?.keys() ?? [])])
  t.same(
    [...new Set(known)].filter((kind) => !documented.has(kind)),
    [],
    'left out'
  )
  t.same(
    [...documented].filter((kind) => !known.includes(kind)),
    [],
    'not found by any'
  )
})
