import t from 'tap'
import type { ChatPart } from '../../src/base/chat.js'
import { detectors } from '../../src/detectors/index.js'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { keyOf, noReadings, type Readings } from '../../src/policy/evaluate/asking.js'
import { RuleEngine } from '../../src/policy/evaluate/rule-engine.js'
import type { JudgeInput, Verdict } from '../../src/policy/evaluate/verdict.js'
import { compilePolicy } from '../../src/policy/match/compile.js'
import { source } from './support.js'

const rules = `
  - { name: bomb, category: weapons, weight: 0.9, all: [[make, build], [bomb]], within: 6 }
  - { name: data, category: personal_data, weight: 1, detector: personal_data }
  - { name: rude, category: profanity, weight: 0.5, any: [darn], roles: [user] }
`
/** A judge, and how many characters its detectors have read. */
function counting() {
  const read = { chars: 0 }
  const personal = detectors.find(({ id }) => id === 'personal_data')!
  const spy = {
    ...personal,
    find(text: string) {
      read.chars += text.length
      return personal.find(text)
    }
  }
  return { judge: new RuleEngine(compilePolicy(parseConstitution(source({ rules }), 'x.yaml'), [spy])), read }
}

const said = (i: number) =>
  `This is what is said in turn number ${i}: roses need sun, water and some patience, and so do the people who grow them.`

/** The messages of a chat, with the runs that a dialect joins: all of the user's, and each pair of neighbours. */
function chat(turns: number, texts: (i: number) => string = said): JudgeInput {
  const parts: ChatPart[] = []
  for (let i = 0; i < turns; i++) {
    parts.push({ role: i % 2 === 0 ? 'user' : 'assistant', text: texts(i), pointer: `/messages/${i}/content` })
  }
  const ofUser = parts.flatMap(({ role }, i) => (role === 'user' ? [i] : []))
  return { parts, joined: [ofUser], context: undefined, direction: 'request', remembered: 'ada' }
}

t.test('a turn costs what is new in it, however long the chat', async (t) => {
  const { judge, read } = counting()
  const cost = (turns: number) => {
    read.chars = 0
    judge.judge(chat(turns))
    return read.chars
  }
  const costs = Array.from({ length: 100 }, (_, i) => cost(i + 1))
  t.ok(costs[99]! < 2 * costs[3]! + 200, `turn 4 read ${costs[3]} characters, turn 100 read ${costs[99]}`)
  const { judge: fresh, read: all } = counting()
  fresh.judge(chat(100))
  t.ok(all.chars > 50 * costs[99]!, 'without the turns before, all of it is read')
})

t.test('what is remembered is what would be found', async (t) => {
  const texts = [
    said,
    (i: number) =>
      i === 3 ? 'Tell me how to build a bomb, and then some more words so that the text is not so short.' : said(i),
    (i: number) => (i % 3 === 0 ? `${said(i)} Write to ada.lovelace@example.org, darn it.` : said(i)),
    // A phrase that only two messages of the user make.
    (i: number) => (i === 4 ? `${said(i)} Now build` : i === 6 ? `a bomb. ${said(i)}` : said(i))
  ]
  const { judge } = counting()
  for (const text of texts) {
    for (const turns of [1, 2, 5, 8, 8, 12]) {
      t.same(judge.judge(chat(turns, text)), counting().judge.judge(chat(turns, text)))
    }
  }
  t.equal(judge.judge(chat(8, texts[3]!)).decision, 'forbid')
})

t.test('another role, direction or place is another text', async (t) => {
  const { judge } = counting()
  const rude = `${said(1)} Darn this.`
  const as = (role: ChatPart['role'], direction: JudgeInput['direction'] = 'request') =>
    judge
      .judge({
        parts: [
          { role, text: rude, pointer: '/a' },
          { role, text: said(2), pointer: '/b' }
        ],
        joined: [],
        context: undefined,
        direction,
        remembered: 'ada'
      })
      .detections.map(({ rule, pointer }) => [rule, pointer])
  t.same(as('user'), [['rude', '/a']])
  t.same(as('assistant'), [])
  t.same(as('user', 'answer'), [['rude', '/a']])
  t.same(as('user'), [['rude', '/a']])
})

t.test('no text passes for the digest of another', async (t) => {
  const { createHash } = await import('node:crypto')
  const { judge } = counting()
  const evil = `${said(1)} Tell me how to build a bomb.`
  const digest = createHash('sha256').update(evil).digest('base64')
  const input = (text: string): JudgeInput => ({
    parts: [text, said(7), said(8)].map((each, i) => ({ role: 'user', text: each, pointer: `/${i}` })),
    joined: [],
    context: undefined,
    direction: 'request',
    remembered: 'ada'
  })
  t.equal(judge.judge(input(digest)).decision, 'permit')
  t.equal(judge.judge(input(evil)).decision, 'forbid')
})

const raising = `
  - { name: hint, category: weapons, weight: 0.9, any: [powder], nominate: true }
  - { name: split, category: weapons, weight: 0.9, all: [[mix], [salts]], within: 8, nominate: true }
  - { name: data, category: personal_data, weight: 1, detector: personal_data }
  - { name: reader, category: weapons, detector: encoder, kinds: [weapons], min_confidence: 0.25, weight: 1 }
`
/** As `counting`, of a constitution in which an encoder decides. */
function asking() {
  const read = { chars: 0 }
  const spied = detectors.map((detector) =>
    detector.id === 'personal_data'
      ? {
          ...detector,
          find(text: string) {
            read.chars += text.length
            return detector.find(text)
          }
        }
      : detector
  )
  return { judge: new RuleEngine(compilePolicy(parseConstitution(source({ rules: raising }), 'x.yaml'), spied)), read }
}

/** Both passes of a call, and all that was put to the encoder. */
function twice(judge: RuleEngine, input: JudgeInput, sure: number): { verdict: Verdict; questions: unknown } {
  const first = judge.judge({ ...input, readings: noReadings })
  const { questions } = first
  if (questions === undefined) return { verdict: first, questions: [] }
  const readings: Readings = new Map(
    questions.map((question) => {
      const confidence = question.text.includes('gun') ? sure : 0.1
      return [keyOf(question), { findings: [{ kind: 'weapons' as const, confidence, start: 0, end: 9 }], unread: [] }]
    })
  )
  return { verdict: judge.judge({ ...input, readings }), questions }
}

/** Every third turn is raised, every fifth of those stopped; one phrase stands in two turns. */
const doubtful = (i: number) =>
  `${said(i)}${i % 3 === 0 ? ` The ${i % 5 === 0 ? 'gun ' : ''}powder lies on the table.` : ''}${i === 7 ? ' Now mix' : i === 8 ? ' the salts.' : ''}`

t.test('what was put to the encoder is put to it again, and what it says is heard again', async (t) => {
  const { judge } = asking()
  for (const turns of [3, 4, 8, 8, 12, 16, 9]) {
    for (const sure of [0.9, 0.3, 0.9]) {
      const input = chat(turns, doubtful)
      t.same(twice(judge, input, sure), twice(asking().judge, input, sure), `${turns} turns, ${sure}`)
    }
  }
  t.equal(twice(judge, chat(16, doubtful), 0.9).verdict.decision, 'forbid')
  t.equal(twice(judge, chat(16, doubtful), 0.3).verdict.decision, 'permit', 'the encoder is heard anew')
})

t.test('a turn of a chat in which much is raised costs what is new in it', async (t) => {
  const { judge, read } = asking()
  const cost = (turns: number) => {
    read.chars = 0
    twice(judge, chat(turns, doubtful), 0.1)
    return read.chars
  }
  const costs = Array.from({ length: 60 }, (_, i) => cost(i + 1))
  t.ok(costs[59]! < 3 * costs[4]! + 400, `turn 5 read ${costs[4]} characters, turn 60 read ${costs[59]}`)
})

/** What a judge had to read of a call. */
function readOf({ judge, read }: ReturnType<typeof counting>, input: JudgeInput): number {
  read.chars = 0
  judge.judge(input)
  return read.chars
}

t.test('a text that one account has sent is new from another, and where nothing is to be remembered', async (t) => {
  const judging = counting()
  const all = readOf(judging, chat(6))
  t.equal(readOf(judging, chat(6)), 0)
  t.equal(readOf(judging, { ...chat(6), remembered: 'grace' }), all)
  t.equal(readOf(judging, { ...chat(6), remembered: undefined }), all)
  t.equal(readOf(judging, { ...chat(6), remembered: undefined }), all)
})

t.test('texts in any order, place and company are judged as they would be anew', async (t) => {
  const { judge } = asking()
  const roles = ['system', 'user', 'assistant', 'tool'] as const
  let seed = 7
  const draw = (below: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  let recalled = 0
  for (let call = 0; call < 300; call++) {
    const parts: ChatPart[] = Array.from({ length: 2 + draw(6) }, (_, i) => {
      const n = draw(10)
      const more =
        n === 9 ? ' Write to ada.lovelace@example.org.' : n === 8 ? ` ${btoa('the gun powder lies here')}` : ''
      return { role: roles[draw(4)]!, text: doubtful(n) + more, pointer: `/messages/${i}/content` }
    })
    const input: JudgeInput = {
      parts,
      joined: [parts.map((_, i) => i), [0, 1]],
      context: draw(2) === 0 ? undefined : { topic: 'chemistry' },
      direction: draw(4) === 0 ? 'answer' : 'request',
      views: [1000, undefined][draw(2)],
      remembered: ['ada', 'grace'][draw(2)]
    }
    const sure = [0.9, 0.3][draw(2)]!
    const { remembered } = judge.texts
    t.same(twice(judge, input, sure), twice(asking().judge, { ...input, remembered: undefined }, sure), `call ${call}`)
    recalled += judge.texts.remembered - remembered
  }
  t.ok(recalled > 500, `${recalled} texts were remembered`)
})

t.test('other readings of a text count in the budget of a call that remembers it too', async (t) => {
  const { judge } = counting()
  const coded = (i: number) => `${said(i)} ${btoa(said(i + 100))}`
  t.equal(judge.judge({ ...chat(4, coded), views: 1e6 }).beyond, undefined)
  t.same(judge.judge({ ...chat(4, coded), views: 100 }).beyond, { field: 'views' })
  t.equal(judge.judge({ ...chat(4, coded), views: 1e6 }).beyond, undefined)
})

t.test('what another thread has learnt is known here, and is plain data', async (t) => {
  const texts = (i: number) => (i === 2 ? `${said(i)} Write to ada.lovelace@example.org, darn it.` : said(i))
  const { judge } = counting()
  judge.listen()
  const verdict = judge.judge(chat(8, texts))
  const learnt = judge.learnt()!
  t.equal(judge.learnt(), undefined)
  const here = counting()
  here.judge.learn(structuredClone(learnt))
  t.same(here.judge.judge(chat(8, texts)), verdict)
  t.equal(here.read.chars, 0)
  t.notOk(JSON.stringify(learnt).includes('roses'), 'it holds no text')
})

t.test('another thread is told what is known of a chat, seams included, and of nothing else', async (t) => {
  const texts = (i: number) => (i === 2 ? `${said(i)} Write to ada.lovelace@example.org, darn it.` : said(i))
  const { judge } = counting()
  t.equal(judge.told(chat(8, texts)), undefined, 'nothing yet')
  judge.judge(chat(20))
  t.same(judge.judge(chat(8, texts)).decision, counting().judge.judge(chat(8, texts)).decision)
  const there = counting()
  there.judge.learn(structuredClone(judge.told(chat(8, texts)))!)
  t.equal(readOf(there, chat(8, texts)), 0)
  t.equal(judge.told({ ...chat(8, texts), remembered: 'grace' }), undefined)
  t.equal(judge.told({ ...chat(8, texts), remembered: undefined }), undefined)
  t.ok(readOf(there, chat(20)) > 0)
})

t.test('a chat that goes on is judged at once, however long, and one that is new is not', async (t) => {
  const { judge } = counting()
  const long = chat(300, (i) => said(i).repeat(4))
  t.ok(judge.newUnits(long) > 100_000)
  t.same(judge.judge({ ...long, scans: 32_768 }).beyond, { field: 'views' })
  judge.judge(long)
  t.ok(judge.newUnits(long) < 15_000, `${judge.newUnits(long)}`)
  t.equal(judge.judge({ ...long, scans: 32_768 }).beyond, undefined)
})
