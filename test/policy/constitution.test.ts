import t from 'tap'
import { detectors } from '../../src/detectors/index.js'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { ConstitutionError } from '../../src/policy/constitution/problems.js'
import { categories } from '../../src/policy/evaluation.js'
import { source } from './support.js'

const rule = '  - { name: one, category: violence, weight: 0.5, any: [stab*] }'
const good = source({ rules: rule })

/** What is wrong, the text, and per problem the path and what its message must say. */
const mistakes: [string, string, [path: string, says: RegExp][]][] = [
  ['not YAML', 'name: [', [['', /./]]],
  ['an empty file', '', [['', /type object/]]],
  ['a list', '- name', [['', /type object/]]],
  ['a duplicate key', good.replace("version: '1'", "version: '1'\nversion: '2'"), [['', /unique/]]],
  [
    'a key that is a collection',
    good.replace("version: '1'", "version: '1'\n{ x: y }: 2"),
    [['', /keys must be strings/]]
  ],
  ['a duplicate category', good.replace('  hate:', '  violence: {}\n  hate:'), [['', /unique/]]],
  ['an unknown field at the top', `${good}\nrule: []`, [['rule', /unknown field; accepted here: .*rules/]]],
  ['a missing name', good.replace('name: default\n', ''), [['', /"name" is missing/]]],
  ['a name in upper case', good.replace('name: default', 'name: Default'), [['name', /must match/]]],
  ['a version that is a number', good.replace("version: '1'", 'version: 1'), [['version', /type string \(quote it\)/]]],
  ['a band out of range', good.replace('high: 0.75', 'high: 1.5'), [['bands.high', /<= 1/]]],
  ['bands the wrong way round', good.replace('middle: 0.40', 'middle: 0.80'), [['bands.high', /above bands.middle/]]],
  [
    'a missing category',
    good.replace(/ {2}weapons: .*\n/, ''),
    [['categories', /"weapons" is missing .*every category/]]
  ],
  [
    'an unknown category in the list',
    good.replace('  hate:', '  greed: {}\n  hate:'),
    [['categories.greed', /unknown field; .*hate, harassment/]]
  ],
  [
    'an unknown posture',
    source({ rules: rule, posture: { hate: '{ high: block, middle: ask }' } }),
    [['categories.hate.high', /one of: forbid, divert, permit/]]
  ],
  [
    'an unknown middle',
    source({ rules: rule, posture: { hate: '{ high: forbid, middle: forbid }' } }),
    [['categories.hate.middle', /one of: ask, divert, permit/]]
  ],
  ['no rules', source({ rules: '  []' }), [['rules', /at least 1/]]],
  [
    'a rule of an unknown category',
    good.replace('category: violence', 'category: greed'),
    [['rules[0].category', /one of: hate, .*profanity/]]
  ],
  [
    'a type that is the engine’s own',
    good.replace('weight', 'type: session_risk, weight'),
    [['rules[0].type', /one of: policy_violation/]]
  ],
  [
    'an unknown field of a rule',
    good.replace('any:', 'phrases: [x], any:'),
    [['rules[0].phrases', /unknown field; accepted here: name, .*unless/]]
  ],
  ['a weight above 1', good.replace('0.5', '1.5'), [['rules[0].weight', /<= 1/]]],
  ['a weight of 0', good.replace('0.5', '0'), [['rules[0].weight', /> 0/]]],
  ['a weight that is text', good.replace('0.5', 'high'), [['rules[0].weight', /type number/]]],
  ['a rule without a name', good.replace('name: one, ', ''), [['rules[0]', /"name" is missing/]]],
  ['a rule’s name with a space', good.replace('name: one', 'name: one two'), [['rules[0].name', /must match/]]],
  [
    'two rules of one name',
    source({ rules: `${rule}\n${rule}` }),
    [['rules[1].name', /"one" is the name of rules\[0\] already/]]
  ],
  [
    'a rule that matches nothing',
    good.replace(', any: [stab*]', ''),
    [['rules[0]', /matches nothing: give any, all, patterns, formats, detector/]]
  ],
  ['an empty list of phrases', good.replace('[stab*]', '[]'), [['rules[0].any', /at least 1/]]],
  [
    'a phrase that is a number',
    good.replace('[stab*]', '[stab, 911]'),
    [['rules[0].any[1]', /type string \(quote it\)/]]
  ],
  ['an empty phrase', good.replace('[stab*]', "['']"), [['rules[0].any[0]', /must not be empty/]]],
  ['a phrase of punctuation', good.replace('[stab*]', "['?!']"), [['rules[0].any[0]', /no letter or digit/]]],
  ['a star inside a phrase', good.replace('[stab*]', "['st*b']"), [['rules[0].any[0]', /only at the end/]]],
  ['a star alone', good.replace('[stab*]', "['stab *']"), [['rules[0].any[0]', /must follow a letter/]]],
  [
    'an unknown lexicon',
    good.replace('[stab*]', '[$knives]'),
    [['rules[0].any[0]', /unknown lexicon "\$knives"; known: none/]]
  ],
  [
    'an unknown lexicon beside others',
    source({ rules: rule.replace('stab*', '$knife'), lexicons: 'knives: [knife]' }),
    [['rules[0].any[0]', /known: \$knives/]]
  ],
  [
    'a lexicon that includes itself',
    source({ rules: rule, lexicons: 'a: [$b]\nb: [x, $a]' }),
    [['lexicons.a', /includes itself: \$a → \$b → \$a/]]
  ],
  [
    'a lexicon that includes an unknown one',
    source({ rules: rule, lexicons: 'a: [$b]' }),
    [['lexicons.a[0]', /unknown lexicon "\$b"/]]
  ],
  [
    'a lexicon’s name in upper case',
    source({ rules: rule, lexicons: 'Knives: [x]' }),
    [['lexicons.Knives', /name must match/]]
  ],
  ['one group of all', good.replace('any: [stab*]', 'all: [[stab]]'), [['rules[0].all', /at least 2/]]],
  ['an empty group of all', good.replace('any: [stab*]', 'all: [[stab], []]'), [['rules[0].all[1]', /at least 1/]]],
  [
    'within out of range',
    good.replace('any: [stab*]', 'all: [[stab], [him]], within: 51'),
    [['rules[0].within', /<= 50/]]
  ],
  ['within without all', good.replace('any:', 'within: 5, any:'), [['rules[0].within', /no effect without "all"/]]],
  [
    'alone without phrases',
    good.replace('any: [stab*]', 'detector: classifier, alone: 2'),
    [['rules[0].alone', /no effect without "any" or "all"/]]
  ],
  [
    'ordered without all',
    good.replace('any:', 'ordered: true, any:'),
    [['rules[0].ordered', /no effect without "all"/]]
  ],
  [
    'unless_within without unless',
    good.replace('any:', 'unless_within: 3, any:'),
    [['rules[0].unless_within', /without "unless"/]]
  ],
  [
    'a pattern without anchors',
    good.replace('any: [stab*]', "patterns: [{ regex: 'x+' }]"),
    [['rules[0].patterns[0]', /"anchors" is missing/]]
  ],
  [
    'a pattern with no anchor',
    good.replace('any: [stab*]', "patterns: [{ anchors: [], regex: 'x+' }]"),
    [['rules[0].patterns[0].anchors', /at least 1/]]
  ],
  [
    'a look-ahead',
    good.replace('any: [stab*]', "patterns: [{ anchors: [x], regex: '(?=x)y' }]"),
    [['rules[0].patterns[0].regex', /not a linear-time \(RE2\) pattern/]]
  ],
  [
    'a back-reference',
    good.replace('any: [stab*]', "patterns: [{ anchors: [x], regex: '(x)\\1' }]"),
    [['rules[0].patterns[0].regex', /not a linear-time/]]
  ],
  [
    'a pattern that matches nothing at all',
    good.replace('any: [stab*]', "patterns: [{ anchors: [x], regex: 'x*' }]"),
    [['rules[0].patterns[0].regex', /matches the empty text/]]
  ],
  [
    'a pattern that is too large',
    good.replace('any: [stab*]', "patterns: [{ anchors: [x], regex: '(?:abcdefghij){800}' }]"),
    [['rules[0].patterns[0].regex', /too large/]]
  ],
  [
    'a reach out of range',
    good.replace('any: [stab*]', "patterns: [{ anchors: [x], regex: 'x+', reach: 1001 }]"),
    [['rules[0].patterns[0].reach', /<= 500/]]
  ],
  [
    'an unknown detector',
    good.replace('any: [stab*]', 'detector: mind_reader'),
    [['rules[0].detector', /unknown detector; known: .*personal_data/]]
  ],
  [
    'an unknown kind',
    good.replace('any: [stab*]', 'detector: personal_data, kinds: [soul]'),
    [['rules[0].kinds[0]', /unknown kind; "personal_data" finds: .*email/]]
  ],
  [
    'kinds without a detector',
    good.replace('any:', 'kinds: [email], any:'),
    [['rules[0].kinds', /no effect without "detector"/]]
  ],
  [
    'a confidence out of range',
    good.replace('any: [stab*]', 'detector: personal_data, min_confidence: 2'),
    [['rules[0].min_confidence', /<= 1/]]
  ],
  ['an unknown role', good.replace('any:', 'roles: [narrator], any:'), [['rules[0].roles[0]', /one of: system, user/]]],
  [
    'an unknown direction',
    good.replace('any:', 'direction: up, any:'),
    [['rules[0].direction', /one of: request, answer, both/]]
  ],
  [
    'an unknown field of context',
    good.replace('any:', 'context: { allow: {} }, any:'),
    [['rules[0].context.allow', /unknown field; accepted here: keys, permit, forbid/]]
  ],
  [
    'a context value that is not a list',
    good.replace('any:', 'context: { permit: { topic: code } }, any:'),
    [['rules[0].context.permit.topic', /type array/]]
  ],
  [
    'a condition on a rule that does not exist, and on the rule itself',
    good.replace('any:', 'when: { all: [nonesuch], none: [one] }, any:'),
    [
      ['rules[0].when.all[0]', /there is no rule "nonesuch"/],
      ['rules[0].when.none[0]', /must stand before/]
    ]
  ],
  ['an empty condition', good.replace('any:', 'when: {}, any:'), [['rules[0].when', /fewer than 1/]]],
  [
    'a session that counts for more than half',
    good.replace('rules:', 'session: { most: 0.9 }\nrules:'),
    [['session.most', /<= 0.5/]]
  ],
  [
    'several mistakes at once',
    good.replace('0.5', '7').replace('category: violence', 'category: greed'),
    [
      ['rules[0].category', /one of/],
      ['rules[0].weight', /<= 1/]
    ]
  ]
]

for (const [what, yaml, expected] of mistakes) {
  t.test(`${what} is refused with its place and what is accepted`, async (t) => {
    let error: unknown
    try {
      parseConstitution(yaml, 'bad.yaml')
    } catch (thrown) {
      error = thrown
    }
    if (!(error instanceof ConstitutionError)) throw new Error('no ConstitutionError was thrown', { cause: error })
    t.equal(error.problems.length, expected.length, error.message)
    for (const [i, [path, says]] of expected.entries()) {
      const problem = error.problems.find((one) => one.path === path && says.test(one.message))
      t.ok(problem, `problem ${i} at "${path}" says ${says}: ${error.message}`)
    }
    t.match(error.message, /^bad\.yaml:\d+:\d+ /m)
  })
}

t.test('where a closed set is accepted, it comes as a list too', async (t) => {
  const yaml = source({
    lexicons: 'words: [a]',
    rules: `
  - { name: a, category: greed, weight: 0.5, any: [x] }
  - { name: b, category: hate, weight: 0.5, any: [x], colour: red }`
  })
  const problemsOf = (text: string) => {
    try {
      parseConstitution(text, 'bad.yaml')
    } catch (error) {
      if (error instanceof ConstitutionError) return error.problems
    }
    throw new Error('no ConstitutionError was thrown')
  }
  const [category, field] = problemsOf(yaml)
  t.same(category?.accepted, [...categories])
  t.ok(field?.accepted?.includes('unless'))
  const named = source({
    lexicons: 'words: [a]',
    rules: `
  - { name: a, category: hate, weight: 0.5, any: [$wrods] }
  - { name: b, category: hate, weight: 0.5, detector: persons }
  - { name: c, category: hate, weight: 0.5, detector: obfuscation, kinds: [ghost] }`
  })
  const [lexicon, detector, kind] = problemsOf(named)
  t.same(lexicon?.accepted, ['$words'])
  t.ok(detector?.accepted?.includes('secrets'))
  t.ok(kind?.accepted?.includes('hidden_text'))
})

t.test('line and column point at the value, and at the key where the key is what is wrong', async (t) => {
  const yaml = source({
    rules: `${rule}\n  - name: two\n    category: violence\n    weight: 3\n    colour: red\n    any: [x]`
  })
  const line = yaml.split('\n').indexOf('    weight: 3') + 1
  let error: unknown
  try {
    parseConstitution(yaml, 'bad.yaml')
  } catch (thrown) {
    error = thrown
  }
  const at = (path: string) => (error as ConstitutionError).problems.find((problem) => problem.path === path)
  t.match(at('rules[1].weight'), { line, column: 13 })
  t.match(at('rules[1].colour'), { line: line + 1, column: 5 })
})

t.test(
  'a phrase that loses signs at the end of a word gets a warning at its place, and a pattern keeps them',
  async (t) => {
    const { warnings } = parseConstitution(
      source({
        lexicons: "tags: ['#metoo', 'me too']",
        rules: `
  - { name: a, category: violence, weight: 0.5, any: [C++, .NET, don't, e-mail, 'Why?', '¿qué?', '«x»', U.S., kill*, $tags] }
  - { name: b, category: violence, weight: 0.5, all: [[C# code], [x]], patterns: [{ anchors: [C++], regex: 'C\\+\\+' }] }`
      }),
      'signs.yaml'
    )
    t.same(
      warnings.map(({ path }) => path),
      ['lexicons.tags[0]', 'rules[0].any[0]', 'rules[0].any[1]', 'rules[1].all[0][0]']
    )
    t.match(warnings[1], { line: Number, message: /"C\+\+" matches every "c"; "patterns" keeps signs/ })
  }
)

t.test('defaults are filled in and lexicons expanded once each', async (t) => {
  const { rules, bands } = parseConstitution(
    source({
      lexicons: 'a: [x, $b]\nb: [y, x]',
      rules:
        '  - { name: one, category: jailbreak, weight: 1, any: [$a, $b, z] }\n  - { name: two, category: secrets, weight: 1, any: [z], context: { permit: { app: [ci] } } }'
    }),
    'good.yaml'
  )
  t.match(rules[0], {
    type: 'jailbreak',
    any: ['x', 'y', 'z'],
    within: 10,
    unlessWithin: 6,
    direction: 'both',
    roles: undefined
  })
  t.same(rules[0]?.context.keys, ['topic'], 'the category’s keys')
  t.same(rules[1]?.context.keys, ['app'], 'a key that permits could settle it')
  t.equal(rules[1]?.type, 'secret')
  t.same(bands, { middle: 0.4, high: 0.75 })
})

t.test('every problem is reported at once, whatever it takes to find it', async (t) => {
  const text = `name: mine
version: '1'
extends: default
bandz: { middle: 0.5, high: 0.8 }
categories: { violence: { high: maybe } }
lexicons: { own: [7] }
without: [no_such_rule]
rules:
  - { name: a, category: violence, weight: 2, any: [$none] }
  - { name: b, category: violence, weight: 0.5, any: [$none, $own] }
  - { name: c, category: violence, weight: 0.5, patterns: [{ anchors: [x], regex: "(" }] }
  - { name: d, category: violence, weight: 0.5, any: [x], when: { all: [none, a] } }
  - { name: ambiguous_kill, weigt: 1 }
escalate: [{ judge: none, from: high }]
`
  const paths = (text: string) => {
    try {
      parseConstitution(text, 'mine.yaml')
    } catch (error) {
      if (error instanceof ConstitutionError) return error.problems.map(({ path }) => path).sort()
      throw error
    }
    return []
  }
  t.same(paths(text), [
    'bandz',
    'categories.violence.high',
    'escalate[0].from',
    'lexicons.own[0]',
    'rules[0].weight',
    'rules[1].any[0]',
    'rules[2].patterns[0].regex',
    'rules[3].when.all[0]',
    'rules[4].weigt',
    'without[0]'
  ])
  const overlay = "name: mine\nversion: '1'\nextends: default\n"
  t.same(
    paths(`${overlay}without: [no_such_rule]
rules:
  - { name: a, weight: 0.5, any: [x] }
  - { name: b, category: violence, weight: 0.5, detector: classifer }
  - { name: c, category: violence, weight: 0.5, any: [x], when: { all: [a] } }
`),
    ['rules[0]', 'rules[1].detector', 'without[0]'],
    'a new rule that lacks a field hides nothing'
  )
  const twice = `${overlay}rules:
  - { name: screen, weight: 0.5 }
  - { name: own, category: violence, weight: 0.5, any: [x] }
  - { name: own, category: violence, weight: 0.5, any: [y] }
`
  t.throws(() => parseConstitution(twice, 'mine.yaml'), {
    message: /\nmine\.yaml:7:\d+ rules\[2\]\.name: "own" is the name of rules\[1\] already$/
  })
  t.same(paths('name: 1\n').length > 1, true, 'where most is missing, what is missing')
  t.same(paths('7\n'), [''])
})

t.test('aliases that multiply are refused before they fill the memory', async (t) => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x]',
    ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${`*${'abcdefgh'[i]},`.repeat(8).slice(0, -1)}]`)
  ]
  t.throws(() => parseConstitution(bomb.join('\n'), 'bomb.yaml'), ConstitutionError)
  t.throws(() => parseConstitution('x'.repeat(5_000_000), 'huge.yaml'), /longer than/)
})

t.test('every detector and each of its kinds can be named', async (t) => {
  for (const { id, kinds } of detectors) {
    const yaml = source({
      rules: `  - { name: one, category: violence, weight: 1, detector: ${id}, kinds: [${kinds.join(', ')}] }`
    })
    t.equal(parseConstitution(yaml, 'good.yaml').rules[0]?.detector?.id, id)
  }
})

t.test('an unknown name is told the nearest accepted ones', async (t) => {
  const told = (text: string) => {
    try {
      parseConstitution(text, 'mine.yaml')
    } catch (error) {
      if (error instanceof ConstitutionError) return error.problems.map(({ path, message }) => [path, message])
      throw error
    }
    return []
  }
  const overlay = (base: string, more = '') => `name: mine\nversion: '1'\nextends: ${base}\n${more}`
  t.match(told(overlay('defualt')), [['extends', /did you mean "default"\?$/]])
  const problems = told(
    overlay(
      'default',
      `without: [reader_gaurded]
lists: [gaurded]
lexicons: { our_words: [x] }
categories: { violense: { high: forbid } }
rules:
  - { name: own_rule, category: secrts, weight: 0.5, any: [x] }
  - { name: b, category: violence, weight: 0.5, any: [x], when: { all: [onw_rule] } }
  - { name: c, category: violence, weight: 0.5, detector: classifer }
  - { name: d, category: violence, weight: 0.5, detector: obfuscation, kinds: [hiden_text] }
  - { name: e, category: violence, weight: 0.5, any: [$our_wrds] }
  - { name: f, category: violence, weight: 0.5, formats: [forged_trun] }
`
    )
  )
  const near = Object.fromEntries(problems.map(([path, message]) => [path, message?.split('; did you mean ')[1]]))
  t.match(near, {
    'without[0]': /^"reader_guarded"/,
    'lists[0]': /^"guarded"/,
    'categories.violense': /^"violence"/,
    'rules[0].category': /^"secrets"/,
    'rules[1].when.all[0]': /^"own_rule"/,
    'rules[2].detector': /^"classifier"/,
    'rules[3].kinds[0]': /^"hidden_text"/,
    'rules[4].any[0]': /^"\$our_words"/,
    'rules[5].formats[0]': /^"forged_turn"/
  })
})
