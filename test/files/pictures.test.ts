/** Text in pictures, by the real engine: each format, each way of drawing, and in files. */
import t from 'tap'
import { type FileInput, Texts } from '../../src/files/file.js'
import { findPackages } from '../../src/files/packages.js'
import { readFile } from '../../src/files/read/index.js'
import { Engine } from '../../src/files/read/picture/engine.js'
import { Pictures } from '../../src/files/read/picture/index.js'
import { greyOf } from '../../src/files/read/picture/pixels.js'
import { docx, mail, odt, pdf, pptx } from './make.js'
import { bmp, chunk, drawn, gif, pngOf, tiff, webpWith, withChunks, withSegments } from './pictures.js'

const buffers = ArrayBuffer.prototype as { transferToFixedLength?: (length?: number) => ArrayBuffer }
buffers.transferToFixedLength ??= function (this: ArrayBuffer, length) {
  return this.slice(0, length)
}

const engine = await Engine.open(findPackages(['eng']).languages)
const pictures = new Pictures(engine)
const grey = (name: string) => greyOf(engine.decode(drawn(name)), 'none')

async function read(bytes: Buffer, input: Partial<FileInput> = {}) {
  const reading = await readFile({ bytes, type: '', name: '', isPicture: true, ...input }, pictures)
  return reading.whole ? reading.texts : reading.reason
}

/** The places of a word, with what hides it. */
async function places(word: string, bytes: Buffer, input: Partial<FileInput> = {}) {
  const texts = await read(bytes, input)
  if (typeof texts === 'string') return texts
  return texts.filter(({ text }) => text.includes(word)).map(({ where, hidden = '' }) => `${where} ${hidden}`.trim())
}

t.test('each format is read, and the finding has its box', async (t) => {
  const [place] = (await places('forbidme', drawn('forbidden'))) as string[]
  const [left, top, width, height] = /^xywh=(\d+),(\d+),(\d+),(\d+)$/.exec(place!)!.slice(1).map(Number)
  t.ok(left! < 20 && top! < 20 && width! > 200 && width! < 300 && height! > 15 && height! < 45, `at ${place}`)
  const forbidden = grey('forbidden')
  const others: [format: string, bytes: Buffer, type: string][] = [
    ['JPEG', drawn('forbidden.jpeg'), 'image/jpeg'],
    ['WebP', drawn('forbidden.webp'), 'image/webp'],
    ['BMP', bmp(forbidden), 'image/bmp'],
    ['TIFF', tiff(forbidden), 'image/tiff'],
    ['GIF', gif(forbidden), 'image/gif']
  ]
  for (const [format, bytes, type] of others) t.match(await places('forbidme', bytes, { type }), [/^xywh=/], format)
})

t.test('text that people overlook is read, and marked', async (t) => {
  t.match(await places('forbidme', drawn('faint')), [/ faint$/])
  t.match(await places('forbidme', drawn('white')), [/^xywh=[\d,]+$/])
  t.match(await places('forbidme', drawn('turned')), [/^xywh=/])
  t.match(await places('forbidme', drawn('transparent')), [/ invisible$/], 'white on nothing')
})

t.test('metadata is judged as text, whatever writes it', async (t) => {
  const words = 'secretwords here'
  const wide = Buffer.concat([Buffer.from('Exif\0\0MM\0*', 'latin1'), Buffer.from(words, 'utf16le').swap16()])
  const png = drawn('harmless')
  const jpeg = drawn('forbidden.jpeg')
  const rows: [what: string, bytes: Buffer][] = [
    ['tEXt', withChunks(png, chunk('tEXt', `Comment\0${words}`))],
    ['iTXt', withChunks(png, chunk('iTXt', `Comment\0\0\0en\0\0${words}`))],
    ['an unknown chunk', withChunks(png, chunk('prVt', `\x01\x02${words}`))],
    ['XMP', withChunks(png, chunk('iTXt', `XML:com.adobe.xmp\0\0\0\0\0<x a="${words.replace('s', '&#115;')}"/>`))],
    ['EXIF', withSegments(jpeg, [0xe1, Buffer.from(`Exif\0\0MM\0*${words}`, 'latin1')])],
    ['EXIF in UTF-16', withSegments(jpeg, [0xe1, wide])],
    ['a comment', withSegments(jpeg, [0xfe, words])],
    ['XMP of a JPEG', withSegments(jpeg, [0xe1, `http://ns.adobe.com/xap/1.0/\0<x>${words}</x>`])],
    ['WebP', webpWith(drawn('forbidden.webp'), 'EXIF', `II*\0${words}`)],
    ['GIF', gif(grey('harmless'), { comment: words })],
    ['TIFF', tiff(grey('harmless'), { text: words })]
  ]
  for (const [what, bytes] of rows) t.same(await places('secretwords', bytes), ['part=metadata metadata'], what)
})

t.test('a small picture beside the large one is read, too', async (t) => {
  const exif = Buffer.concat([Buffer.from('Exif\0\0II*\0', 'latin1'), drawn('forbidden.jpeg')])
  t.match(await places('forbidme', withChunks(drawn('harmless'), chunk('eXIf', exif))), [/^part=thumbnail&xywh=/])
})

t.test('pictures in files are read where pictures are', async (t) => {
  const shown = drawn('forbidden')
  const office = { more: [{ name: 'word/media/image1.png', content: shown }] }
  t.match(await places('forbidme', docx('harmless', office), { name: 'a.docx', isPicture: false }), [
    /^part=image1&xywh=/
  ])
  const thumbnail = { more: [{ name: 'docProps/thumbnail.jpeg', content: drawn('forbidden.jpeg') }] }
  t.match(await places('forbidme', pptx(['a'], thumbnail), { name: 'a.pptx', isPicture: false }), [
    /^part=thumbnail&xywh=/
  ])
  const open = { more: [{ name: 'Thumbnails/thumbnail.png', content: shown }] }
  t.match(await places('forbidme', odt('harmless', open), { name: 'a.odt', isPicture: false }), [
    /^part=thumbnail&xywh=/
  ])
  const message = mail([
    { type: 'text/plain', content: 'body' },
    { type: 'image/png', content: shown, name: 'a.png' }
  ])
  t.match(await places('forbidme', message, { name: 'a.eml', isPicture: false }), [/^attachment=1&xywh=/])
  const drawing = { more: [{ name: 'word/media/image1.emf', content: Buffer.from('\x01\0\0\0') }] }
  t.equal(await read(docx('harmless', drawing), { name: 'a.docx', isPicture: false }), 'picture_unread')
})

t.test('pictures on the pages of a PDF are read, in strips too', async (t) => {
  const input = { name: 'a.pdf', isPicture: false }
  const one = await pdf(['first', 'second'], async (document) => {
    document
      .getPage(1)
      .drawImage(await document.embedPng(drawn('forbidden')), { x: 40, y: 300, width: 270, height: 68 })
  })
  t.match(await places('forbidme', one, input), [/^page=2&xywh=/])
  const jpeg = await pdf(['a'], async (document) => {
    document
      .getPage(0)
      .drawImage(await document.embedJpg(drawn('forbidden.jpeg')), { x: 40, y: 300, width: 270, height: 68 })
  })
  t.match(await places('forbidme', jpeg, input), [/^page=1&xywh=/])
  const { width, height, data } = grey('forbidden')
  const half = (from: number, to: number) =>
    pngOf({ width, height: to - from, data: data.subarray(from * width, to * width) })
  t.same(await places('forbidme', half(0, 22)), [], 'half a line says nothing')
  const strips = await pdf(['a'], async (document) => {
    for (const [from, to] of [
      [0, 22],
      [22, height]
    ] as const) {
      const strip = await document.embedPng(
        pngOf({ width, height: to - from, data: data.subarray(from * width, to * width) })
      )
      document.getPage(0).drawImage(strip, { x: 40, y: 400 - to, width, height: to - from })
    }
  })
  t.match(await places('forbidme', strips, input), [/^page=1&xywh=/])
  const unseen = await pdf(['a'], async (document) => {
    await (await document.embedPng(drawn('forbidden'))).embed()
  })
  t.equal(await read(unseen, input), 'picture_unread', 'one that no page draws')
})

t.test('whoever reads a picture says so, since what it shows is nobody’s to judge', async (t) => {
  const asked = { type: '', name: 'a.docx' }
  const media = { more: [{ name: 'word/media/image1.png', content: drawn('harmless') }] }
  t.match(await readFile({ ...asked, bytes: docx('a', media) }, pictures), { whole: true, hasPictures: true })
  t.match(await readFile({ ...asked, bytes: docx('a') }, pictures), { whole: true, hasPictures: false })
  const out = new Texts()
  for (let i = 0; i < 200; i++) out.pictures++
  t.throws(() => pictures.read(drawn('harmless'), out, ''), { message: 'too_large' })
})
