/** Words that run together, in several languages; and long words, which stay whole. */
import t from 'tap'
import { viewsOf } from '../../src/text/views.js'
import { costOfShare, WordCosts } from '../../src/text/word-costs.js'
import { nextHash, startHash } from '../../src/text/word-hash.js'

/** What is read, and the share of words that must be right: the costs are those of English, of which most texts are. */
const sentences: [text: string, least: number][] = [
  [
    'whatistherightwaytocleanabrandnewbicycleinautumn what is the right way to clean a brand new bicycle in autumn',
    0.8
  ],
  [
    'howdoesthetwostepflowtheoryoperateinthecontextofpublicrelations how does the two step flow theory operate in the context of public relations',
    0.8
  ],
  ['wiekannichmeinenkindernmorgenhelfen wie kann ich meinen kindern morgen helfen', 0.5],
  ['cómopuedohacerunpastelparamimadre cómo puedo hacer un pastel para mi madre', 0.5],
  ['какможносделатьэтобыстроибезопасно как можно сделать это быстро и безопасно', 0.5]
]

t.test('words without gaps are read with them, rare ones and those of other languages too', async (t) => {
  for (const [sentence, least] of sentences) {
    const [glued, ...words] = sentence.split(' ')
    const { text } = viewsOf(glued!).find(({ layer }) => layer === 'split') ?? { text: '' }
    const found = text.split(' ')
    const right = words.filter((word) => found.includes(word)).length
    t.ok(right >= words.length * least, `${glued}: ${text}`)
  }
})

t.test('long words stay whole', async (t) => {
  for (const word of [
    'lymphangioleiomyomatosis',
    'hypertensive',
    'conservationists',
    'Hypoparathyroidism',
    'madagascariensis'
  ]) {
    const split = viewsOf(`It is about ${word} alone.`).filter(({ layer }) => layer === 'split')
    t.strictSame(
      split.map(({ text }) => text),
      [],
      word
    )
  }
})

t.test('rarer words cost more, and a damaged file of costs names the line', async (t) => {
  t.ok(costOfShare(0.01) < costOfShare(0.0001))
  const costs = new WordCosts('# words\n7 the\n12 of dürfen\n')
  const of = (word: string) =>
    costs.of([...word].reduce((hash, letter) => nextHash(hash, letter.charCodeAt(0)), startHash))
  t.strictSame(['the', 'of', 'dürfen', 'th', 'then'].map(of), [7, 12, 12, 0, 0])
  for (const line of ['the', '0 the', '300 the', '7', '7x the'])
    t.throws(() => new WordCosts(`7 of\n${line}\n`), /^line 2: a cost from 1 to 255/)
})
