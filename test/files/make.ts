/** Files as generators make them: whole ones of each kind, and the means to make hostile ones. */
import { crc32, deflateRawSync, deflateSync } from 'node:zlib'
import { PDFDocument, type PDFFont, rgb, StandardFonts } from '@cantoo/pdf-lib'

export interface ZipEntry {
  name: string
  content: string | Buffer
  /** General purpose flags; bit 0: encrypted. */
  flags?: number
  /** What the directory says of its length instead. */
  claims?: number
  /** What the head before the file says it is named instead. */
  headName?: string
  sum?: number
  isStored?: boolean
}

/** An archive (APPNOTE 6.3), with whatever is wrong in it that a test asks for. */
export function zip(entries: readonly ZipEntry[], { between = '' }: { between?: string | Buffer } = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  const put = (part: Buffer) => {
    parts.push(part)
    at += part.length
  }
  for (const { name, content, flags = 0, claims, headName = name, sum, isStored = false } of entries) {
    const bytes = Buffer.from(content)
    const packed = isStored ? bytes : deflateRawSync(bytes)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(flags, 2)
    facts.writeUInt16LE(isStored ? 0 : 8, 4)
    facts.writeUInt32LE(sum ?? crc32(bytes), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(claims ?? bytes.length, 18)
    const place = at
    const head = Buffer.from(facts)
    head.writeUInt16LE(Buffer.byteLength(headName), 22)
    put(Buffer.concat([Buffer.from('PK\x03\x04'), head, Buffer.from(headName), packed]))
    facts.writeUInt16LE(Buffer.byteLength(name), 22)
    const behind = Buffer.alloc(14)
    behind.writeUInt32LE(place, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), facts, behind, Buffer.from(name)]))
  }
  put(Buffer.from(between))
  const whole = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(whole.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, whole, end])
}

export const escapeXml = (text: string) =>
  text.replace(/[&<>"]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[each]!)

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const office = 'http://schemas.openxmlformats.org'
const kinds = {
  docx: ['word/document.xml', 'wordprocessingml.document.main'],
  pptx: ['ppt/presentation.xml', 'presentationml.presentation.main'],
  xlsx: ['xl/workbook.xml', 'spreadsheetml.sheet.main']
} as const

type Office = keyof typeof kinds

/** The parts that every such file has, before its own. */
function packageOf(kind: Office, parts: readonly ZipEntry[], types = ''): ZipEntry[] {
  const [main, type] = kinds[kind]
  const content = `${head}<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${main}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>${types}</Types>`
  const rels = `${head}<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="rId1" Type="${office}/officeDocument/2006/relationships/officeDocument" Target="${main}"/></Relationships>`
  return [{ name: '[Content_Types].xml', content }, { name: '_rels/.rels', content: rels }, ...parts]
}

export interface OfficeOptions {
  /** More parts. */
  more?: readonly ZipEntry[]
  /** More content types. */
  types?: string
}

const w = `xmlns:w="${office}/wordprocessingml/2006/main"`

/** @param body of paragraphs, or the XML of them */
export function docx(body: string, { more = [], types = '' }: OfficeOptions = {}): Buffer {
  const paragraphs = body.startsWith('<') ? body : body.split('\n').map(paragraph).join('')
  const document = `${head}<w:document ${w}><w:body>${paragraphs}</w:body></w:document>`
  return zip(packageOf('docx', [{ name: 'word/document.xml', content: document }, ...more], types))
}

export const paragraph = (text: string) => `<w:p>${run(text)}</w:p>`
/** @param properties of the run */
export const run = (text: string, properties = '') =>
  `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r>`

export function wordPart(name: string, tag: string, text: string): ZipEntry {
  return { name: `word/${name}.xml`, content: `${head}<w:${tag} ${w}>${paragraph(text)}</w:${tag}>` }
}

export interface Sheet {
  rows: readonly (readonly string[])[]
  state?: string
  /** More XML in the sheet. */
  xml?: string
}

export function xlsx(sheets: readonly Sheet[], { more = [], types = '' }: OfficeOptions = {}): Buffer {
  const strings: string[] = []
  const ns = `xmlns="${office}/spreadsheetml/2006/main" xmlns:r="${office}/officeDocument/2006/relationships"`
  const parts = sheets.map(({ rows, xml = '' }, i): ZipEntry => {
    const cells = rows
      .map((row) => `<row>${row.map((each) => `<c t="s"><v>${strings.push(each) - 1}</v></c>`).join('')}</row>`)
      .join('')
    return {
      name: `xl/worksheets/sheet${i + 1}.xml`,
      content: `${head}<worksheet ${ns}><sheetData>${cells}</sheetData>${xml}</worksheet>`
    }
  })
  const list = sheets.map(
    ({ state }, i) =>
      `<sheet name="S${i + 1}" sheetId="${i + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${i + 1}"/>`
  )
  const rels = sheets.map(
    (_, i) =>
      `<Relationship Id="rId${i + 1}" Type="${office}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`
  )
  const book: ZipEntry[] = [
    { name: 'xl/workbook.xml', content: `${head}<workbook ${ns}><sheets>${list.join('')}</sheets></workbook>` },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `${head}<Relationships xmlns="${office}/package/2006/relationships">${rels.join('')}</Relationships>`
    },
    {
      name: 'xl/sharedStrings.xml',
      content: `${head}<sst ${ns}>${strings.map((each) => `<si><t>${escapeXml(each)}</t></si>`).join('')}</sst>`
    }
  ]
  return zip(packageOf('xlsx', [...book, ...parts, ...more], types))
}

const drawing = `xmlns:a="${office}/drawingml/2006/main" xmlns:p="${office}/presentationml/2006/main"`
export const slidePart = (name: string, text: string, tag = 'sld', properties = ''): ZipEntry => ({
  name: `ppt/${name}.xml`,
  content: `${head}<p:${tag} ${drawing}><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r>${properties}<a:t>${escapeXml(text)}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:${tag}>`
})

export function pptx(slides: readonly string[], { more = [], types = '' }: OfficeOptions = {}): Buffer {
  const parts = slides.map((text, i) => slidePart(`slides/slide${i + 1}`, text))
  const presentation = { name: 'ppt/presentation.xml', content: `${head}<p:presentation ${drawing}/>` }
  return zip(packageOf('pptx', [presentation, ...parts, ...more], types))
}

const oasis = 'urn:oasis:names:tc:opendocument:xmlns'
export const odNames = `xmlns:office="${oasis}:office:1.0" xmlns:text="${oasis}:text:1.0" xmlns:table="${oasis}:table:1.0" xmlns:draw="${oasis}:drawing:1.0" xmlns:style="${oasis}:style:1.0" xmlns:fo="${oasis}:xsl-fo-compatible:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"`

export interface OpenOptions {
  more?: readonly ZipEntry[]
  styles?: string
  /** More XML in the manifest. */
  manifest?: string
}

export function openDocument(
  kind: 'text' | 'spreadsheet' | 'presentation',
  body: string,
  options: OpenOptions = {}
): Buffer {
  const { more = [], styles = '', manifest = '' } = options
  const type = `application/vnd.oasis.opendocument.${kind}`
  return zip([
    { name: 'mimetype', content: type, isStored: true },
    {
      name: 'META-INF/manifest.xml',
      content: `${head}<manifest:manifest xmlns:manifest="${oasis}:manifest:1.0">${manifest}</manifest:manifest>`
    },
    {
      name: 'content.xml',
      content: `${head}<office:document-content ${odNames}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`
    },
    ...more
  ])
}

export const odt = (text: string, options?: OpenOptions) =>
  openDocument('text', text.startsWith('<') ? text : `<text:p>${escapeXml(text)}</text:p>`, options)

export const ods = (rows: readonly (readonly string[])[], options?: OpenOptions) =>
  openDocument(
    'spreadsheet',
    `<table:table table:name="T">${rows.map((row) => `<table:table-row>${row.map((each) => `<table:table-cell><text:p>${escapeXml(each)}</text:p></table:table-cell>`).join('')}</table:table-row>`).join('')}</table:table>`,
    options
  )

export const odp = (slides: readonly string[], options?: OpenOptions) =>
  openDocument(
    'presentation',
    slides
      .map(
        (each) =>
          `<draw:page><draw:frame><draw:text-box><text:p>${escapeXml(each)}</text:p></draw:text-box></draw:frame></draw:page>`
      )
      .join(''),
    options
  )

export const crlf = (text: string) => text.replace(/\r?\n/g, '\r\n')

export interface MailPart {
  type: string
  content: string | Buffer
  name?: string
}

export function mail(parts: readonly MailPart[], head = 'Subject: hello'): Buffer {
  const start = `From: a@x.test\nTo: b@x.test\n${head}\nMIME-Version: 1.0\n`
  const body = parts.map(
    ({ type, content, name }) =>
      `--b1\nContent-Type: ${type}\n${name === undefined ? '' : `Content-Disposition: attachment; filename="${name}"\n`}Content-Transfer-Encoding: base64\n\n${Buffer.from(
        content
      )
        .toString('base64')
        .replace(/.{76}/g, '$&\n')}\n`
  )
  return Buffer.from(crlf(`${start}Content-Type: multipart/mixed; boundary="b1"\n\n${body.join('')}--b1--\n`))
}

/** One text, or what is drawn on each page. */
export async function pdf(
  pages: readonly string[] = [],
  change?: (document: PDFDocument, font: PDFFont) => unknown
): Promise<Buffer> {
  const document = await PDFDocument.create()
  const font = await document.embedFont(StandardFonts.Helvetica)
  for (const text of pages) document.addPage().drawText(text, { x: 40, y: 700, size: 12, font })
  await change?.(document, font)
  return Buffer.from(await document.save())
}

export const white = rgb(1, 1, 1)

/** A PDF written out by hand: its objects from number 1 on, the first of which is the catalogue. */
export function rawPdf(objects: readonly (string | Buffer)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const places: number[] = []
  let at = parts[0]!.length
  const put = (part: Buffer) => {
    parts.push(part)
    at += part.length
  }
  for (const [i, object] of objects.entries()) {
    places.push(at)
    put(Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(object as string), Buffer.from('\nendobj\n')]))
  }
  const start = at
  put(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`
    )
  )
  return Buffer.concat(parts)
}

export function stream(content: string | Buffer, dict = '', isPacked = false): Buffer {
  const bytes = isPacked ? deflateSync(Buffer.from(content)) : Buffer.from(content)
  return Buffer.concat([
    Buffer.from(`<< /Length ${bytes.length} ${isPacked ? '/Filter /FlateDecode' : ''} ${dict} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream')
  ])
}

/** One page with this content and these resources; objects after the fifth are the caller's. */
export function pagePdf(
  content: string | Buffer<ArrayBufferLike>,
  {
    resources = '',
    page = '',
    more = [],
    catalog = '',
    font,
    trailer
  }: {
    resources?: string
    page?: string
    more?: readonly (string | Buffer)[]
    catalog?: string
    font?: string
    trailer?: string
  } = {}
): Buffer {
  return rawPdf(
    [
      `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> ${resources} >> ${page} >>`,
      Buffer.isBuffer(content) ? content : stream(content),
      font ?? '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
      ...more
    ],
    trailer
  )
}

export const showing = (text: string) => `BT /F1 12 Tf 40 700 Td (${text}) Tj ET`

/** The smallest picture in PNG. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)
