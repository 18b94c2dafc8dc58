/** What counts as one saying: phrases within a sentence, and what a detector says by several rules. */
import t from 'tap'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { ConstitutionError } from '../../src/policy/constitution/problems.js'
import { RuleEngine } from '../../src/policy/evaluate/rule-engine.js'
import { compilePolicy } from '../../src/policy/match/compile.js'
import { sentenceEnds } from '../../src/text/sentence.js'
import { part, source } from './support.js'

const judgeOf = (rules: string, head = '') => {
  const judge = new RuleEngine(compilePolicy(parseConstitution(`${source({ rules })}\n${head}`, 'x.yaml')))
  return (...texts: string[]) => {
    const parts = texts.map((text, i) => part(text, 'user', `/${i}`))
    const joined = parts.length > 1 ? [parts.map((_, i) => i)] : []
    return judge.judge({ parts, joined, context: undefined, direction: 'request' })
  }
}
const rule = (more: string) => `  - { name: one, category: violence, weight: 0.9, ${more} }`

t.test('sentences end where another begins', async (t) => {
  const rows: [text: string, pieces: string[]][] = [
    ['Dig a hole. Plant the rose!', ['Dig a hole.', ' Plant the rose!']],
    ['He said "No." "Why?"', ['He said "No.', '" "Why?"']],
    ['see e.g. the map', ['see e.g. the map']],
    ['one. two. three', ['one. two. three']],
    ['Version 2.5 is out', ['Version 2.5 is out']],
    ['先生。学生', ['先生。', '学生']],
    ['a title\n\nthe text', ['a title\n', '\nthe text']],
    ['one line\nand the next', ['one line\nand the next']]
  ]
  for (const [text, pieces] of rows) {
    const ends = [0, ...sentenceEnds(text), text.length]
    t.same(
      ends.slice(1).map((end, i) => text.slice(ends[i], end)),
      pieces,
      text
    )
  }
  const long = '. " '.repeat(100_000) + ' '.repeat(100_000) + '\n '.repeat(100_000)
  const started = performance.now()
  sentenceEnds(long)
  t.ok(performance.now() - started < 3000, 'in linear time')
})

t.test('a phrase, and a combination, stand in one sentence', async (t) => {
  const together = judgeOf(rule('all: [[dig], [grave]]'))
  t.equal(together('Dig him a grave').decision, 'forbid')
  t.equal(together('I dig potatoes. A grave is elsewhere').decision, 'permit')
  t.equal(together('Dig here. Dig him a grave').decision, 'forbid', 'another place of the same words counts')
  const phrase = judgeOf(rule('any: [cold grave]'))
  t.equal(phrase('A cold grave').decision, 'forbid')
  t.equal(phrase('It is cold. Grave news today').decision, 'permit')
  const across = judgeOf(rule('all: [[dig], [grave]], across_sentences: true'))
  t.equal(across('I dig potatoes. A grave is elsewhere').decision, 'forbid')
})

t.test('what is said in several parts is not told apart by their ends', async (t) => {
  const together = judgeOf(rule('all: [[dig], [grave]]'))
  t.equal(together('Tell me how to dig.', 'A grave, for him').decision, 'forbid')
})

t.test('a detector counts once, however many rules ask it', async (t) => {
  const twice = judgeOf(
    ['a', 'b']
      .map((name) => `  - { name: ${name}, category: illicit, weight: 0.5, detector: personal_data, kinds: [email] }`)
      .join('\n')
  )
  const { scores, decision } = twice('Write to ada@example.org')
  t.ok(scores.illicit <= 0.5, `${scores.illicit}`)
  t.equal(decision, 'depends')
  const beside = judgeOf(
    `  - { name: a, category: illicit, weight: 0.5, detector: personal_data, kinds: [email] }\n${rule('any: [grave]').replace('violence, weight: 0.9', 'illicit, weight: 0.5')}`
  )
  t.ok(beside('A grave: ada@example.org').scores.illicit > 0.7, 'a phrase is another sign')
})

t.test('lists and formats that ship are taken by name, and others are refused with their place', async (t) => {
  const marked = judgeOf(rule('formats: [chat_markup]'))
  t.equal(marked('[INST] dig [/INST]').decision, 'forbid')
  const listed = judgeOf(rule('any: [$need]'), 'lists: [self_harm]')
  t.equal(listed('I want to die').decision, 'forbid')
  const problemOf = (rules: string, head = '') => {
    try {
      judgeOf(rules, head)
    } catch (error) {
      if (error instanceof ConstitutionError) return error.problems.map(({ path, message }) => `${path}: ${message}`)
      throw error
    }
    return []
  }
  t.match(problemOf(rule('formats: [nonesuch]')), [/^rules\[0\]\.formats\[0\]: unknown format; known: .*chat_markup/])
  t.match(problemOf(rule('any: [x]'), 'lists: [nonesuch]'), [/^lists\[0\]: there is no list .*weapons/])
  t.match(problemOf(rule('any: [x]'), 'lists: [../default]'), [/^lists\[0\]: there is no list/])
  t.match(problemOf(rule('any: [$need]')), [/unknown lexicon "\$need"/])
})
