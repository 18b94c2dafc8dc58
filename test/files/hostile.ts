/** Files that are made to be misread, each with what becomes of it. docs/files.md shows the same table. */
import { AFRelationship, type PDFDocument } from '@cantoo/pdf-lib'
import type { UnreadReason } from '../../src/files/file.js'
import {
  docx,
  mail,
  odt,
  pagePdf,
  paragraph,
  pdf,
  png,
  pptx,
  rawPdf,
  showing,
  slidePart,
  stream,
  xlsx,
  zip
} from './make.js'

export interface Hostile {
  what: string
  name: string
  type?: string
  charset?: string
  make(): Buffer | string | Promise<Buffer>
  outcome: UnreadReason
}

const one = (change: (document: PDFDocument) => unknown) => () => pdf(['harmless'], change)
const page =
  (content: string, options: Parameters<typeof pagePdf>[1] = {}) =>
  () =>
    pagePdf(`${showing('harmless')} ${content}`, options)
/** A font whose letters stand for what a map says, from A on. */
/** A page in letters that its font maps to others. */
export const mapped = (to: (code: number) => string, content = showing('ABCDEFGHIJKLMNOP')) => {
  const lines = Array.from({ length: 26 }, (_, i) => `<${(65 + i).toString(16)}> <${to(65 + i)}>`)
  const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange 26 beginbfchar\n${lines.join('\n')}\nendbfchar endcmap end end`
  return () =>
    pagePdf(content, {
      font: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>',
      more: [stream(map)]
    })
}
const grow = (parts: number) =>
  Array.from({ length: parts }, (_, i) => ({ name: `word/p${i}.xml`, content: `<p>${' '.repeat(1024)}</p>` }))
const more =
  (name: string, content: string | Buffer = '<x/>') =>
  () =>
    docx('harmless', { more: [{ name, content }] })
const inside = (xml: string) => () => docx(`${paragraph('harmless')}${xml}`)
const bomb = '<!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
const nestedMail = (depth: number): Buffer =>
  mail([
    depth === 0
      ? { type: 'text/plain', content: 'harmless' }
      : { type: 'message/rfc822', content: nestedMail(depth - 1) }
  ])

export const hostile: readonly Hostile[] = [
  {
    what: 'PDF with a password',
    name: 'a.pdf',
    make: one((document) => document.encrypt({ userPassword: 'u', ownerPassword: 'o' })),
    outcome: 'encrypted'
  },
  {
    what: 'PDF that opens without its password',
    name: 'a.pdf',
    make: one((document) => document.encrypt({ userPassword: '', ownerPassword: 'o' })),
    outcome: 'encrypted'
  },
  {
    what: 'PDF with a stream in a crypt filter',
    name: 'a.pdf',
    make: page('', { more: ['<< /Length 1 /Filter /Crypt >>\nstream\nx\nendstream'] }),
    outcome: 'encrypted'
  },
  {
    what: 'PDF with a picture',
    name: 'a.pdf',
    make: one(async (document) => document.getPage(0).drawImage(await document.embedPng(png))),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF with a picture in the content of a page',
    name: 'a.pdf',
    make: page('BI /W 4 /H 4 /BPC 8 /CS /G ID 0123456789abcdef EI'),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF with a picture that no page shows',
    name: 'a.pdf',
    make: page('', {
      more: [
        stream('x', '/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray')
      ]
    }),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF with a mask',
    name: 'a.pdf',
    make: page('', { more: [stream('x', '/ImageMask true /Width 8 /Height 1')] }),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF with a JPEG that is called none',
    name: 'a.pdf',
    make: page('', { more: ['<< /Length 1 /Filter /DCTDecode >>\nstream\nx\nendstream'] }),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF whose picture has its name escaped',
    name: 'a.pdf',
    make: page('', { more: [stream('x', '/Type /XObject /Subtype /#49mage /Width 1 /Height 1')] }),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF with JavaScript',
    name: 'a.pdf',
    make: page('', { catalog: '/OpenAction << /S /JavaScript /JS (app.alert) >>' }),
    outcome: 'macros'
  },
  {
    what: 'PDF that starts a program',
    name: 'a.pdf',
    make: page('', { catalog: '/OpenAction << /S /Launch /F (x) >>' }),
    outcome: 'macros'
  },
  {
    what: 'PDF with a file attached',
    name: 'a.pdf',
    make: one((document) => document.attach(Buffer.from('x'), 'a.txt', { afRelationship: AFRelationship.Data })),
    outcome: 'attachment_unread'
  },
  {
    what: 'PDF with a file in a note',
    name: 'a.pdf',
    make: page('', { page: '/Annots [<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 1 1] >>]' }),
    outcome: 'attachment_unread'
  },
  {
    what: 'PDF with a film',
    name: 'a.pdf',
    make: page('', { page: '/Annots [<< /Type /Annot /Subtype /RichMedia /Rect [0 0 1 1] >>]' }),
    outcome: 'object_unread'
  },
  {
    what: 'PDF with an XFA form',
    name: 'a.pdf',
    make: page('', { catalog: '/AcroForm << /XFA 6 0 R /Fields [] >>', more: [stream('<xdp/>')] }),
    outcome: 'object_unread'
  },
  {
    what: 'PDF whose glyphs are drawings',
    name: 'a.pdf',
    make: () =>
      pagePdf(showing('a'), {
        font: '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /CharProcs << /a 6 0 R >> /Encoding << /Differences [97 /a] >> /FirstChar 97 /LastChar 97 /Widths [1] >>',
        more: [stream('0 0 1 1 re f')]
      }),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'PDF with a font of glyph numbers that nothing maps',
    name: 'a.pdf',
    make: () =>
      pagePdf('BT /F1 12 Tf 40 700 Td <00010002> Tj ET', {
        font: '<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] >>',
        more: [
          '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>'
        ]
      }),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'PDF with an embedded font without encoding',
    name: 'a.pdf',
    make: () =>
      pagePdf(showing('a'), {
        font: '<< /Type /Font /Subtype /TrueType /BaseFont /X /FontDescriptor 6 0 R >>',
        more: ['<< /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 7 0 R >>', stream('x')]
      }),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'PDF whose font calls every glyph a space',
    name: 'a.pdf',
    make: mapped(() => '0020'),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'PDF whose font calls every glyph the same letter',
    name: 'a.pdf',
    make: mapped(() => '0061'),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'PDF whose font maps to private letters',
    name: 'a.pdf',
    make: mapped((code) => `e0${code.toString(16)}`),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'PDF with a private letter within a word',
    name: 'a.pdf',
    make: mapped((code) => (code === 65 ? 'f0b7' : `00${code.toString(16)}`), showing('BOAMB')),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'PDF with more private letters than bullets',
    name: 'a.pdf',
    make: mapped((code) => `f0${code.toString(16)}`, showing('A B C D E')),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'PDF with letters in the tile of a pattern',
    name: 'a.pdf',
    make: page('/Pattern cs /P1 scn 0 0 600 800 re f', {
      resources: '/Pattern << /P1 6 0 R >>',
      more: [
        stream(
          'BT /F1 9 Tf (x) Tj ET',
          '/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources << >>'
        )
      ]
    }),
    outcome: 'drawing_unread'
  },
  {
    what: 'PDF with letters drawn as curves',
    name: 'a.pdf',
    make: page('0 0 m 1 1 2 2 3 3 c S '.repeat(100)),
    outcome: 'drawing_unread'
  },
  {
    what: 'PDF with letters drawn as lines',
    name: 'a.pdf',
    make: page('0 0 m 1 1 l S '.repeat(1000)),
    outcome: 'drawing_unread'
  },
  {
    what: 'PDF whose pages hold each other',
    name: 'a.pdf',
    make: () =>
      rawPdf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 2 >>',
        '<< /Type /Pages /Kids [2 0 R] /Count 2 /Parent 2 0 R >>'
      ]),
    outcome: 'damaged'
  },
  {
    what: 'PDF whose drawing draws itself',
    name: 'a.pdf',
    make: page('/X Do', {
      resources: '/XObject << /X 6 0 R >>',
      more: [stream('/X Do', '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>')]
    }),
    outcome: 'damaged'
  },
  {
    what: 'PDF with 201 pages',
    name: 'a.pdf',
    make: () => pdf(Array.from({ length: 201 }, () => 'x')),
    outcome: 'too_large'
  },
  {
    what: 'PDF that unpacks to 100 MB',
    name: 'a.pdf',
    make: () => pagePdf(stream(Buffer.alloc(100_000_000, 32), '', true)),
    outcome: 'too_large'
  },
  {
    what: 'PDF that says too much',
    name: 'a.pdf',
    make: () => pagePdf(stream(showing('harmless '.repeat(300_000)), '', true)),
    outcome: 'too_large'
  },
  { what: 'PDF cut off', name: 'a.pdf', make: () => pagePdf(showing('harmless')).subarray(0, 300), outcome: 'damaged' },
  {
    what: 'PDF with a stream that does not unpack',
    name: 'a.pdf',
    make: () => pagePdf(Buffer.from('<< /Length 4 /Filter /FlateDecode >>\nstream\nabcd\nendstream')),
    outcome: 'damaged'
  },
  {
    what: 'PDF with a filter that nobody knows',
    name: 'a.pdf',
    make: () => pagePdf(Buffer.from('<< /Length 4 /Filter /MyDecode >>\nstream\nabcd\nendstream')),
    outcome: 'damaged'
  },
  {
    what: 'PDF with nothing behind its head',
    name: 'a.pdf',
    make: () => '%PDF-1.7\nharmless text',
    outcome: 'damaged'
  },
  {
    what: 'PDF with an earlier version in it',
    name: 'a.pdf',
    make: () =>
      Buffer.concat([
        pagePdf(showing('earlier')),
        Buffer.from('\n4 0 obj\n<< /Length 0 >>\nstream\n\nendstream\nendobj\n')
      ]),
    outcome: 'earlier_version'
  },
  { what: 'PDF named as text', name: 'a.txt', make: () => pdf(['x']), outcome: 'type_mismatch' },
  { what: 'PDF said to be text', name: 'a.pdf', type: 'text/plain', make: () => pdf(['x']), outcome: 'type_mismatch' },
  {
    what: 'Word said to be PDF',
    name: 'a.docx',
    type: 'application/pdf',
    make: () => docx('x'),
    outcome: 'type_mismatch'
  },
  { what: 'Word named as Excel', name: 'a.xlsx', make: () => docx('x'), outcome: 'type_mismatch' },
  {
    what: 'archive in which one file unpacks to 100 MB',
    name: 'a.docx',
    make: more('word/big.xml', Buffer.alloc(100_000_000, 32)),
    outcome: 'too_large'
  },
  {
    what: 'archive whose files unpack to 80 MB together',
    name: 'a.docx',
    make: () =>
      docx('x', { more: [1, 2, 3, 4].map((i) => ({ name: `word/b${i}.xml`, content: Buffer.alloc(20_000_000, 32) })) }),
    outcome: 'too_large'
  },
  {
    what: 'archive of 2,500 files',
    name: 'a.docx',
    make: () => docx('x', { more: grow(2_500) }),
    outcome: 'too_large'
  },
  {
    what: 'archive whose directory tells a smaller size',
    name: 'a.docx',
    make: () => docx('x', { more: [{ name: 'word/a.xml', content: ' '.repeat(9_999), claims: 10 }] }),
    outcome: 'damaged'
  },
  {
    what: 'archive with two files of one name',
    name: 'a.docx',
    make: more('word/document.xml', '<x>other</x>'),
    outcome: 'damaged'
  },
  {
    what: 'archive with two names that differ by case',
    name: 'a.docx',
    make: more('word/DOCUMENT.xml', '<x>other</x>'),
    outcome: 'damaged'
  },
  {
    what: 'archive with a file outside of its folder',
    name: 'a.docx',
    make: more('../../etc/x.xml'),
    outcome: 'damaged'
  },
  {
    what: 'archive with a wrong checksum',
    name: 'a.docx',
    make: () => docx('x', { more: [{ name: 'word/a.xml', content: '<x/>', sum: 1 }] }),
    outcome: 'damaged'
  },
  {
    what: 'archive with a file that has two names',
    name: 'a.docx',
    make: () => docx('x', { more: [{ name: 'word/a.xml', content: '<x/>', headName: 'word/b.xml' }] }),
    outcome: 'damaged'
  },
  {
    what: 'archive with a file that is in no directory',
    name: 'a.docx',
    make: () => zip([{ name: '[Content_Types].xml', content: '<Types/>' }], { between: 'PK\x03\x04hidden' }),
    outcome: 'object_unread'
  },
  {
    what: 'archive with text behind its end',
    name: 'a.docx',
    make: () => Buffer.concat([docx('x'), Buffer.from('harmful')]),
    outcome: 'damaged'
  },
  {
    what: 'archive with text before its start',
    name: 'a.docx',
    type: 'text/plain',
    make: () => Buffer.concat([Buffer.from('harmful'), docx('x')]),
    outcome: 'type_mismatch'
  },
  {
    what: 'archive with a locked file',
    name: 'a.docx',
    make: () => docx('x', { more: [{ name: 'word/a.xml', content: '<x/>', flags: 1 }] }),
    outcome: 'encrypted'
  },
  { what: 'Word cut off', name: 'a.docx', make: () => docx('harmless').subarray(0, 400), outcome: 'damaged' },
  {
    what: 'Word with a password',
    name: 'a.docx',
    make: () => Buffer.from('d0cf11e0a1b11ae10000', 'hex'),
    outcome: 'encrypted'
  },
  {
    what: 'Word as it was before 2007',
    name: 'a.doc',
    make: () => Buffer.from('d0cf11e0a1b11ae10000', 'hex'),
    outcome: 'unsupported_type'
  },
  { what: 'Word with macros', name: 'a.docx', make: more('word/vbaProject.bin', 'x'), outcome: 'macros' },
  {
    what: 'Word that says it has macros',
    name: 'a.docx',
    make: () =>
      docx('x', {
        types: '<Override PartName="/x.xml" ContentType="application/vnd.ms-word.document.macroEnabled.main+xml"/>'
      }),
    outcome: 'macros'
  },
  {
    what: 'Excel with a control',
    name: 'a.xlsx',
    make: () => xlsx([{ rows: [['a']] }], { more: [{ name: 'xl/activeX/activeX1.xml', content: '<x/>' }] }),
    outcome: 'macros'
  },
  { what: 'Word with a picture', name: 'a.docx', make: more('word/media/image1.png', png), outcome: 'picture_unread' },
  {
    what: 'Word with a picture that is called XML',
    name: 'a.docx',
    make: more('word/other.xml', png),
    outcome: 'bad_encoding'
  },
  {
    what: 'PowerPoint with a thumbnail',
    name: 'a.pptx',
    make: () => pptx(['x'], { more: [{ name: 'docProps/thumbnail.jpeg', content: png }] }),
    outcome: 'picture_unread'
  },
  {
    what: 'Word with another file in it',
    name: 'a.docx',
    make: more('word/embeddings/oleObject1.bin', 'x'),
    outcome: 'object_unread'
  },
  {
    what: 'Word with a page of HTML in it',
    name: 'a.docx',
    make: more('word/afchunk.html', '<p>harmful</p>'),
    outcome: 'object_unread'
  },
  {
    what: 'Word with an archive in it',
    name: 'a.docx',
    make: () => docx('x', { more: [{ name: 'word/a.zip', content: zip([{ name: 'a', content: 'x' }]) }] }),
    outcome: 'object_unread'
  },
  {
    what: 'Word with a stored archive in it',
    name: 'a.docx',
    make: () => docx('x', { more: [{ name: 'word/a.xml', content: docx('harmful'), isStored: true }] }),
    outcome: 'damaged'
  },
  {
    what: 'Word with glyphs by their numbers',
    name: 'a.docx',
    make: inside('<w:p><w:r><w:sym w:font="Arial" w:char="0068"/></w:r></w:p>'),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'Word with a font of its own',
    name: 'a.docx',
    make: more('word/fonts/font1.odttf', 'x'),
    outcome: 'glyphs_unmapped'
  },
  {
    what: 'Word with entities that multiply',
    name: 'a.docx',
    make: more('word/a.xml', `${bomb}<l>&b;</l>`),
    outcome: 'entities'
  },
  {
    what: 'Word with an entity from a file',
    name: 'a.docx',
    make: more('word/a.xml', '<!DOCTYPE l SYSTEM "file:///etc/passwd"><l/>'),
    outcome: 'entities'
  },
  {
    what: 'Word with 10,000 elements in one another',
    name: 'a.docx',
    make: inside(`${'<w:p>'.repeat(10_000)}${'</w:p>'.repeat(10_000)}`),
    outcome: 'too_large'
  },
  { what: 'Word with XML that does not end', name: 'a.docx', make: inside('<w:p>'), outcome: 'damaged' },
  {
    what: 'Word with XML in another charset',
    name: 'a.docx',
    make: more('word/a.xml', '<?xml version="1.0" encoding="UTF-7"?><x>+ADw-</x>'),
    outcome: 'bad_encoding'
  },
  {
    what: 'Word with a file in its text',
    name: 'a.docx',
    make: inside('<w:binData>AAAA</w:binData>'),
    outcome: 'object_unread'
  },
  {
    what: 'PowerPoint with letters drawn by hand',
    name: 'a.pptx',
    make: () => pptx(['x'], { more: [slidePart('slides/slide2', 'x', 'sld', '<a:custGeom/>')] }),
    outcome: 'drawing_unread'
  },
  { what: 'Word with ink', name: 'a.docx', make: more('word/ink/ink1.xml', '<ink/>'), outcome: 'picture_unread' },
  {
    what: 'Excel in which cells repeat one long text',
    name: 'a.xlsx',
    make: () => xlsx([{ rows: [['harmless '.repeat(3_000)]], xml: '<c t="s"><v>0</v></c>'.repeat(1_000) }]),
    outcome: 'too_large'
  },
  {
    what: 'Excel with a cell that refers to nothing',
    name: 'a.xlsx',
    make: () => xlsx([{ rows: [['x']], xml: '<c t="s"><v>77</v></c>' }]),
    outcome: 'damaged'
  },
  {
    what: 'OpenDocument with a script',
    name: 'a.odt',
    make: () => odt('x', { more: [{ name: 'Basic/Standard/a.xml', content: '<x/>' }] }),
    outcome: 'macros'
  },
  {
    what: 'OpenDocument with a password',
    name: 'a.odt',
    make: () => odt('x', { manifest: '<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>' }),
    outcome: 'encrypted'
  },
  {
    what: 'OpenDocument with a picture',
    name: 'a.odt',
    make: () => odt('x', { more: [{ name: 'Pictures/a.png', content: png }] }),
    outcome: 'picture_unread'
  },
  {
    what: 'OpenDocument with a thumbnail',
    name: 'a.odt',
    make: () => odt('x', { more: [{ name: 'Thumbnails/thumbnail.png', content: png }] }),
    outcome: 'picture_unread'
  },
  {
    what: 'OpenDocument with an object',
    name: 'a.odt',
    make: () => odt('x', { more: [{ name: 'Object 1', content: 'x' }] }),
    outcome: 'object_unread'
  },
  {
    what: 'OpenDocument with a file in its text',
    name: 'a.odt',
    make: () => odt('<text:p><office:binary-data>AAAA</office:binary-data></text:p>'),
    outcome: 'object_unread'
  },
  {
    what: 'OpenDocument of another kind than it is named',
    name: 'a.ods',
    make: () => odt('x'),
    outcome: 'type_mismatch'
  },
  {
    what: 'HTML with a picture in it',
    name: 'a.html',
    make: () => '<p>harmless</p><img src="data:image/png;base64,iVBORw0KGgo=">',
    outcome: 'picture_unread'
  },
  {
    what: 'HTML with a picture in its style',
    name: 'a.html',
    make: () => '<style>p { background: url(data:image/png;base64,iVBORw0KGgo=) }</style>',
    outcome: 'picture_unread'
  },
  {
    what: 'HTML with a drawing',
    name: 'a.html',
    make: () => '<p>harmless</p><svg><path d="M0 0"/></svg>',
    outcome: 'drawing_unread'
  },
  {
    what: 'HTML with a page in a frame',
    name: 'a.html',
    make: () => '<iframe srcdoc="<p>harmful</p>"></iframe>',
    outcome: 'object_unread'
  },
  {
    what: 'HTML with an object',
    name: 'a.html',
    make: () => '<object data="a.swf"></object>',
    outcome: 'object_unread'
  },
  {
    what: 'HTML with 2,000 elements in one another',
    name: 'a.html',
    make: () => `${'<div>'.repeat(2_000)}x`,
    outcome: 'too_large'
  },
  {
    what: 'Markdown with a picture in it',
    name: 'a.md',
    make: () => '![x](data:image/png;base64,iVBORw0KGgo=)',
    outcome: 'picture_unread'
  },
  {
    what: 'text with bytes that are none',
    name: 'a.txt',
    make: () => Buffer.from([0x61, 0x00, 0x62]),
    outcome: 'bad_encoding'
  },
  {
    what: 'text that is no UTF-8',
    name: 'a.txt',
    make: () => Buffer.from([0x61, 0xff, 0xc0]),
    outcome: 'bad_encoding'
  },
  {
    what: 'text with a mark of another charset',
    name: 'a.txt',
    charset: 'utf-8',
    make: () => Buffer.from('\uFEFFab', 'utf16le'),
    outcome: 'bad_encoding'
  },
  {
    what: 'text in a charset that nobody knows',
    name: 'a.txt',
    charset: 'x-mine',
    make: () => 'abc',
    outcome: 'bad_encoding'
  },
  {
    what: 'text of three million letters',
    name: 'a.txt',
    make: () => 'harmless '.repeat(340_000),
    outcome: 'too_large'
  },
  { what: 'picture named as text', name: 'a.txt', make: () => png, outcome: 'type_mismatch' },
  { what: 'picture as a file', name: 'a.png', type: 'image/png', make: () => png, outcome: 'picture_unread' },
  { what: 'RTF', name: 'a.rtf', make: () => '{\\rtf1 harmless}', outcome: 'unsupported_type' },
  {
    what: 'RTF said to be text',
    name: '',
    type: 'text/plain',
    make: () => '{\\rtf1 harmless}',
    outcome: 'type_mismatch'
  },
  { what: 'archive', name: 'a.zip', make: () => zip([{ name: 'a.txt', content: 'x' }]), outcome: 'unsupported_type' },
  { what: 'archive without a name', name: '', make: () => docx('x'), outcome: 'unsupported_type' },
  { what: 'sound', name: 'a.mp3', make: () => Buffer.from('ID3\x03'), outcome: 'unsupported_type' },
  {
    what: 'e-mail with a picture',
    name: 'a.eml',
    make: () => mail([{ type: 'image/png', content: png, name: 'a.png' }]),
    outcome: 'picture_unread'
  },
  {
    what: 'e-mail with Word that has macros',
    name: 'a.eml',
    make: () =>
      mail([
        {
          type: 'application/octet-stream',
          name: 'a.docx',
          content: docx('x', { more: [{ name: 'word/vbaProject.bin', content: 'x' }] })
        }
      ]),
    outcome: 'macros'
  },
  {
    what: 'e-mail with an archive',
    name: 'a.eml',
    make: () => mail([{ type: 'application/zip', name: 'a.zip', content: zip([]) }]),
    outcome: 'unsupported_type'
  },
  { what: 'e-mail in an e-mail, five times', name: 'a.eml', make: () => nestedMail(5), outcome: 'too_large' },
  {
    what: 'e-mail that is locked',
    name: 'a.eml',
    make: () => 'Subject: x\r\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n\r\nAAAA',
    outcome: 'encrypted'
  },
  {
    what: 'e-mail with 60 files',
    name: 'a.eml',
    make: () => mail(Array.from({ length: 60 }, (_, i) => ({ type: 'text/plain', content: 'x', name: `${i}.txt` }))),
    outcome: 'too_large'
  },
  { what: 'text named as an e-mail', name: 'a.eml', make: () => 'harmless', outcome: 'type_mismatch' }
]
