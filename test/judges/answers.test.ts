import t from 'tap'
import { JudgeFailure } from '../../src/judges/adapter.js'
import { Breaker, type BreakerState } from '../../src/judges/breaker.js'
import type { Completion } from '../../src/judges/chat.js'
import { conversation } from '../../src/judges/chat.js'
import { scoreOf as graniteScore } from '../../src/judges/granite-guardian.js'
import { publishedLabels } from '../../src/judges/labels.js'
import { readVerdict } from '../../src/judges/llama-guard.js'
import { scoreOf as shieldScore } from '../../src/judges/shieldgemma.js'
import { windowsOf } from '../../src/judges/windows.js'
import { fakeClock } from '../policy/support.js'

const labels = publishedLabels['llama-guard']

t.test('Llama Guard: the two published forms are read, and nothing else is', async (t) => {
  for (const text of ['safe', '\n\nsafe', 'safe\n', ' safe ']) {
    t.same(readVerdict(text, labels, ['violence']), { scores: { violence: 0 }, flagged: false }, JSON.stringify(text))
  }
  t.same(readVerdict('\n\nunsafe\nS1', labels, ['violence']), { scores: { violence: 1 }, flagged: true })
  t.same(readVerdict('unsafe\nS1,S9', labels, ['violence']), { scores: { violence: 1, weapons: 1 }, flagged: true })
  t.same(readVerdict('unsafe\nS2, S10\n', labels, ['hate', 'violence']), {
    scores: { hate: 1, harassment: 1, illicit: 1, cyber_misuse: 1, violence: 0 },
    flagged: true
  })
  t.same(
    readVerdict('unsafe\nS6', labels, ['violence']),
    { scores: { violence: 0 }, flagged: true },
    'a hazard of no category'
  )
  const others = [
    '',
    'SAFE',
    'Safe.',
    'safe\nS1',
    'safe or unsafe',
    'safe\nunsafe\nS1',
    'unsafe',
    'unsafe\n',
    'unsafe\nS99',
    'unsafe\nS1 S2',
    'unsafe\nviolence',
    'unsafe\nS1,',
    'unsafe S1',
    'unsafe\nS1\nsafe',
    'I cannot help with that.',
    '{"safe":true}',
    'not safe',
    'unsafe\nS1,toString',
    'unsafe\nS015'
  ]
  for (const text of others) {
    t.throws(() => readVerdict(text, labels, ['violence']), JudgeFailure, JSON.stringify(text))
  }
})

/** A completion whose tokens are given with the probabilities of their alternatives. */
function completionOf(text: string, tokens: [string, Record<string, number>][] = [], finish = 'stop'): Completion {
  return {
    text,
    finish,
    tokens: tokens.map(([token, top]) => ({
      token,
      top: Object.entries(top).map(([name, p]) => ({ token: name, logprob: Math.log(p) }))
    }))
  }
}

t.test('ShieldGemma: the first word, or the probability of Yes against No', async (t) => {
  t.equal(shieldScore(completionOf('Yes')), 1)
  t.equal(shieldScore(completionOf(' No, the question', [], 'length')), 0)
  const odds = { Yes: 0.6, No: 0.2, ' Yes': 0.1, Maybe: 0.1 }
  t.equal(Math.round(shieldScore(completionOf('Yes', [['Yes', odds]])) * 1000), 778)
  t.equal(
    Math.round(
      shieldScore(
        completionOf('\nNo', [
          ['\n', { '\n': 1 }],
          ['No', { No: 0.9, Yes: 0.1 }]
        ])
      ) * 1000
    ),
    100
  )
  t.equal(shieldScore(completionOf('No', [['No', { No: 1 }]])), 0)
  t.equal(shieldScore(completionOf('Yes', [['Yes', {}]])), 1, 'no alternatives: the word alone')
  for (const text of ['', 'Maybe', 'Nothing to see', 'Yesterday', 'The answer is No', '"No"']) {
    t.throws(() => shieldScore(completionOf(text)), JudgeFailure, text)
  }
})

t.test('Granite Guardian: the forms of all its versions', async (t) => {
  const forms: [string, number][] = [
    ['Yes', 1],
    ['No', 0],
    [' no\n', 0],
    ['No\n<confidence> High </confidence>', 0],
    ['Yes\n<confidence> Low </confidence>', 1],
    ['<score> yes </score>', 1],
    ['<score>no</score>', 0],
    ['<think>\n</think>\n<score> no </score>', 0],
    ['<think>yes it is, no it is not</think><score> yes </score>', 1]
  ]
  for (const [text, score] of forms) t.equal(graniteScore(completionOf(text)), score, text)
  const tokens: [string, Record<string, number>][] = [
    ['<think>', {}],
    ['no', { no: 1 }],
    ['</think>', {}],
    ['<score>', {}],
    [' yes', { ' yes': 0.75, ' no': 0.25 }],
    ['</score>', {}]
  ]
  t.equal(graniteScore(completionOf('<think>no</think><score> yes </score>', tokens)), 0.75, 'thoughts are no verdict')
  t.equal(graniteScore(completionOf('No', [['No', { No: 0.6, Yes: 0.4 }]])), 0.4)
  for (const text of [
    '',
    'Failed',
    'Safe',
    'yes and no',
    '<score> maybe </score>',
    '<score> no',
    'no</score>',
    'No.\nBut',
    '<score> no </score> yes',
    '<think> no'
  ]) {
    t.throws(() => graniteScore(completionOf(text)), JudgeFailure, text)
  }
  t.throws(() => graniteScore(completionOf('No', [], 'length')), JudgeFailure, 'cut')
})

t.test(
  'a conversation is what the templates take: the judged message last, roles told where they differ',
  async (t) => {
    const user = { role: 'user' as const, text: 'a' }
    t.same(conversation({ texts: [user], direction: 'request' }), [{ role: 'user', content: 'a' }])
    t.same(conversation({ texts: [user, { role: 'tool', text: 'b' }], direction: 'request' }), [
      { role: 'user', content: '[user]\na\n\n[tool]\nb' }
    ])
    t.same(conversation({ texts: [{ role: 'assistant', text: 'c' }], direction: 'answer' }), [
      { role: 'user', content: '' },
      { role: 'assistant', content: 'c' }
    ])
  }
)

t.test('windows cover every token, and each border twice', async (t) => {
  const tokens = (n: number) => Array.from({ length: n }, (_, i) => i)
  t.same(windowsOf([], 4, 1), [[]])
  t.same(windowsOf(tokens(4), 4, 1), [[0, 1, 2, 3]])
  t.same(windowsOf(tokens(5), 4, 1), [
    [0, 1, 2, 3],
    [3, 4]
  ])
  for (let n = 0; n < 60; n++) {
    for (const overlap of [0, 1, 3]) {
      const windows = windowsOf(tokens(n), 7, overlap)
      t.same([...new Set(windows.flat())], tokens(n))
      t.ok(windows.every((window, i) => i === 0 || window[0] === windows[i - 1]!.at(-1)! - overlap + 1))
    }
  }
})

t.test('a breaker opens after failures in a row, lets one call through to see, and closes', async (t) => {
  const clock = fakeClock()
  const states: BreakerState[] = []
  const breaker = new Breaker({ clock, failures: 3, openMs: 1000, changed: (state) => states.push(state) })
  const fail = (n: number) => {
    for (let i = 0; i < n; i++) {
      t.ok(breaker.admit())
      breaker.fail()
    }
  }
  fail(2)
  breaker.succeed()
  fail(2)
  t.ok(breaker.admit(), 'not three in a row yet')
  breaker.release()
  fail(1)
  t.notOk(breaker.admit(), 'open')
  clock.advance(999)
  t.notOk(breaker.admit())
  clock.advance(1)
  t.ok(breaker.admit(), 'one is let through')
  t.notOk(breaker.admit(), 'and no second')
  breaker.fail()
  t.notOk(breaker.admit(), 'open for another while')
  clock.advance(1000)
  t.ok(breaker.admit())
  breaker.release()
  t.ok(breaker.admit(), 'a call that showed nothing leaves its place to the next')
  breaker.succeed()
  t.ok(breaker.admit())
  t.ok(breaker.admit())
  t.same(states, ['open', 'half_open', 'open', 'half_open', 'closed'])
})
