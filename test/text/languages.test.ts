/** Disguises of texts in other languages than English, of which no word is known, are undone as those of English are. */
import t from 'tap'
import { gainOf } from '../../src/text/letter-pairs.js'
import { viewsOf } from '../../src/text/views.js'

const sentences: Readonly<Record<string, string>> = {
  Vietnamese: 'Hôm qua chúng tôi đi bộ dọc theo con sông và ăn trưa gần cây cầu cũ.',
  Spanish: '¿Quién quiere caminar con nosotros junto al río después de la comida?',
  French: 'Nous avons marché le long de la rivière avant de manger près du vieux pont.',
  German: 'Gestern sind wir am Fluss entlang gegangen und haben bei der alten Brücke gegessen.',
  Portuguese: 'Ontem caminhamos ao longo do rio e almoçamos perto da ponte velha.',
  Italian: 'Ieri abbiamo camminato lungo il fiume e mangiato vicino al vecchio ponte.',
  Indonesian: 'Kemarin kami berjalan di sepanjang sungai dan makan siang di dekat jembatan tua.',
  Turkish: 'Dün nehir boyunca yürüdük ve eski köprünün yanında öğle yemeği yedik.'
}
const rot13 = (text: string) =>
  text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
const turn = (text: string) => [...text].reverse().join('')
const eachTurned = (text: string) => text.replace(/\p{L}+/gu, turn)
const leet = (text: string) =>
  text.replace(/[aeiost]/g, (letter) => ({ a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' })[letter]!)

const reads = (disguised: string, text: string) => viewsOf(disguised).some((view) => view.text === text)
const swaps = (text: string) => viewsOf(text).filter(({ layer }) => /rot13|reversed/.test(layer)).length

t.test('letters rotated, a line backwards and words backwards are read in many languages', async (t) => {
  for (const [language, text] of Object.entries(sentences)) {
    t.equal(swaps(text), 0, `${language} as written has no other reading`)
    t.ok(reads(rot13(text), text), `${language} in ROT13`)
    t.ok(reads(turn(text), text), `${language} backwards`)
    t.ok(reads(eachTurned(text), text), `${language}, each word backwards`)
    t.equal(swaps(leet(text)), 0, `${language} with digits for letters is not rotated`)
  }
})

t.test('lines of scripts without capitals are turned by the stop that they begin with', async (t) => {
  const lines = [
    'हम कल नदी के किनारे टहले और पुल के पास खाना खाया।',
    'مشينا أمس على طول النهر ثم أكلنا قرب الجسر القديم.',
    '어제 우리는 강을 따라 걷고 오래된 다리 옆에서 먹었다.',
    'গতকাল আমরা নদীর ধারে হেঁটেছি এবং সেতুর কাছে খেয়েছি।'
  ]
  for (const line of lines) {
    t.equal(swaps(line), 0, line)
    t.ok(reads(turn(line), line), turn(line))
  }
  for (const line of ['.NET runs on every server that we have', '.gitignore lists what is left out here'])
    t.equal(swaps(line), 0, line)
})

t.test('quotes around a line that was turned do not hide its stop', async (t) => {
  const text = 'Can somebody tell me what he said about it: "we walk by the old bridge"?'
  t.ok(reads(turn(text), text))
})

t.test('a stop behind a word that was turned in its place stays there', async (t) => {
  const text = 'We talked about the river. Then, after that, we went home with the others.'
  t.ok(reads(eachTurned(text), text))
})

t.test('names and sentences that run together are split as words are, not at their capitals', async (t) => {
  const views = viewsOf('WherecanIbuyaticketforthetraintoLondonandParisthisweekendwithmyfriends')
  t.ok(views.some(({ layer, text }) => layer === 'split' && text.includes('buy a ticket for the train')))
})

t.test('letters follow each other in language, and not in what was made of it', async (t) => {
  for (const [language, text] of Object.entries(sentences)) {
    for (const [change, made] of [
      ['rotated', rot13(text)],
      ['turned', turn(text)]
    ] as const) {
      t.ok(gainOf(text, 0, text.length, change) < -30, `${language} as written, ${change}`)
      t.ok(gainOf(made, 0, made.length, change) > 30, `${language}, ${change}`)
    }
  }
  t.equal(gainOf('これは文です', 0, 6, 'turned'), 0, 'no Latin letters')
  t.equal(gainOf('', 0, 0, 'turned'), 0)
})
