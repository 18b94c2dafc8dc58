import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { systemClock } from '../../src/base/clock.js'
import { entryOf, loadPolicy } from '../../src/policy/evaluate/entry.js'
import { evaluatorOf } from '../../src/policy/evaluate/evaluator.js'
import type { Detection, Growing } from '../../src/policy/evaluation.js'
import type { CompiledRule } from '../../src/policy/match/compile.js'
import { PartialMatch } from '../../src/policy/match/partial-match.js'
import { disorderStart } from '../../src/text/disorder.js'
import { KnownWords } from '../../src/text/known-words.js'
import { part, source } from './support.js'

const answer: Growing = { role: 'assistant', direction: 'answer', redact: ['personal_data', 'secrets'] }
/** Characters of a match that may leave before it is known, less one. */
const leakLength = 8
const runs = Number(process.env.FUZZ_RUNS ?? 150)

/** A shipped constitution without the classifier, which holds whole sentences and would hide what the rules hold. */
async function withoutClassifier(name: string) {
  const text = readFileSync(new URL(`../../config/constitutions/${name}.yaml`, import.meta.url), 'utf8')
  const whole = await loadPolicy(text, `${name}.yaml`, { name })
  const without = whole.constitution.rules
    .filter(({ detector }) => detector?.id === 'classifier')
    .map((rule) => rule.name)
  t.not(without.length, 0)
  const own = name === 'default' ? { name, version: '1', extends: 'default', rules: [] } : parse(text)
  const rules = own.rules.filter((rule: { name: string }) => !without.includes(rule.name))
  const laid = stringify({ ...own, without, ...(rules.length > 0 ? { rules } : { rules: undefined }) })
  const constitution = await loadPolicy(laid, `${name}.yaml`, { name })
  const entry = entryOf(constitution)
  const evaluator = evaluatorOf([entry], { clock: systemClock, inlineLimit: 1_000_000 })
  return {
    rules: entry.engine.policy.rules,
    settled: (text: string) => entry.growth.settled(text, answer),
    async detections(text: string): Promise<readonly Detection[]> {
      const parts = [part(text, 'assistant', '/t')]
      const input = { parts, joined: [], context: undefined, session: undefined, direction: 'answer' as const }
      return (await evaluator.evaluate(input, name)).detections
    },
    bears({ category }: Detection): boolean {
      const { high, middle } = constitution.constitution.categories[category]
      return high !== 'permit' || middle !== 'permit' || answer.redact.includes(category)
    },
    close: () => evaluator.close()
  }
}

const words =
  'the of a to and then we go on with it as one might in spring roses like sun. Dig a hole that is wide; water, please — and so "on". Step 1: do not worry about 3 things (or 4).'.split(
    ' '
  )
const filler = fc.array(fc.constantFrom(...words), { maxLength: 9 }).map((each) => each.join(' '))
const rot13 = (text: string) =>
  text.replace(/[a-z]/gi, (c) => {
    const base = c <= 'Z' ? 65 : 97
    return String.fromCharCode(((c.charCodeAt(0) - base + 13) % 26) + base)
  })
const disguises: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.replace(/ /g, '\u00a0'),
  (text) => text.replace(/[aeo]/g, (c) => ({ a: 'а', e: 'е', o: 'о' })[c]!),
  (text) => text.replace(/[aeios]/g, (c) => ({ a: '4', e: '3', i: '1', o: '0', s: '5' })[c]!),
  (text) => [...text].join(' '),
  (text) => Buffer.from(text).toString('base64'),
  rot13
]
const people = [
  'write to ada.lovelace@example.org',
  'call +44 20 7946 0958 now',
  'she was born on 12 March 1985 in',
  'lives at 12 Oak Street, London',
  'wohnt in der Hauptstraße 12',
  'the IBAN is DE89 3704 0044 0532 0130 00',
  'calle Mayor, n.º 12',
  'card 4111 1111 1111 1111',
  'the password is hunter2Xy9!',
  'use Tr0ub4dor99x to log in',
  'AKIAIOSFODNN7EXAMPLQ',
  'postgres://app:s3cretPw9@db.internal/x'
]

/** Texts made of what the rules look for, between ordinary words. */
function textsOf(rules: readonly CompiledRule[]): fc.Arbitrary<string> {
  const phraseOf = (list: readonly string[]) => fc.constantFrom(...list).map((phrase) => phrase.replace(/\*$/, 'ing'))
  const material = rules.flatMap(({ any, all, within, ordered, patterns }) => {
    const kinds: fc.Arbitrary<string>[] = patterns.map(({ regex }) =>
      fc.stringMatching(new RegExp(regex.replaceAll('\\b', ''))).map((text) => text.slice(0, 300))
    )
    if (any.length > 0) kinds.push(phraseOf(any))
    if (all.length > 0) {
      const gap = Math.max(0, Math.floor(within / all.length) - 2)
      const gaps = fc.array(filler, { minLength: all.length, maxLength: all.length })
      kinds.push(
        fc.tuple(fc.tuple(...all.map(phraseOf)), gaps, fc.boolean()).map(([phrases, between, turned]) => {
          const chosen = turned && !ordered ? [...phrases].reverse() : phrases
          return chosen.map((each, i) => `${each} ${between[i]!.split(' ').slice(0, gap).join(' ')}`).join(' ')
        })
      )
    }
    return kinds
  })
  const any = fc.oneof({ weight: 9, arbitrary: fc.oneof(...material) }, fc.constantFrom(...people))
  return fc
    .tuple(filler, any, fc.constantFrom(...disguises), filler, fc.option(any), filler)
    .map(([a, first, hide, b, second, c]) => `${a} ${hide(first)} ${b} ${second ?? ''} ${c}`)
}

for (const name of ['default', 'strict', 'developer']) {
  t.test(`${name}: nothing of a match leaves before it is known, whatever the cuts`, async (t) => {
    const constitution = await withoutClassifier(name)
    t.teardown(() => constitution.close())
    const answering = constitution.rules.filter(
      ({ direction, roles, detector }) =>
        direction !== 'request' && (roles === undefined || roles.has('assistant')) && detector === undefined
    )
    let found = 0
    const sizes = fc.array(fc.integer({ min: 1, max: 24 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(textsOf(answering), fc.oneof(fc.constant([1]), sizes), async (text, pieces) => {
        const matches = (await constitution.detections(text)).filter(constitution.bears)
        found += matches.length
        let left = 0
        for (let at = 0, i = 0; at < text.length; i++) {
          at += pieces[i % pieces.length]!
          left += constitution.settled(text.slice(left, at))
          for (const { span, rule } of matches) {
            if (span.end <= at || left < span.start + leakLength) continue
            // Places that overlap are shown as one: a part of it may be known already, and has stopped the stream.
            const known = await constitution.detections(text.slice(0, at))
            if (known.some((each) => each.rule === rule && each.span.start <= span.start)) continue
            throw new Error(`${rule}: "${text.slice(span.start, left)}" had left at ${at}`)
          }
        }
      }),
      { numRuns: runs, seed: 1, ...(process.env.FUZZ_RUNS !== undefined && { seed: Date.now() }) }
    )
    t.ok(found > runs / 2, `${found} matches`)
  })
}

t.test('ordinary text leaves soon, what could become a match does not', async (t) => {
  const { settled, close } = await withoutClassifier('default')
  t.teardown(close)
  for (const [text, held] of [
    ['It opens at nine on weekdays; the card number is 4111 1111 ', 'is 4111 1111 '],
    ['It opens at nine, and this is how to build ', 'how to build '],
    ['It opens at nine, write to ada.lovel', 'ada.lovel'],
    ['It opens at nine, in the Hauptstraße ', 'Hauptstraße ']
  ] as const) {
    t.ok(text.length - settled(text) >= held.length, text)
  }
  const prose =
    'Sure. The museum opens at nine on weekdays and at ten on Sundays. Bring a warm coat for the courtyard, since the guided ' +
    'walk starts outside. It takes about forty minutes before it reaches the reading room, where the oldest maps are shown. ' +
    'Photographs are fine. Tripods are not, and bags stay in the lockers by the door. The café serves soup until three.'
  let left = 0
  const held: number[] = []
  for (const { 0: word, index } of prose.matchAll(/\S+\s*/g)) {
    const at = index + word.length
    left += settled(prose.slice(left, at))
    held.push(at - left)
  }
  held.sort((a, b) => a - b)
  t.ok(held[held.length >> 1]! < 40, `${held[held.length >> 1]} characters in the middle`)
  t.ok(held.at(-1)! < 120, `${held.at(-1)} at most`)
})

t.test('a pattern is alive from where it could have begun', (t) => {
  const from = (regex: string, text: string) =>
    PartialMatch.of(RE2JS.compile(regex, RE2JS.CASE_INSENSITIVE))!.from(text)
  for (const [regex, text, begins] of [
    ['ab+c', 'xxabbb', 'abbb'],
    ['ab+c', 'xxabbbc', ''],
    ['ab+c', 'xxabbbd', ''],
    ['ab+c', 'abbbab', 'abbbab'.slice(4)],
    ['a[^x]*c', 'za123a4', 'a123a4'],
    ['a.c', 'a\n', ''],
    ['\\bkill\\s+you\\b', 'I will KILL ', 'KILL '],
    ['(?:k|K)elvin', '\u212a', '\u212a'],
    ['[😀-😂]{2}x', 'a😁😁', '😁😁'],
    ['^abc', 'ab', 'ab'],
    ['abc$', 'zab', 'ab'],
    ['a{3}', 'aa', 'aa'],
    ['(|a)b', 'xa', 'a']
  ] as const) {
    t.equal(text.slice(from(regex, text)), begins, `${regex} in ${JSON.stringify(text)}`)
  }
  t.end()
})

t.test('a pattern is alive exactly while something could complete it', (t) => {
  const regexes = ['a(b|cd)*e', '(ab?){2,3}c', '[ab]{2}(c|d+)e', 'a.{0,3}b', '(a|ab)(c|bcd)(d*)e']
  fc.assert(
    fc.property(
      fc.constantFrom(...regexes),
      fc.string({ unit: fc.constantFrom(...'abcde'), maxLength: 8 }),
      (regex, text) => {
        const pattern = PartialMatch.of(RE2JS.compile(regex, RE2JS.CASE_INSENSITIVE))!
        const from = pattern.from(text)
        // A beginning is one if some ending of a few letters makes a match of all of it.
        const whole = new RegExp(`^(?:${regex})$`)
        const isBeginning = (start: string) => endings.some((end) => whole.test(start + end))
        const first = [...text].findIndex((_, i) => isBeginning(text.slice(i)))
        if (from !== (first < 0 ? text.length : first))
          throw new Error(`${regex} in ${text}: from ${from}, not ${first}`)
      }
    ),
    { numRuns: 500, seed: 1 }
  )
  t.pass('500 texts')
  t.end()
})
const letters = [...'abcde']
const short = letters.flatMap((a) => [a, ...letters.flatMap((b) => [a + b, ...letters.flatMap((c) => [a + b + c])])])
const endings = short.flatMap((end) => [end, `${end}e`, `${end}bc`, `${end}ace`])

t.test('a pattern that cannot be followed holds its reach', async (t) => {
  t.equal(PartialMatch.of(RE2JS.compile('(?<=a)bc', RE2JS.LOOKBEHINDS)), undefined)
})

t.test('an anchor reaches as far back as the engine looks', async (t) => {
  const yaml = source({
    rules:
      "  - { name: spread, category: violence, weight: 0.9, patterns: [{ anchors: [anchor], reach: 20, regex: 'x[^!]*anchor' }] }\n"
  })
  const entry = entryOf(await loadPolicy(yaml, 'x.yaml'))
  const growing = { ...answer, redact: [] }
  const held = (text: string) => text.length - entry.growth.settled(text, growing)
  t.equal(held('one x two '), 6, 'what could still be reached')
  t.ok(held(`one x two ${'three '.repeat(8)}`) <= 32, 'out of reach of an anchor to come')
})

t.test('words in disorder are held, names are not for long', (t) => {
  const known = KnownWords.english
  const held = (text: string) => text.slice(disorderStart(text, text.length, known))
  t.equal(held('we can go ubj gb ohvyq n '), 'ubj gb ohvyq n ')
  t.equal(held('we can go 68 6f 77 '), '68 6f 77 ')
  t.equal(held('we can go h o w t '), 'h o w t ')
  t.equal(held('it was Kowalski who went to the '), '')
  t.equal(held('it was a - b '), 'b ')
  const shifted = (by: number, text: string) =>
    text.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + by) % 26) + 97))
  const prose = 'whoever planted tulips beneath birches admired blossoms throughout springtime mornings '
  const spanish = 'traiga un abrigo caliente porque la visita guiada empieza fuera '
  t.ok(
    held(`we can go ${prose}`).length < 40,
    'unknown words whose letters are those of language are not held for long'
  )
  t.ok(held(spanish).length < 40, 'nor is another language')
  for (const text of [prose, spanish]) {
    for (let by = 1; by < 26; by++)
      t.equal(held(`we can go ${shifted(by, text)}`), shifted(by, text), `shifted by ${by}: ${shifted(by, text)}`)
    const turned = text.replace(/\S+/g, (word) => [...word].reverse().join(''))
    t.equal(held(`we can go ${turned}`), turned)
    const pig = text.replace(/(\S)(\S*)/g, '$2$1ay')
    t.equal(held(`we can go ${pig}`), pig)
  }
  t.end()
})
