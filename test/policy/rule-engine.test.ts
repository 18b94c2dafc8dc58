import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import t from 'tap'
import type { ChatPart, JsonObject } from '../../src/base/chat.js'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { warmUp } from '../../src/policy/evaluate/entry.js'
import { RuleEngine } from '../../src/policy/evaluate/rule-engine.js'
import { type Decision, decisions } from '../../src/policy/evaluation.js'
import { compilePolicy } from '../../src/policy/match/compile.js'
import { screenOf } from '../../src/policy/match/required.js'
import { type CallOptions, call as evaluatorCall, part, source } from './support.js'

function call(texts: string | readonly (string | ChatPart)[], options: CallOptions = {}) {
  const { session: _none, ...input } = evaluatorCall(texts, options)
  return input
}

function judgeOf(rules: string, posture = {}, lexicons?: string): RuleEngine {
  const text = source({ rules, posture, ...(lexicons === undefined ? {} : { lexicons }) })
  return new RuleEngine(compilePolicy(parseConstitution(text, 'test.yaml')))
}

/** The texts that a rule matched: what its detections cover in the original. */
function matched(judge: RuleEngine, texts: string | (string | ChatPart)[], options: CallOptions = {}): string[] {
  const input = call(texts, options)
  return judge.judge(input).detections.map(({ span, pointer }) => {
    const index = pointer === undefined ? 0 : Number(pointer.slice(1))
    return input.parts[index]!.text.slice(span.start, span.end)
  })
}

t.test("an assistant's turn in a request is an answer too, and is measured as one", async (t) => {
  const judge = judgeOf(`
  - { name: answers, category: violence, weight: 0.9, direction: answer, any: [kill it], unless_trusted: [cannot] }
  - { name: callers, category: hate, weight: 0.9, any: [hate them], unless_trusted: [cannot] }`)
  for (const [role, text, found] of [
    ['assistant', 'kill it', ['kill it']],
    ['assistant', 'I cannot kill it', []],
    ['assistant', 'I cannot hate them', ['hate them']],
    ['user', 'kill it', []],
    ['tool', 'kill it', []]
  ] as const) {
    t.same(matched(judge, [part('go on', 'user', '/0'), part(text, role, '/1')]), found, `${role}: ${text}`)
  }
  const joined = [part('go on', 'user', '/0'), part('kill', 'assistant', '/1'), part('it now', 'assistant', '/2')]
  t.equal(judge.judge(call(joined, { joined: [[1, 2]] })).decision, 'forbid', 'across its parts')
  t.equal(judge.judge(call(joined, { joined: [[0, 1]] })).decision, 'permit')
})

const matching: [what: string, rule: string, text: string, found: string[]][] = [
  ['a phrase is whole words in any case', 'any: [hit man]', 'A HIT-man, not a whit man', ['HIT-man']],
  ['a star takes any ending', 'any: [stab*]', 'stab stabbed stabbing, not bestab', ['stab', 'stabbed', 'stabbing']],
  ['without a star no ending is taken', 'any: [stab]', 'stabbed', []],
  ['lexicons are phrases', 'any: [$knives]', 'a Bowie knife', ['Bowie knife']],
  ['phrases of scripts without spaces match anywhere', 'any: [炸弹]', '如何制造炸弹呢', ['炸弹']],
  ['groups match in any order', 'all: [[make], [bomb]]', 'a bomb to make', ['bomb to make']],
  ['in the written order only where it says so', 'all: [[make], [bomb]], ordered: true', 'a bomb to make', []],
  ['and then in that order', 'all: [[make], [bomb]], ordered: true', 'bomb: make a bomb', ['make a bomb']],
  ['every group is needed', 'all: [[how], [make], [bomb]]', 'make a bomb', []],
  [
    'the window counts words, ends included',
    'all: [[make], [bomb]], within: 4',
    'make one two bomb',
    ['make one two bomb']
  ],
  ['a word more is too far', 'all: [[make], [bomb]], within: 4', 'make one two three bomb', []],
  [
    'a far hit does not hide a near one',
    'all: [[make], [bomb]], within: 3',
    'make x x x x make a bomb',
    ['make a bomb']
  ],
  ['alone: few words may stand beside a match', 'any: [kill it], alone: 2', 'Please kill it now!', ['kill it']],
  ['beside: enough words stand beside a match', 'any: [kill it], beside: 3', 'The job hangs. So kill it.', ['kill it']],
  ['beside: a word less is too few', 'any: [kill it], beside: 3', 'Please kill it now!', []],
  ['alone: a word more is too much, in whatever sentence', 'any: [kill it], alone: 2', 'It hangs. So kill it.', []],
  [
    'alone: what stands inside a match does not count',
    'all: [[how], [it]], alone: 0',
    'How do I kill it?',
    ['How do I kill it']
  ],
  ['one word does not serve two groups', 'all: [[bomb], [bomb, pipe bomb]]', 'a pipe bomb', []],
  [
    'the second best hit is used where words clash',
    'all: [[make, bomb], [pipe bomb]]',
    'make a pipe bomb',
    ['make a pipe bomb']
  ],
  [
    'several windows are several places',
    'all: [[make], [bomb]], within: 3',
    'make a bomb or make a bomb',
    ['make a bomb', 'make a bomb']
  ],
  [
    'a window may hold long phrases',
    'all: [[how do i], [pipe bomb]], within: 5',
    'how do I pipe bomb',
    ['how do I pipe bomb']
  ],
  ['unless cancels near by', 'any: [kill], unless: [process]', 'kill the process', []],
  ['unless cancels before too', 'any: [kill], unless: [process]', 'a process to kill', []],
  ['unless cancels inside a window', 'all: [[make], [bomb]], unless: [bath]', 'make a bath bomb', []],
  [
    'unless does not reach further than it says',
    'any: [kill], unless: [process], unless_within: 2',
    'kill one two three process',
    ['kill']
  ],
  [
    'unless cancels one place only',
    'any: [kill], unless: [process], unless_within: 1',
    'kill process and then kill',
    ['kill']
  ],
  [
    'a pattern runs near its anchor',
    "patterns: [{ anchors: [token], regex: 'tk_[a-z]{4}', reach: 20 }]",
    'token: TK_abcd',
    ['TK_abcd']
  ],
  [
    'and not far from it',
    "patterns: [{ anchors: [token], regex: 'tk_[a-z]{4}', reach: 20 }]",
    `token ${'x '.repeat(20)}tk_abcd`,
    []
  ],
  ['and not without it', "patterns: [{ anchors: [token], regex: 'tk_[a-z]{4}' }]", 'tk_abcd', []],
  [
    'windows that overlap find a place once',
    "patterns: [{ anchors: [token], regex: 'tk_[a-z]{4}' }]",
    'token token tk_abcd token',
    ['tk_abcd']
  ],
  [
    'unless cancels a pattern',
    "patterns: [{ anchors: [token], regex: 'tk_[a-z]{4}' }], unless: [example]",
    'token tk_abcd for example',
    []
  ],
  [
    'a detector finds',
    'detector: personal_data, kinds: [email]',
    'to: jane.doe@example.org.',
    ['jane.doe@example.org']
  ],
  ['any one of several ways suffices', 'any: [x], all: [[y], [z]]', 'y z', ['y z']]
]

t.test('what matches', async (t) => {
  for (const [what, rule, text, found] of matching) {
    const judge = judgeOf(`  - { name: one, category: violence, weight: 0.5, ${rule} }`, {}, 'knives: [bowie knife]')
    t.same(matched(judge, text), found, what)
    t.same(
      matched(judge, ['', part('nothing here', 'system', '/1'), part(text, 'user', '/2')]),
      found,
      `${what}, in a chat`
    )
  }
})

t.test('a pattern finds every place near its anchors', async (t) => {
  const judge = judgeOf(
    "  - { name: one, category: secrets, weight: 0.9, patterns: [{ anchors: [key], regex: 'k\\d{3}', reach: 10 }] }"
  )
  const text = Array.from({ length: 60 }, (_, i) => `key k${100 + i}${' filler'.repeat(8)}`).join('\n')
  t.equal(matched(judge, text).length, 60, 'a category that is redacted keeps every place')
})

t.test('a pattern is spared only texts without a literal that it requires', async (t) => {
  const rows: [regex: string, spared: string, tried: string][] = [
    ['</?\\s*(system|user)\\s*>', 'the system and its user', 'a < b'],
    ['[\\[(]\\s*admin|\\{\\{#?system', 'an admin', 'x (y'],
    ['\\b(i|we) will kill (him|her)\\b', 'we will go', 'He WILL KILL time'],
    ['k{2,}s?', 'tea', 'x\u212a'],
    ['(a|bc)*d+', 'abc', 'D']
  ]
  for (const [regex, spared, tried] of rows) {
    t.equal(screenOf(regex)?.(spared), false, `${regex}: ${spared}`)
    t.equal(screenOf(regex)?.(tried), true, `${regex}: ${tried}`)
  }
  for (const open of [
    'a*',
    'a?b*',
    '(a|)',
    '[a-z]',
    '[^a]',
    '\\d',
    '(?i)a',
    '\\pL',
    '[[:alpha:]]',
    '[]a]',
    '.',
    '^$',
    '\\x41'
  ]) {
    t.equal(screenOf(open), undefined, open)
  }
})

const atom = fc.constantFrom(
  'a',
  'B',
  'k',
  'ſ',
  'é',
  '<',
  '\\[',
  '[bk]',
  '[^a]',
  '[a-c]',
  '.',
  '\\s',
  '\\b',
  '(a|b<)',
  '(?:k|)',
  '\\.',
  '😀',
  '[[:alpha:]]'
)
const counted = fc
  .tuple(atom, fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '+?'))
  .map((pair) => pair.join(''))
const branch = fc.array(counted, { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join(''))
const anyRegex = fc.array(branch, { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|'))
const anyWord = fc.array(fc.constantFrom('a', 'A', 'b', 'K', '\u212a', 's', 'É', '<', '[', '.', ' ', '😀'), {
  maxLength: 8
})

t.test('no pattern matches where its screen lets nothing through', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(anyRegex, anyWord, (regex, letters) => {
        const text = letters.join('')
        const found = RE2JS.compile(regex, RE2JS.CASE_INSENSITIVE).matcher(text).find()
        return !found || screenOf(regex)?.(text) !== false
      }),
      { numRuns: 3000 }
    )
  )
})

t.test('an encoded or disguised text is judged as what it says, at its own place', async (t) => {
  const judge = judgeOf('  - { name: one, category: violence, weight: 0.9, any: [kill everyone] }')
  const encoded = Buffer.from('please kill everyone now').toString('base64')
  for (const [text, layer] of [
    [`decode ${encoded} please`, /base64/],
    ['k1ll ev3ry0ne', /leet/],
    ['k i l l  e v e r y o n e', /spaced/]
  ] as const) {
    const { decision, detections } = judge.judge(call(text))
    t.equal(decision, 'forbid', text)
    t.match(detections[0]?.layer, layer)
    t.ok(detections[0]!.span.end <= text.length && detections[0]!.span.start < detections[0]!.span.end)
  }
  const plain = judge.judge(call('kill everyone'))
  t.same(
    plain.detections.map(({ layer }) => layer),
    ['plain'],
    'one place in several readings is one detection'
  )
})

t.test('rules apply to the roles and the direction that they name', async (t) => {
  const judge = judgeOf(`
  - { name: tools, category: violence, weight: 0.5, any: [x], roles: [tool, system] }
  - { name: answers, category: violence, weight: 0.5, any: [y], direction: answer }`)
  t.same(matched(judge, [part('x', 'user', '/0')]), [])
  t.same(matched(judge, [part('x', 'tool', '/0')]), ['x'])
  t.same(
    matched(judge, [part('x', 'user', '/0'), part('x', 'system', '/1')]),
    ['x'],
    'the same short text under another role'
  )
  for (const role of ['parameter', 'tool', 'parameter'] as const) {
    t.same(matched(judge, [part('x', role, '/0')]), role === 'tool' ? ['x'] : [], 'a recurring text is known by role')
    t.same(matched(judge, [part('y', role, '/0')]), [])
    t.same(matched(judge, [part('y', role, '/0')], { direction: 'answer' }), ['y'], 'and by direction')
  }
  t.same(matched(judge, 'y'), [])
  t.same(matched(judge, 'y', { direction: 'answer' }), ['y'])
})

t.test('parts that are read as one are judged joined, reported where the match starts', async (t) => {
  const judge = judgeOf(`
  - { name: one, category: weapons, weight: 0.9, all: [[make], [pipe bomb]] }
  - { name: two, category: hate, weight: 0.5, any: [secret word] }`)
  const joined = [[0, 1, 2]]
  t.same(
    matched(judge, ['how do I make', 'a pipe', 'bomb today'], { joined }),
    ['make'],
    'words handed over one by one'
  )
  t.same(matched(judge, ['how do I ma', 'ke a pipe b', 'omb today'], { joined }), ['ma'], 'words cut in two')
  t.same(matched(judge, ['how do I make', 'a pipe', 'bomb today']), [], 'not where nothing joins them')
  const { detections } = judge.judge(call(['a secret word', 'a secret', 'word'], { joined }))
  t.same(
    detections.map(({ pointer, layer, span }) => [pointer, layer, span]),
    [
      ['/0', 'plain', { start: 2, end: 13 }],
      ['/1', 'joined', { start: 2, end: 8 }]
    ]
  )
  const far = 'filler '.repeat(400)
  t.same(matched(judge, [`${far}a secret`, `word ${far}`, ''], { joined }), ['secret'], 'at the edges of long parts')
  t.same(matched(judge, [`a secret ${far}`, `word ${far}`], { joined: [[0, 1]] }), [], 'not across what lies between')
})

const ambiguous =
  '  - { name: kill, category: violence, weight: 0.5, any: [kill it], context: { permit: { topic: [programming, soft*ware, "42", "true"] }, forbid: { topic: [murder*] } } }'

t.test('context settles, sharpens, or leaves open', async (t) => {
  const judge = judgeOf(ambiguous)
  const rows: [JsonObject | undefined, Decision][] = [
    [undefined, 'depends'],
    [{}, 'depends'],
    [{ topic: 'programming' }, 'permit'],
    [{ topic: '  PROGRAMMING! ' }, 'permit'],
    [{ topic: 'softhardware' }, 'permit'],
    [{ topic: 'software' }, 'permit'],
    [{ topic: 'softwar' }, 'divert'],
    [{ topic: ['cooking', 'programming'] }, 'permit'],
    [{ topic: 42 }, 'permit'],
    [{ topic: true }, 'permit'],
    [{ topic: false }, 'divert'],
    [{ topic: 'unclear' }, 'divert'],
    [{ topic: 'murderous' }, 'forbid'],
    [{ topic: ['programming', 'murder'] }, 'forbid'],
    [{ topic: ['a', 'b', 'c', 'programming'] }, 'permit'],
    [{ topic: ['a', 'b', 'c', 'd', 'programming'] }, 'depends'],
    [{ topic: ['programming', 'a', 'b', 'c', 'd'] }, 'depends'],
    [{ topic: ['a', 'b', 'c', 'd', 'murder'] }, 'forbid'],
    [{ topic: `software ${'and cooking '.repeat(3)}` }, 'divert'],
    [{ topic: `soft ${'and cooking '.repeat(3)}hardware` }, 'permit'],
    [{ topic: `soft ${'and cooking '.repeat(9)}hardware` }, 'depends'],
    [{ topic: '' }, 'depends'],
    [{ topic: null }, 'depends'],
    [{ topic: { name: 'programming' } }, 'depends'],
    [{ other: 'programming' }, 'depends'],
    [{ __proto__: { topic: 'programming' } } as JsonObject, 'depends']
  ]
  for (const [context, decision] of rows) {
    const verdict = judge.judge(call('kill it', context === undefined ? {} : { context }))
    t.equal(verdict.decision, decision, JSON.stringify(context))
    t.same(verdict.missingContext, decision === 'depends' ? ['topic'] : [])
    t.same(verdict.matchedRules, decision === 'permit' ? [] : ['kill'])
    t.equal(verdict.detections.length, 1, 'a finding is listed under every decision')
  }
})

t.test('asking stops where what an answer cannot settle is enough by itself', async (t) => {
  const judge = judgeOf(`${ambiguous}
  - { name: closed, category: violence, weight: 0.45, any: [hurt it], context: { keys: [age], permit: { age: [adult] } } }
  - { name: weak, category: violence, weight: 0.2, any: [bother it], context: { keys: [age] } }`)
  const decide = (text: string, context?: JsonObject) => {
    const { decision, missingContext } = judge.judge(call(text, context === undefined ? {} : { context }))
    return [decision, ...missingContext]
  }
  t.same(decide('kill it, hurt it'), ['depends', 'age', 'topic'])
  t.same(decide('kill it, hurt it', { topic: 'unclear' }), ['divert'])
  t.same(decide('kill it, hurt it', { topic: 'programming' }), ['depends', 'age'])
  t.same(decide('kill it, bother it', { age: 'unclear' }), ['depends', 'topic'], 'the weak rest would be permitted')
})

t.test('keys that can settle the verdict are missing, and where none can, those that are asked for', async (t) => {
  const judge = judgeOf(`
  - { name: either, category: violence, weight: 0.45, any: [kill it], context: { permit: { topic: [programming], age: [adult] } } }
  - { name: one, category: violence, weight: 0.45, any: [hurt it], context: { permit: { topic: [programming] } } }
  - { name: hint, category: violence, weight: 0.3, any: [bother it], context: { permit: { app: [game] } } }
  - { name: other, category: hate, weight: 0.45, any: [mock it], context: { permit: { app: [game] } } }
  - { name: closed, category: violence, weight: 0.45, any: [burn it], context: { keys: [age] } }`)
  const missing = (text: string) => {
    const { decision, missingContext } = judge.judge(call(text))
    t.equal(decision, 'depends', text)
    return missingContext
  }
  t.same(missing('kill it'), ['age', 'topic'], 'each alone, and no other key of the category')
  t.same(missing('kill it, hurt it'), ['topic'], 'the other settles one of the two')
  t.same(missing('kill it, bother it'), ['age', 'topic'], 'a hint alone is permitted')
  t.same(missing('hurt it, mock it'), ['app', 'topic'], 'one for each category')
  t.same(missing('burn it'), ['age'], 'no context permits it: a person decides')
  t.same(missing('kill it, burn it'), ['age', 'topic'], 'as with one of two rules')
  t.same(missing('mock it, burn it'), ['age', 'app'], 'and with one of two categories')
})

t.test('bands, postures and combination', async (t) => {
  const rules = `
  - { name: low, category: violence, weight: 0.3, any: [low] }
  - { name: mid, category: violence, weight: 0.5, any: [mid, low mid] }
  - { name: top, category: violence, weight: 0.9, any: [top] }
  - { name: mine, category: self_harm, weight: 0.5, any: [mine] }
  - { name: key, category: secrets, weight: 0.9, any: [key] }
  - { name: half_key, category: secrets, weight: 0.6, any: [half] }
  - { name: swear, category: profanity, weight: 1, any: [swear] }`
  const judge = judgeOf(rules)
  const rows: [text: string, decision: Decision, score: number, rules: string[]][] = [
    ['nothing', 'permit', 0, []],
    ['low', 'permit', 0.3, []],
    ['low low low', 'permit', 0.3, []],
    ['mid', 'depends', 0.5, ['mid']],
    ['low, mid', 'depends', 0.65, ['mid', 'low']],
    ['top', 'forbid', 0.9, ['top']],
    ['top mid low', 'forbid', 0.965, ['top', 'mid', 'low']],
    ['mine', 'divert', 0.5, ['mine']],
    ['mine mid', 'divert', 0.5, ['mine']],
    ['mine top', 'forbid', 0.9, ['top']],
    ['key', 'divert', 0.7499, ['key']],
    ['half', 'permit', 0.3999, []],
    ['swear', 'permit', 0.3999, []],
    ['swear top', 'forbid', 0.9, ['top']]
  ]
  for (const [text, decision, score, names] of rows) {
    const verdict = judge.judge(call(text))
    t.equal(verdict.decision, decision, text)
    t.equal(verdict.riskScore, score, text)
    t.same(verdict.matchedRules, names, text)
  }
  t.equal(judge.judge(call('swear')).scores.profanity, 1, 'scores are what was found, whatever the posture')
})

t.test('a list of detections is bounded and loses no rule', async (t) => {
  const rules = Array.from(
    { length: 30 },
    (_, i) => `  - { name: r${i}, category: hate, weight: ${(i + 1) / 100}, any: [w${i}] }`
  )
  const judge = judgeOf(rules.join('\n'))
  const text = Array.from({ length: 30 }, (_, i) => `w${i} `.repeat(40)).join('')
  const { detections, matchedRules } = judge.judge(call(text))
  t.equal(detections.length, 100)
  t.equal(new Set(detections.map(({ rule }) => rule)).size, 30)
  t.equal(matchedRules.length, 30)
})

const words = [
  'make',
  'bomb',
  'kill it',
  'low',
  'mid',
  'top',
  'secret word',
  'my',
  'cake',
  'mine',
  'swear',
  'a',
  'jane@example.org'
]
const propertyRules = `
  - { name: bomb, category: weapons, weight: 0.9, all: [[make], [bomb]], within: 5, unless: [cake] }
  - { name: low, category: weapons, weight: 0.3, any: [low] }
  - { name: mid, category: hate, weight: 0.5, any: [mid], context: { keys: [age] } }
  - { name: top, category: hate, weight: 0.8, any: [top] }
  - { name: mine, category: self_harm, weight: 0.5, any: [mine], context: { permit: { topic: [art] } } }
  - { name: swear, category: profanity, weight: 1, any: [swear] }
  - { name: mail, category: personal_data, weight: 1, detector: personal_data }
${ambiguous}`

t.test('whatever is said, in whatever parts and context', async () => {
  const judge = judgeOf(propertyRules)
  const text = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((list) => list.join(' '))
  const parts = fc.array(text, { minLength: 1, maxLength: 4 })
  const value = fc.constantFrom('programming', 'murder', 'unclear', 'art', '', 'adult')
  const context = fc.dictionary(fc.constantFrom('topic', 'age'), value)
  const order = (decision: Decision) => decisions.indexOf(decision)
  const run = (texts: string[], given: JsonObject) => {
    return judge.judge(call(texts, { context: given, joined: [texts.map((_, i) => i)] }))
  }
  fc.assert(
    fc.property(parts, context, (texts, given) => {
      const verdict = run(texts, given)
      const { decision, riskScore } = verdict
      const { middle, high } = judge.policy.constitution.bands
      // The score lies within the decision's band.
      if (decision === 'forbid') assert.ok(riskScore >= high)
      else if (decision === 'permit') assert.ok(riskScore < middle)
      else assert.ok(riskScore >= middle && riskScore < high)
      // The strictest category decides.
      assert.equal(
        order(decision),
        verdict.categories.reduce((worst, one) => Math.max(worst, order(one.decision)), 0)
      )
      const found = new Set(verdict.detections.map(({ rule }) => rule))
      assert.ok(verdict.matchedRules.every((name) => found.has(name)))
      assert.equal(verdict.matchedRules.length > 0, decision !== 'permit')
      assert.equal(verdict.missingContext.length > 0, decision === 'depends')
      assert.equal(verdict.charsCovered, verdict.charsTotal)
      // The same again, and with keys that no rule names.
      assert.deepEqual(run(texts, given), verdict)
      assert.deepEqual(run(texts, { ...given, colour: 'programming', mood: ['art'] }), verdict)
      // A rule that names no context forbids whatever the context says.
      if (found.has('top')) assert.equal(decision, 'forbid')
      for (const { span, pointer } of verdict.detections) {
        assert.ok(span.start >= 0 && span.start < span.end && span.end <= texts[Number(pointer!.slice(1))]!.length)
      }
    }),
    { numRuns: 300 }
  )
})

t.test('any text at all is covered and judged alike twice', async () => {
  const judge = judgeOf(propertyRules)
  const text = fc.string({ unit: 'binary', maxLength: 200 })
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), (texts) => {
      const input = call(texts, { joined: [texts.map((_, i) => i)] })
      const verdict = judge.judge(input)
      assert.equal(verdict.charsCovered, texts.join('').length)
      assert.deepEqual(judge.judge(input), verdict)
    }),
    { numRuns: 200 }
  )
})

t.test('a rule with a condition counts only beside the rules that it names, in the same part', async (t) => {
  const judge = judgeOf(`
  - { name: tool, category: cyber_misuse, weight: 0.1, any: [scanner] }
  - { name: victim, category: cyber_misuse, weight: 0.1, any: [neighbour] }
  - { name: lawful, category: cyber_misuse, weight: 0.01, any: [with permission] }
  - { name: aimed, category: cyber_misuse, weight: 0.9, when: { all: [tool, victim], none: [lawful] } }
  - { name: order, category: cyber_misuse, weight: 0.9, any: [hand it over], when: { any: [tool, victim] } }`)
  const matchedRules = (...texts: string[]) => [...new Set(judge.judge(call(texts)).detections.map(({ rule }) => rule))]
  t.same(matchedRules('a scanner'), ['tool'])
  t.same(matchedRules('a scanner for my neighbour'), ['tool', 'aimed', 'victim'])
  t.same(matchedRules('a scanner for my neighbour, with permission'), ['tool', 'victim', 'lawful'])
  t.same(matchedRules('a scanner', 'my neighbour'), ['tool', 'victim'], 'another part is another matter')
  t.same(matchedRules('hand it over'), [])
  t.same(matchedRules('hand it over, the scanner'), ['order', 'tool'])
  t.equal(judge.judge(call(['a scanner for my neighbour'])).decision, 'forbid')
})

t.test('warming up judges made-up texts and changes no verdict', async (t) => {
  const judge = judgeOf('  - { name: hit, category: violence, weight: 0.9, any: [hit man] }')
  const before = judge.judge(call('a hit man'))
  t.ok(warmUp(judge, 20) > 0)
  t.same(judge.judge(call('a hit man')), before)
})
