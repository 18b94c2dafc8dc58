import fc from 'fast-check'
import t from 'tap'
import { Folder, foldPhrase, foldText } from '../../src/text/fold.js'
import { HitList } from '../../src/text/hit-list.js'
import { atOnce, phraseSteps } from '../../src/text/phrases.js'

const foldings: [name: string, text: string, folded: string][] = [
  ['nothing', '', ' '],
  ['only signs', '?!… \n', ' '],
  ['case and punctuation', 'Hello,  World-42!', ' hello world 42 '],
  ['contractions', "don't I'll we’re she'd", ' dont ill were shed '],
  ['names with an apostrophe', "O'Brien l'eau qu'il", ' obrien leau quil '],
  ['an apostrophe between two words separates them', "kill'yourself kill'em", ' kill yourself kill em '],
  ['quotes around a word', "'kill' ‘me’", ' kill me '],
  ['accents of Latin and Greek, composed or not', 'Café Cafe\u0301 ΚΑΛΆ Übung', ' cafe cafe καλα ubung '],
  ['variation selectors', 'k\ufe0fi\ufe0fll 我\ufe0f们\ufe0f', ' kill 我们 '],
  ['Cyrillic keeps its letters', 'Ёлка МОЙ', ' елка мой '],
  ['marks of other scripts stay', 'हिन्दी שָׁלוֹם', ' हिन्दी שָׁלוֹם '],
  ['scripts without spaces are set apart', '我想kill他3次', ' 我想 kill 他 3 次 '],
  ['voiced kana', 'か\u3099ある', ' か\u3099ある '],
  ['invisible characters separate', 'k\u200bill', ' k ill '],
  ['emoji separate', 'a😀b', ' a b '],
  ['letters beyond the basic plane', '𠮷a', ' 𠮷 a '],
  ['lone surrogates separate', 'a\ud800b\udc00', ' a b '],
  ['a stroke and an accent on one letter', 'Ǿre', ' ore '],
  ['one unit stays one unit', 'İx', ' ix ']
]

t.test('folding follows its table', async (t) => {
  for (const [name, text, folded] of foldings) t.equal(foldText(text), folded, name)
  t.equal(foldPhrase("  Don't… STOP "), 'dont stop')
})

t.test('folded offsets lead back to the original', async (t) => {
  const rows: [text: string, word: string, original: string][] = [
    ['Hello,  World!', 'world', 'World'],
    ["I DON'T know", 'dont', "DON'T"],
    ['Cafe\u0301 noir', 'cafe', 'Cafe\u0301'],
    ['我想kill他', 'kill', 'kill'],
    ['我想kill他', '他', '他'],
    ['x 𠮷 y', '𠮷', '𠮷'],
    ['a — b', 'a b', 'a — b']
  ]
  for (const [text, word, original] of rows) {
    const folder = new Folder().fold(text)
    const folded = folder.toString()
    const from = folded.indexOf(word)
    for (const [a, b] of [
      [from, from + word.length],
      [from - 1, from + word.length + 1]
    ] as const) {
      const { start, end } = folder.span(a, b)
      t.equal(text.slice(start, end), original, `${text} ${a}`)
    }
  }
})

const anyString = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 80 }).map((codes) => String.fromCharCode(...codes)),
  fc.string({ unit: 'grapheme-ascii' })
)

t.test('folding is idempotent, its spans are in bounds, and both paths agree', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(anyString, fc.nat(100), fc.nat(100), (text, from, size) => {
        const folder = new Folder().fold(text)
        const folded = folder.toString()
        if (foldText(folded) !== folded) return false
        if (!/^ (?:[^ ]+ )*$/su.test(folded)) return false
        // A letter beyond ASCII takes the general path: the rest folds as before.
        if (!foldText(`${text} ж`).startsWith(folded)) return false
        const { start, end } = folder.span(from, from + size)
        return start >= 0 && start <= end && end <= text.length
      }),
      { numRuns: 2000 }
    )
  )
})

t.test('every character of the planes with letters in two cases folds to what folds to itself', async (t) => {
  const again: string[] = []
  for (let point = 0; point < 0x20000; point++) {
    const folded = foldText(String.fromCodePoint(point))
    if (foldText(folded) !== folded) again.push(point.toString(16))
  }
  t.same(again, [])
})

/** `id:from:to` of every hit, in folded offsets. */
const hitsOf = (phrases: readonly string[], text: string): string[] => {
  const found = new HitList()
  const automaton = atOnce(phraseSteps(phrases.map((phrase, id) => ({ phrase, id }))))
  automaton.scan(new Folder().fold(text), found)
  return Array.from({ length: found.count }, (_, i) => `${found.id[i]}:${found.from[i]}:${found.to[i]}`)
}

/** The same with the words in place of their offsets, sorted. */
const wordsOf = (phrases: readonly string[], text: string): string[] => {
  const folded = foldText(text)
  return hitsOf(phrases, text)
    .map((hit) => hit.split(':').map(Number))
    .map(([id, from, to]) => `${id}:${folded.slice(from, to)}`)
    .sort()
}

t.test('the automaton finds whole words, endings and overlapping phrases', async (t) => {
  const rows: [name: string, phrases: string[], text: string, expected: string[]][] = [
    ['whole words only', ['kill'], 'kill skill killer kill', ['0:kill', '0:kill']],
    ['any ending', ['stab*'], 'Stab stabbing unstable stabs', ['0:stab', '0:stabbing', '0:stabs']],
    ['an ending of the last word', ['how to mak*'], 'how to making how to take', ['0:how to making']],
    ['shared edges', ['kill me', 'me now', 'kill'], 'kill me now', ['0:kill me', '1:me now', '2:kill']],
    ['one phrase, several ids', ['bomb', 'bomb'], 'a bomb', ['0:bomb', '1:bomb']],
    ['inside others', ['a b c', 'b', 'b c d'], 'a b c d', ['0:a b c', '1:b', '2:b c d']],
    [
      'scripts without spaces need no boundary',
      ['杀人', '폭탄', 'ฆ่า'],
      '我想杀人 폭탄을 อยากฆ่าคน',
      ['0:杀人', '1:폭탄', '2:ฆ่า']
    ],
    ['an ending on such a script', ['杀*'], '我杀人', ['0:杀']],
    ['mixed scripts', ['kill 他'], '我kill他们', ['0:kill 他']],
    ['no phrases', [], 'anything', []],
    ['letters beyond the basic plane', ['𠮷'], 'x𠮷野家', ['0:𠮷']],
    ['at both ends', ['a', 'c'], 'a b c', ['0:a', '1:c']]
  ]
  for (const [name, phrases, text, expected] of rows) t.same(wordsOf(phrases, text), expected, name)
  t.throws(() => atOnce(phraseSteps([{ phrase: '*', id: 0 }])), RangeError)
})

t.test('many rare characters are found as well as few', async (t) => {
  const phrases: string[] = []
  for (let i = 0; i < 900; i++) phrases.push(String.fromCharCode(0x4e00 + i, 0x4e00 + ((i * 7) % 900)))
  const text = `x${phrases.join(' y ')}`
  t.equal(new Set(hitsOf(phrases, text).map((hit) => hit.split(':', 1)[0])).size, phrases.length)
})

t.test('the automaton agrees with a search phrase by phrase', async (t) => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '人', 'é'), minLength: 1, maxLength: 3 })
  const phrase = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => foldPhrase(words.join(' ')))
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.uniqueArray(phrase, { maxLength: 8 }), fc.array(word, { maxLength: 12 }), (phrases, words) => {
        const folded = foldText(words.join(' '))
        const expected: string[] = []
        for (const [id, phrase] of phrases.entries()) {
          for (let at = folded.indexOf(phrase); at >= 0; at = folded.indexOf(phrase, at + 1)) {
            const before = phrase.startsWith('人') || folded[at - 1] === ' '
            const after = phrase.endsWith('人') || folded[at + phrase.length] === ' '
            if (before && after) expected.push(`${id}:${at}:${at + phrase.length}`)
          }
        }
        return JSON.stringify(hitsOf(phrases, words.join(' ')).sort()) === JSON.stringify(expected.sort())
      }),
      { numRuns: 2000 }
    )
  )
})
