import t from 'tap'
import { classifier } from '../../src/detectors/classifier.js'
import { loadPolicy } from '../../src/policy/evaluate/entry.js'
import { floorsOf } from '../../src/policy/match/compile.js'
import { source } from './support.js'

const rule = (fields: string, i: number) => `  - { name: rule_${i}, detector: classifier, ${fields} }\n`

async function floors(...rules: string[]): Promise<Record<string, number>> {
  const yaml = source({ rules: rules.map(rule).join('') })
  const entry = await loadPolicy(yaml, 'x.yaml')
  const { constitution, detectors } = entry
  const found = floorsOf(constitution, classifier, detectors[0]!.rules)
  return Object.fromEntries([...found].map(([kind, floor]) => [kind, Math.round(floor * 100) / 100]))
}

t.test('a floor is the least confidence at which rules of a kind stop a text', async (t) => {
  // The bands of the source are 0.4 and 0.75.
  const hate = 'kinds: [hate], category: hate'
  t.same(await floors(`${hate}, min_confidence: 0.9, weight: 0.5`), { hate: 0.9 }, 'where the rule begins')
  t.same(await floors(`${hate}, min_confidence: 0.2, weight: 0.5`), { hate: 0.8 }, 'where its weight reaches the band')
  t.same(await floors(`${hate}, min_confidence: 0.2, weight: 0.3`), {}, 'a hint stops nothing')
  t.same(
    await floors(`${hate}, min_confidence: 0.2, weight: 0.3`, `${hate}, min_confidence: 0.5, weight: 0.31`),
    {},
    'nor do two: a detector counts once'
  )
  t.same(await floors(`${hate}, min_confidence: 0.2, weight: 0.3, context: { forbid: { a: [b] } }`), { hate: 0.2 })
  t.same(await floors('kinds: [hate, sexual], category: profanity, min_confidence: 0.5, weight: 0.9'), {}, 'permitted')
})
