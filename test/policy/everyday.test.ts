import t from 'tap'
import { compilePolicy } from '../../src/policy/compile.js'
import { parseConstitution } from '../../src/policy/constitution.js'
import { Judge } from '../../src/policy/judge.js'
import { readShipped } from '../../src/policy/shipped.js'
import { everyday, harmful } from './everyday-examples.js'

const judge = new Judge(compilePolicy(parseConstitution(readShipped('default'), 'default.yaml')))
const decide = (text: string) =>
  judge.judge({ parts: [{ role: 'user', text, pointer: '' }], joined: [], context: undefined, direction: 'request' })

t.test('words of harm in their everyday senses are permitted', async (t) => {
  t.ok(everyday.length >= 150)
  for (const text of everyday) t.equal(decide(text).decision, 'permit', text)
})

t.test('the same words in a request for harm are not', async (t) => {
  t.ok(harmful.length >= 100)
  for (const text of harmful) t.not(decide(text).decision, 'permit', text)
})
