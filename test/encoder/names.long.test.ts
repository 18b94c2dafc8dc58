import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { EncoderError, type Name, type NamesQuestion } from '../../src/encoder/index.js'
import { EncoderFileError, readEncoderFiles } from '../../src/encoder/manifest.js'
import { Names } from '../../src/encoder/names.js'
import { toldBy, windowPieces, windowStarts } from '../../src/encoder/windows.js'
import { nameStart } from '../../src/text/sentence.js'
import { tempDir } from '../support/gateway.js'
import { asks, counting, fixture, isShipped, open, shipped } from './support.js'

const question = (text: string, more: Partial<NamesQuestion> = {}): NamesQuestion => ({
  role: 'user',
  text,
  whose: 'k1',
  ...more
})
/** What is found, as it stands in the text. */
const told = (text: string, names: readonly Name[]) =>
  names.map(({ kind, start, end }) => [kind, text.slice(start, end)])

async function find(t: Test, text: string) {
  const { encoder } = await open(t)
  const [names] = await encoder.names([question(text)])
  return told(text, names!)
}

t.test('names are found with their kinds and places', async (t) => {
  t.same(await find(t, 'Anna Smith and Anna, to Acme Corp in Berlin.'), [
    ['person', 'Anna Smith'],
    ['person', 'Anna'],
    ['organisation', 'Acme Corp'],
    ['place', 'Berlin']
  ])
  t.same(await find(t, 'explain the weather'), [])
  t.same(await find(t, ''), [])
  t.same(await find(t, ' \n '), [])
})

t.test('places are those of the text as it was written, whatever the normaliser makes of it', async (t) => {
  const around = {
    'emoji before': '👩‍👩‍👧 🎉🎉 Anna Smith 🎉',
    'joined letters': 'ﬁﬁ ½ ﷺ Anna Smith',
    'full width': 'Ａnna Ｓｍｉｔｈ to Ａｃｍｅ Corp',
    'combining marks': 'e\u0301\u0316\u0301 cafe\u0301 Anna Smith',
    'zero width and control characters': 'a\u200bb \u0000Anna\u200b \ufeffSmith\u0007 .',
    'ends of lines': 'to\r\n\r\n  Anna Smith\n\n\tand',
    'outside the basic plane': '𝕳𝖊 𝐀𝐧𝐧𝐚 Smith 𝕳',
    Han: '私は東京に',
    'half-width kana': 'ｶﾞｶﾞ 東京ﾞ'
  }
  const found: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(around)) found[name] = await find(t, text)
  t.same(found, {
    'emoji before': [['person', 'Anna Smith']],
    'joined letters': [['person', 'Anna Smith']],
    'full width': [
      ['person', 'Ａnna Ｓｍｉｔｈ'],
      ['organisation', 'Ａｃｍｅ Corp']
    ],
    'combining marks': [['person', 'Anna Smith']],
    'zero width and control characters': [['person', 'Anna\u200b \ufeffSmith']],
    'ends of lines': [['person', 'Anna Smith']],
    'outside the basic plane': [['person', '𝐀𝐧𝐧𝐚 Smith']],
    Han: [['place', '東京']],
    'half-width kana': [['place', '東京ﾞ']]
  })
})

t.test('a name goes on to the end of its word, and what redaction wrote is none', async (t) => {
  const tags = ['O', 'B-person', 'I-person']
  const names = new Names(tags)
  const logits = (path: readonly number[]) =>
    Float32Array.from(path.flatMap((tag) => tags.map((_, i) => (i === tag ? 5 : 0))))
  const pieced = (text: string, starts: readonly number[]) => ({
    ids: Int32Array.from(starts, () => 20),
    starts: Uint32Array.from(starts),
    end: text.length
  })
  const read = (text: string, starts: readonly number[], path: readonly number[]) =>
    told(text, names.find(text, pieced(text, starts), logits(path)))
  t.same(read('met Petrovoy once', [0, 4, 9, 13], [0, 1, 2, 0]), [['person', 'Petrovoy']])
  const weighed = (first: number, rest: number) => {
    const text = 'met Petrovoy once'
    const said = Float32Array.from([5, 0, 0, 0, first, 0, rest, 0, 0, 5, 0, 0])
    return told(text, names.find(text, pieced(text, [0, 4, 9, 13]), said))
  }
  t.same(weighed(8, 3), [['person', 'Petrovoy']], 'a word is a name as a whole')
  t.same(weighed(3, 8), [], 'or none')
  t.same(read('met Petro, who', [0, 4, 9, 11], [0, 1, 0, 0]), [['person', 'Petro']], 'and no further')
  t.same(
    read('김민수는', [0, 3], [1, 0]),
    [['person', '김민수']],
    'where words are not written apart, no further either'
  )
  t.same(read('<PERSON> said', [0, 1, 7, 9], [1, 2, 2, 0]), [])
  t.same(read('PERSON said', [0, 7], [1, 0]), [])
  const long = '山'.repeat(100_000)
  const starts = Array.from({ length: 25_000 }, (_, i) => i * 4)
  const path = starts.map((_, i) => i % 2)
  t.equal(read(long, starts, path).length, 12_500, 'a text of one word is read in linear time')
  t.equal(read('a'.repeat(100_000), starts, path).length, 0)
})

t.test('in windows that overlap, each piece is told of by the one whose end is farther', async (t) => {
  for (const pieces of [0, 1, 125, 126, 127, 218, 219, 300, 1000]) {
    const starts = windowStarts(pieces)
    const ends = toldBy(starts, pieces)
    t.equal(ends.at(-1) ?? 0, pieces)
    const wrong: unknown[] = []
    for (let piece = 0, window = 0; piece < pieces; piece++) {
      while (ends[window]! <= piece) window++
      const room = (start: number) => {
        const before = start === 0 ? Infinity : piece - start
        const after = start + windowPieces >= pieces ? Infinity : start + windowPieces - 1 - piece
        return Math.min(before, after)
      }
      const holding = starts.filter((start) => start <= piece && piece < start + windowPieces)
      const best = Math.max(...holding.map(room))
      if (room(starts[window]!) < best - 1) wrong.push({ pieces, piece })
    }
    t.same(wrong, [])
  }
  const words = Array.from({ length: 1500 }, (_, i) => (i % 7 === 3 ? 'Anna Smith' : 'the weather'))
  const text = words.join(' ')
  const found = await find(t, text)
  t.equal(found.length, words.filter((word) => word === 'Anna Smith').length)
  t.ok(found.every(([, name]) => name === 'Anna Smith'))
})

t.test('what was read for names is remembered, and its scores too', async (t) => {
  const report = counting()
  const { encoder } = await open(t, { report })
  await encoder.names([question('Anna Smith')])
  t.same(report.counts, { model: 1, memory: 0 })
  await encoder.names([question('Anna Smith')])
  await encoder.read([asks('Anna Smith')])
  t.same(report.counts, { model: 1, memory: 2 })
})

t.test('what cannot be read in full is a failure', async (t) => {
  const fails = (failure: string) => ({ name: 'EncoderError', failure })
  const report = counting()
  const { encoder } = await open(t, { report, queue: 32 })
  const long = 'Anna Smith is the weather '.repeat(800)
  t.equal(told(long, (await encoder.names([question(long)]))[0]!).length, 800, 'more windows than may wait at once')
  await t.rejects(encoder.names([question('explain the weather '.repeat(20_000))]), fails('too_long'))
  await t.rejects(encoder.names([question('='.repeat(2_000_000))]), fails('too_long'))
  const gone = new AbortController()
  gone.abort()
  await t.rejects(encoder.names([question('Anna', { cancel: gone.signal })]), fails('cancelled'))
  t.same(report.failures, ['too_long', 'too_long', 'cancelled'])
  const late = await open(t, { deadlineMs: 1 })
  await t.rejects(late.encoder.names([question(long)]), fails('deadline'))
  await late.encoder.close()
  await t.rejects(late.encoder.names([question('Anna')]), EncoderError)
})

t.test('weights without a reader of names, or with a damaged one', async (t) => {
  const folder = tempDir(t)
  for (const name of readdirSync(fixture)) copyFileSync(join(fixture, name), join(folder, name))
  writeFileSync(join(folder, 'encoder.names.onnx'), 'no model')
  await t.rejects(readEncoderFiles(folder), /encoder\.names\.onnx: is not the file/)
  const manifest = JSON.parse(readFileSync(join(fixture, 'encoder.json'), 'utf8'))
  const put = (names: object | undefined) =>
    writeFileSync(join(folder, 'encoder.json'), JSON.stringify({ ...manifest, names }))
  put({ ...manifest.names, tags: ['O', 'B-ship'] })
  await t.rejects(readEncoderFiles(folder), EncoderFileError)
  put({ ...manifest.names, tags: ['B-person'] })
  await t.rejects(readEncoderFiles(folder), /names\.tags must be O and/)
  put(undefined)
  const { encoder } = await open(t, {}, folder)
  t.equal(encoder.findsNames, false)
  await t.rejects(encoder.names([question('Anna')]), EncoderError)
  t.equal((await encoder.read([asks('a bomb')])).length, 1)
})

t.test('of a text that is still being written, names are settled up to its last sentence', (t) => {
  const settled = (text: string) => text.slice(0, nameStart(text))
  t.equal(settled('It rained. Anna'), 'It rained. ')
  t.equal(settled('It rained. We met Dr. Smi'), 'It rained. ')
  t.equal(settled('It rained. We read J. R. R. Tol'), 'It rained. ')
  t.equal(settled('J. R. R. '), '')
  t.equal(settled('One\nAnna Smi'), 'One\n')
  t.equal(settled(''), '')
  t.end()
})

t.test('the weights that ship', { skip: !isShipped }, async (t) => {
  const { encoder } = await open(t, {}, shipped)
  if (!encoder.findsNames) {
    t.pass('have no names yet')
    return
  }
  const text = 'Please write to Maria Schneider at Siemens in Hamburg about the quarterly report.'
  const [names] = await encoder.names([question(text)])
  t.same(told(text, names!), [
    ['person', 'Maria Schneider'],
    ['organisation', 'Siemens'],
    ['place', 'Hamburg']
  ])
  const alone = await encoder.read([asks(text)])
  const { encoder: other } = await open(t, {}, shipped)
  t.same(await other.read([asks(text)]), alone, 'scores are the same whether names were asked for or not')
})
