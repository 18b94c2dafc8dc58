import { deflateSync } from 'node:zlib'
import t from 'tap'
import type { FileText } from '../../src/files/file.js'
import { readFile } from '../../src/files/read/index.js'
import { mapped } from './hostile.js'
import {
  docx,
  mail,
  odp,
  ods,
  odt,
  pagePdf,
  paragraph,
  pdf,
  png,
  pptx,
  run,
  showing,
  slidePart,
  white,
  wordPart,
  xlsx
} from './make.js'

const buffers = ArrayBuffer.prototype as { transferToFixedLength?: (length?: number) => ArrayBuffer }
buffers.transferToFixedLength ??= function (this: ArrayBuffer, length) {
  return this.slice(0, length)
}

async function texts(
  bytes: Buffer | string,
  name: string,
  type = '',
  charset?: string
): Promise<readonly FileText[] | string> {
  const reading = await readFile({ bytes: Buffer.from(bytes as string), type, name, charset }, undefined)
  return reading.whole ? reading.texts : reading.reason
}

/** The places of a word, each with what hides it. */
async function places(word: string, bytes: Buffer | string, name: string, type = ''): Promise<string[] | string> {
  const found = await texts(bytes, name, type)
  if (typeof found === 'string') return found
  return found
    .filter(({ text }) => text.includes(word))
    .map(({ where, hidden }) => (hidden === undefined ? where : `${where} ${hidden}`))
}

t.test('text, in the charset that it is said to have', async (t) => {
  t.same(await texts('plain', 'a.txt'), [{ text: 'plain', where: 'text' }])
  t.same(await texts(Buffer.from('\uFEFFmark', 'utf16le'), 'a.txt'), [{ text: '\uFEFFmark', where: 'part=content' }])
  t.same(await texts(Buffer.from([0xcf, 0xf0, 0xe8]), '', 'text/plain', 'windows-1251'), [
    { text: 'При', where: 'part=content' },
    { text: '\uFFFD\uFFFD\uFFFD', where: 'part=bytes', hidden: 'source' }
  ])
  const named = (await texts('harmful!', '', 'text/plain', 'utf-16le')) as readonly FileText[]
  t.ok(
    named.some(({ text }) => text === 'harmful!'),
    'a reader that does not look at the charset finds other words'
  )
  t.same(await texts(Buffer.from([0xcf, 0xf0, 0xe8]), 'a.txt'), 'bad_encoding')
  t.same(await texts('a;b\n1;2', 'a.csv', 'text/csv'), [{ text: 'a;b\n1;2', where: 'text' }])
  t.same(await texts('print(1)', 'a.py', 'text/x-python'), [{ text: 'print(1)', where: 'text' }])
})

t.test('JSON as it stands, and without its escapes', async (t) => {
  t.same(await texts('{"a":"b"}', 'a.json'), [{ text: '{"a":"b"}', where: 'text' }])
  t.same(await places('bomb', '{"a":"\\u0062omb"}', 'a.json'), ['part=values'])
  t.same(await places('bomb', '{"a":"\\u0062omb"}\n{"b":1}', 'a.jsonl'), ['part=values'])
})

t.test('HTML as it stands and as it is shown', async (t) => {
  t.same(await places('bomb', '<p>bo<b>m</b>&#98;</p>', 'a.html'), ['part=page'])
  const rows: [html: string, where: string][] = [
    ['<p style="display:none">secret</p>', 'invisible'],
    ['<p style="color:#fff">secret</p>', 'white'],
    ['<p style="font-size:1px">secret</p>', 'tiny'],
    ['<!-- secret -->', 'comment'],
    ['<img alt="secret" src="https://x.test/a.png">', 'alternative'],
    ['<meta name="description" content="secret">', 'metadata'],
    ['<script>secret</script>', 'script'],
    ['<a href="https://x.test/secret">x</a>', 'attribute']
  ]
  for (const [html, hidden] of rows)
    t.same(await places('secret', html, 'a.html'), ['part=source', `part=page ${hidden}`], html)
})

t.test('PDF, with the page, and what is hidden on it', async (t) => {
  t.same(await places('second', await pdf(['first', 'second']), 'a.pdf', 'application/pdf'), ['page=2'])
  const drawn = (options: object) =>
    pdf(['seen'], (document, font) =>
      document.getPage(0).drawText('secret', { x: 40, y: 500, size: 12, font, ...options })
    )
  t.same(await places('secret', await drawn({ color: white }), 'a.pdf'), ['page=1', 'page=1 white'])
  t.same(await places('secret', await drawn({ size: 1 }), 'a.pdf'), ['page=1', 'page=1 tiny'])
  t.same(await places('secret', await drawn({ x: -5000 }), 'a.pdf'), ['page=1 source'])
  t.same(await places('secret', await pdf(['seen'], (document) => document.setTitle('secret')), 'a.pdf'), [
    'part=objects metadata'
  ])
})

t.test('PDF as other programs write it', async (t) => {
  const bullet = (content: string) => mapped((code) => (code === 65 ? 'f0b7' : `00${code.toString(16)}`), content)()
  const list = 'BT /F1 12 Tf 40 700 Td (A) Tj 20 0 Td (BCDE) Tj -20 -20 Td (A) Tj 20 0 Td (FGH) Tj ET'
  t.same(await places('BCDE', bullet(list), 'a.pdf'), ['page=1'], 'with bullets of a font of symbols')
  // A length that stands elsewhere, and data that ends as a line does.
  const packed = Array.from({ length: 256 }, (_, i) => deflateSync(`${showing('secret')} % ${'a'.repeat(i)}`)).find(
    (each) => each.at(-1) === 13
  )!
  const head = Buffer.from('<< /Filter /FlateDecode /Length 6 0 R >>\nstream\n')
  const content = Buffer.concat([head, packed, Buffer.from('\nendstream')])
  t.same(await places('secret', pagePdf(content, { more: [`${packed.length}`] }), 'a.pdf'), ['page=1'])
})

t.test('PDF whose letters stand in another order in the file than on the page', async (t) => {
  const letters = [...'pour the acid']
    .map((letter, i) => ({ letter, x: 40 + i * 7.2 }))
    .filter(({ letter }) => letter !== ' ')
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>'
  const placed = (x: number, isTurned: boolean) => (isTurned ? `0 1 -1 0 300 ${x}` : `1 0 0 1 ${x} 700`)
  const draw = (all: typeof letters, isTurned = false) => {
    const shown = all.map(({ letter, x }) => `${placed(x, isTurned)} Tm (${letter}) Tj`)
    return pagePdf(`BT /F1 12 Tf ${shown.join(' ')} ET`, { font })
  }
  const shuffled = [...letters].sort((a, b) => ((a.x * 7) % 11) - ((b.x * 7) % 11))
  const interleaved = [...letters.filter((_, i) => i % 2 === 0), ...letters.filter((_, i) => i % 2 === 1)]
  for (const order of [shuffled, interleaved, [...letters].reverse()])
    t.ok((await places('pour the acid', draw(order), 'a.pdf')).includes('page=1'))
  t.ok((await places('pour the acid', draw(shuffled, true), 'a.pdf')).includes('page=1'), 'turned')
  t.equal(((await texts(draw(letters), 'a.pdf')) as readonly FileText[]).length, 1, 'as they follow: said once')
  const spread = letters.map(({ letter, x }) => ({ letter, x: 40 + (x - 40) * 3 }))
  const far = draw([...spread.filter((_, i) => i % 2 === 0), ...spread.filter((_, i) => i % 2 === 1)])
  t.same(await places('p o u r  t h e  a c i d', far, 'a.pdf'), ['page=1'], 'far apart')
  // Advances of Helvetica: k 6, i and l 2.664 of 12 points.
  const narrow = (letter: string, x: number) => `1 0 0 1 ${x} 700 Tm (${letter}) Tj`
  const kill = [narrow('l', 48.664), narrow('i', 46), narrow('l', 51.328), narrow('k', 40)].join(' ')
  t.ok(
    (await places('kill', pagePdf(`BT /F1 12 Tf ${kill} ET`), 'a.pdf')).includes('page=1'),
    'equal narrow neighbours'
  )
  const noise = letters.map(({ x }) => `1 0 0 1 ${x + 1} 700 Tm (x) Tj`).join(' ')
  const seen = shuffled.map(({ letter, x }) => `${placed(x, false)} Tm (${letter}) Tj`).join(' ')
  const covered = pagePdf(`BT /F1 12 Tf ${seen} 1 g ${noise} 0 g -20 Ts ${noise} ET`, { font })
  t.ok((await places('pour the acid', covered, 'a.pdf')).includes('page=1'), 'white letters and another line between')
  const lines = ['pour', 'the', 'acid'].map((word, i) => `1 0 0 1 40 ${700 - 14 * i} Tm (${word}) Tj`)
  const upwards = pagePdf(`BT /F1 12 Tf ${lines.reverse().join(' ')} ET`, { font })
  t.ok((await places('pour\nthe\nacid', upwards, 'a.pdf')).includes('page=1'), 'lines from below')
  const words = ['acid', 'pour', 'the'].map(
    (word) => `1 0 0 1 ${{ pour: 40, the: 100, acid: 160 }[word]} 700 Tm (${word}) Tj`
  )
  t.ok(
    (await places('pour  the  acid', pagePdf(`BT /F1 12 Tf ${words.join(' ')} ET`, { font }), 'a.pdf')).includes(
      'page=1'
    )
  )
  const bold = pagePdf('BT /F1 12 Tf 1 0 0 1 40 700 Tm (seen) Tj 1 0 0 1 40.3 700 Tm (seen) Tj ET')
  t.equal(((await texts(bold, 'a.pdf')) as readonly FileText[]).length, 1, 'drawn twice to look bold')
  const columns = pagePdf(
    `BT /F1 12 Tf ${[40, 300].flatMap((x) => [700, 680].map((y) => `1 0 0 1 ${x} ${y} Tm (left ${x} ${y}) Tj`)).join(' ')} ET`
  )
  t.equal(((await texts(columns, 'a.pdf')) as readonly FileText[]).length, 1, 'columns stay columns')
})

t.test('documents within documents', async (t) => {
  const holding = (name: string, content: Buffer | string) => docx('seen', { more: [{ name, content }] })
  const chart = holding('word/embeddings/Microsoft_Excel_Sheet1.xlsx', xlsx([{ rows: [['a', 'secret']] }]))
  t.same(await places('secret', chart, 'a.docx'), ['object=1&part=sharedstrings', 'object=1&sheet=1'])
  t.same(await texts(holding('word/embeddings/a.xlsx', docx('secret')), 'a.docx'), 'type_mismatch')
  t.same(await texts(holding('word/embeddings/a.bin', xlsx([{ rows: [['a']] }])), 'a.docx'), 'object_unread')
  const nested = (depth: number): Buffer =>
    holding('word/embeddings/a.docx', depth === 0 ? docx('secret') : nested(depth - 1))
  t.same(await places('secret', nested(2), 'a.docx'), ['object=1&object=1&object=1&part=document'])
  t.same(await texts(nested(3), 'a.docx'), 'too_large')
})

t.test('what each part of a document says again is judged once', async (t) => {
  const twice = docx('seen', { more: [wordPart('header1', 'hdr', 'a'), wordPart('header2', 'hdr', 'b')] })
  const found = (await texts(twice, 'a.docx')) as readonly FileText[]
  const [namespace] = /http:[^\n]*wordprocessingml[^\n]*/.exec(
    found.find(({ text }) => text.includes('2006/main'))!.text
  )!
  t.equal(found.filter(({ text }) => text.split('\n').includes(namespace)).length, 1)
  const properties = { name: 'docProps/core.xml', content: '<p><a>00P0D</a><b>Libre</b></p>' }
  const told = (await texts(docx('seen', { more: [properties] }), 'a.docx')) as readonly FileText[]
  t.ok(
    told.some(({ text }) => text.includes('00P0D\nLibre')),
    'each property by itself'
  )
})

t.test('templates, settings and indentation', async (t) => {
  const layout = (number: number, text: string) => slidePart(`slideLayouts/slideLayout${number}`, text, 'sldLayout')
  const more = [layout(1, 'Click to edit'), layout(2, 'Click to edit'), layout(3, 'secret')]
  const slides = pptx(['Click to edit', 'Click to edit'], { more })
  t.same(await places('Click to edit', slides, 'a.pptx'), ['slide=1', 'slide=2', 'part=slidelayout1'])
  t.same(await places('secret', slides, 'a.pptx'), ['part=slidelayout3'])
  const settings = '<a><i>true</i><i>217</i><i>false</i><i>secret</i><i>word</i></a>'
  const told = (await texts(
    odt('seen', { more: [{ name: 'settings.xml', content: settings }] }),
    'a.odt'
  )) as readonly FileText[]
  const words = told.find(({ text }) => text.includes('secret'))!.text
  t.match(words, /secret\nword/)
  t.match(words, /217\nsecret|217\n+secret/)
  t.notMatch(words, /true|false/)
  // Templates that differ keep their order: what is said again later may end a sentence that another began.
  const parted = pptx(['a'], { more: [layout(1, 'the acid'), layout(2, 'pour'), layout(3, 'the acid')] })
  t.same(await places('the acid', parted, 'a.pptx'), ['part=slidelayout1', 'part=slidelayout3'])
  const numbers = pptx(['a'], { more: [layout(1, 'Card 1'), layout(2, '4111 1111'), layout(3, 'Card 4222')] })
  for (const text of ['4111 1111', 'Card 4222']) t.equal((await places(text, numbers, 'a.pptx')).length, 1, text)
  const inner = [{ name: 'Object 1/content.xml', content: '<a><p><span>ki</span><span>ll</span></p><p>4111</p></a>' }]
  t.same(await places('kill', odt('seen', { more: inner }), 'a.odt'), ['part=content'], 'an embedded document')
  t.same(await places('4111', odt('seen', { more: inner }), 'a.odt'), ['part=content'])
})

t.test('Word, with what is hidden in it', async (t) => {
  t.same(await places('bomb', docx(`<w:p>${run('bo')}${run('mb')}</w:p>`), 'a.docx'), ['part=document'])
  t.same(await places('bomb', docx(`<w:p>\n  ${run('bo')}\n  ${run('mb')}\n</w:p>`), 'a.docx'), ['part=document'])
  const body = (inner: string) => docx(`<w:p>${run('seen')}${inner}</w:p>${paragraph('more')}`)
  const rows: [inner: string, hidden: string][] = [
    [run('secret', '<w:vanish/>'), 'invisible'],
    [run('secret', '<w:color w:val="FFFFFF"/>'), 'white'],
    [run('secret', '<w:sz w:val="2"/>'), 'tiny'],
    ['<w:del><w:r><w:delText>secret</w:delText></w:r></w:del>', 'tracked'],
    ['<w:r><w:drawing><docPr descr="secret"/></w:drawing></w:r>', 'alternative']
  ]
  for (const [inner, hidden] of rows) {
    t.same(await places('secret', body(inner), 'a.docx'), [`part=document ${hidden}`], hidden)
    t.same(await places('more', body(inner), 'a.docx'), ['part=document'], hidden)
  }
  t.same(await places('secret', docx('seen', { more: [wordPart('comments', 'comments', 'secret')] }), 'a.docx'), [
    'part=comments comment'
  ])
  t.same(await places('secret', docx('seen', { more: [wordPart('header1', 'hdr', 'secret')] }), 'a.docx'), [
    'part=header1'
  ])
})

t.test('Excel, with the sheet, in rows', async (t) => {
  const book = xlsx([{ rows: [['a', 'b']] }, { rows: [['how to', 'secret']], state: 'hidden' }])
  const found = (await texts(book, 'a.xlsx')) as readonly FileText[]
  t.ok(
    found.some(
      ({ text, where, hidden }) => text.includes('how to\tsecret') && where === 'sheet=2&hidden' && hidden === 'sheet'
    )
  )
  t.ok(found.some(({ text, where }) => text.includes('a\tb') && where === 'sheet=1'))
  t.same(await places('secret', xlsx([{ rows: [['a']], xml: '<c><f>secret</f></c>' }]), 'a.xlsx'), [
    'sheet=1&part=xml formula'
  ])
})

t.test('PowerPoint, with the slide and its notes', async (t) => {
  t.same(await places('second', pptx(['first', 'second']), 'a.pptx'), ['slide=2'])
  t.same(
    await places('secret', pptx(['a'], { more: [slidePart('notesSlides/notesSlide1', 'secret', 'notes')] }), 'a.pptx'),
    ['slide=1 notes']
  )
})

t.test('OpenDocument', async (t) => {
  t.same(await places('bomb', odt('<text:p>bo<text:span>mb</text:span></text:p>'), 'a.odt'), ['part=content'])
  t.same(await places('second', odp(['first', 'second']), 'a.odp'), ['slide=2'])
  t.same(await places('how to\tsecret'.slice(7), ods([['how to', 'secret']]), 'a.ods'), ['sheet=1'])
  const hidden = odt('<text:p>seen<text:span text:style-name="H">secret</text:span></text:p><text:p>more</text:p>', {
    styles: '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'
  })
  t.same(await places('secret', hidden, 'a.odt'), ['part=content invisible'])
  t.same(await places('more', hidden, 'a.odt'), ['part=content'])
})

t.test('e-mail, with what is attached to it', async (t) => {
  const line = Buffer.from('harmful words that no part of the message holds').toString('base64')
  const behind = Buffer.concat([mail([{ type: 'text/plain', content: 'body' }]), Buffer.from(`${line}\r\n`)])
  t.same(await places(line, behind, 'a.eml'), ['part=source source'], 'what stands behind the last part')
  const long = mail([{ type: 'text/plain', content: 'words and words '.repeat(20) }])
  const found = (await texts(long, 'a.eml')) as readonly FileText[]
  t.notOk(
    found.some(({ text }) => text.includes('d29yZHMgYW5kIHdvcmRz')),
    'what was decoded is not judged in base64, too'
  )
  const message = mail([
    { type: 'text/plain', content: 'body' },
    { type: 'application/pdf', content: await pdf(['one', 'secret']), name: 'a.pdf' }
  ])
  t.same(await places('body', message, 'a.eml', 'message/rfc822'), ['part=body'])
  t.same(await places('secret', message, 'a.eml'), ['attachment=1&page=2'])
  t.same(await texts(mail([{ type: 'image/png', content: png, name: 'a.png' }]), 'a.eml'), 'picture_unread')
  t.same(
    await places(
      'within',
      mail([{ type: 'message/rfc822', content: mail([{ type: 'text/plain', content: 'within' }]) }]),
      'a.eml'
    ),
    ['attachment=1&part=body']
  )
})
