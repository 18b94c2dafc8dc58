/** What every store must do with questions to people, and with operators' texts. */
import type { Test } from 'tap'
import type { Storage } from '../../src/storage/contracts/index.js'
import type { QuestionRow } from '../../src/storage/contracts/questions.js'

const question = (questionId: string, more: Partial<QuestionRow> = {}): QuestionRow => ({
  questionId,
  lineage: 'lin_1',
  topics: ['programming', 'gaming'],
  turns: [0, 2],
  askedAt: 1_000,
  expiresAt: 2_000,
  answer: null,
  topic: null,
  answerId: null,
  sealedRequest: null,
  ...more
})

export function textsSuite(t: Test, open: (t: Test) => Promise<Storage>): void {
  t.test('a question is kept until it is over, and the first answer stands', async (t) => {
    const { questions } = await open(t)
    const one = question('q1', { answerId: 'a1', sealedRequest: Buffer.from('sealed') })
    await questions.ask(one, 10)
    t.match(await questions.find(['q1', 'q2'], 1_999), [{ ...one, sealedRequest: Buffer.from('sealed') }])
    t.same(await questions.find(['q1'], 2_000), [])
    t.same(await questions.find([], 0), [])
    t.equal((await questions.findByAnswer('a1', 1_500))?.questionId, 'q1')
    t.equal(await questions.findByAnswer('a1', 2_000), undefined)
    const answers = ['first', 'second'].map((answer) =>
      questions.settle('q1', { answer, topic: answer === 'first' ? 'gaming' : null, expiresAt: 3_000 })
    )
    const [standing, other] = await Promise.all(answers)
    t.equal(standing?.answer, other?.answer, 'of two at once one is the first')
    await questions.extend('q1', 9_000)
    t.equal((await questions.find(['q1'], 8_999)).length, 1)
    t.equal(await questions.settle('q9', { answer: 'x', topic: null, expiresAt: 1 }), undefined)
    await questions.ask(question('q1', { askedAt: 1_100 }), 10)
    t.match(await questions.find(['q1'], 1_500), [{ answer: null }], 'asked anew')
  })

  t.test('questions are bounded for each lineage, and what is over goes', async (t) => {
    const { questions } = await open(t)
    await questions.ask(question('other', { lineage: 'lin_2', expiresAt: 99_000 }), 3)
    for (let i = 0; i < 6; i++) await questions.ask(question(`q${i}`, { askedAt: 1_000 + i }), 3)
    const kept = await questions.find(['other', ...Array.from({ length: 6 }, (_, i) => `q${i}`)], 1_500)
    t.same(kept.map(({ questionId }) => questionId).sort(), ['other', 'q3', 'q4', 'q5'])
    await questions.ask(question('late', { askedAt: 50_000, expiresAt: 60_000 }), 3)
    t.same(
      (await questions.find(['q3', 'q4', 'q5', 'late'], 0)).map(({ questionId }) => questionId),
      ['late']
    )
  })

  t.test('texts are replaced by whoever knows what stands', async (t) => {
    const { texts } = await open(t)
    t.equal(await texts.get('default'), undefined)
    const row = { account: 'default', version: 1, source: '{}', changedAt: 1, changedBy: 'key_1' }
    t.equal(await texts.put(row), true)
    t.equal(await texts.put({ ...row, source: '{"region":"DE"}' }), false, 'somebody else was faster')
    t.equal(await texts.put({ ...row, version: 2, source: '{"region":"DE"}' }), true)
    t.match(await texts.get('default'), { version: 2, source: '{"region":"DE"}' })
  })
}
