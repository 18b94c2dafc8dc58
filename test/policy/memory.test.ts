import t from 'tap'
import type { ChatPart } from '../../src/base/chat.js'
import { detectors } from '../../src/detectors/index.js'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { Judge, type JudgeInput } from '../../src/policy/evaluate/judge.js'
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
  return { judge: new Judge(compilePolicy(parseConstitution(source({ rules }), 'x.yaml'), [spy])), read }
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
  return { parts, joined: [ofUser], context: undefined, direction: 'request' }
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
        direction
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
    direction: 'request'
  })
  t.equal(judge.judge(input(digest)).decision, 'permit')
  t.equal(judge.judge(input(evil)).decision, 'forbid')
})
