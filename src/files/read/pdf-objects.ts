/**
 * Reads all objects of a PDF (ISO 32000), even unreferenced ones. Unreadable objects leave the file unread; the strings
 * of dictionaries (titles, comments, alternative texts, values of forms) are judged.
 */
import { inflateSync } from 'node:zlib'
import {
  decodePDFRawStream,
  EncryptedPDFError,
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFHexString,
  PDFName,
  type PDFObject,
  PDFRawStream,
  PDFRef,
  PDFStream,
  PDFString
} from '@cantoo/pdf-lib'
import { bounds, type HiddenKind, type Texts, Unread } from '../file.js'
import { packetTexts } from './packet.js'

/** Objects that are pictures, as pdf.js names them: number, `R`, and a generation that is not the first. */
export type PictureRefs = ReadonlySet<string>

/**
 * @param hasPictures whether pictures are read; the pages know their places
 * @throws Unread
 */
export async function readObjects(bytes: Buffer, out: Texts, hasPictures: boolean): Promise<PictureRefs> {
  checkVersions(bytes)
  const objects = await load(bytes)
  if (objects.length > bounds.objects) throw new Unread('too_large')
  const found = new Map<HiddenKind, Set<string>>()
  const say = (text: string, hidden: HiddenKind) => {
    const texts = found.get(hidden)
    if (texts === undefined) found.set(hidden, new Set([text]))
    else texts.add(text)
  }
  let unpacked = 0
  const pictures = new Pictures(hasPictures)
  for (const [ref, object] of objects) {
    visit(object, say)
    if (!(object instanceof PDFRawStream)) continue
    if (nameOf(object.dict, 'Subtype') === 'Image' && pictures.take(ref, object)) continue
    const content = contentOf(object, bounds.unpackedBytes - unpacked)
    unpacked += content.length
    if (nameOf(object.dict, 'Type') === 'Metadata')
      for (const text of packetTexts(Buffer.from(content))) say(text, 'metadata')
    else readMarks(content, say)
  }
  for (const [hidden, texts] of found) out.add([...texts].join('\n'), 'part=objects', hidden)
  return pictures.refs()
}

/** Collects pictures, without the masks of other pictures. */
class Pictures {
  readonly #areRead: boolean
  readonly #found = new Set<string>()
  readonly #masks = new Set<string>()

  constructor(areRead: boolean) {
    this.#areRead = areRead
  }

  /**
   * @returns whether its bytes are a picture's, which are not unpacked here
   * @throws Unread `picture_unread`
   */
  take(ref: PDFRef | undefined, stream: PDFRawStream): boolean {
    // A stencil can draw letters in any colour, which is defined elsewhere.
    if (!this.#areRead || ref === undefined || has(stream.dict, 'ImageMask')) throw new Unread('picture_unread')
    this.#found.add(nameOfRef(ref))
    for (const key of ['SMask', 'Mask']) {
      const mask = stream.dict.get(PDFName.of(key))
      if (mask instanceof PDFRef) this.#masks.add(nameOfRef(mask))
    }
    const filters = filtersOf(stream)
    const last = filters.pop()
    return (last === 'DCTDecode' || last === 'DCT') && filters.every((name) => written.has(name))
  }

  refs(): PictureRefs {
    return new Set([...this.#found].filter((name) => !this.#masks.has(name)))
  }
}

/** Filters that write bytes as text, which only lengthens them. */
const written = new Set(['ASCII85Decode', 'A85', 'ASCIIHexDecode', 'AHx'])

const nameOfRef = ({ objectNumber, generationNumber }: PDFRef) =>
  `${objectNumber}R${generationNumber === 0 ? '' : generationNumber}`

/** Refuses files with repeated object numbers: an earlier version is still in the file, and would stay unread. */
function checkVersions(bytes: Buffer): void {
  const numbers = new Set<string>()
  const source = bytes.toString('latin1')
  // First, since a locked file cannot be checked further.
  if (/\/Encrypt\s*(?:\d{1,10}\s+\d{1,5}\s+R|<<)/.test(source)) throw new Unread('encrypted')
  for (const [, number] of source.matchAll(/(?:^|[\r\n])(\d{1,10}[ \t]+\d{1,5})[ \t]+obj\b/g)) {
    const known = number!.replace(/\s+/g, ' ')
    if (numbers.has(known)) throw new Unread('earlier_version')
    numbers.add(known)
  }
}

async function load(bytes: Buffer): Promise<[ref: PDFRef | undefined, object: PDFObject][]> {
  let document: PDFDocument
  try {
    document = await PDFDocument.load(bytes, { updateMetadata: false, throwOnInvalidObject: true })
  } catch (error) {
    throw new Unread(error instanceof EncryptedPDFError ? 'encrypted' : 'damaged')
  }
  const { context } = document
  if (context.trailerInfo.Encrypt !== undefined) throw new Unread('encrypted')
  const { Info } = context.trailerInfo
  const objects = context.enumerateIndirectObjects()
  return Info === undefined || Info instanceof PDFRef ? objects : [...objects, [undefined, Info]]
}

type Say = (text: string, hidden: HiddenKind) => void

/** Uses a list instead of recursion. Referenced objects are visited on their own. */
function visit(root: PDFObject, say: Say): void {
  const open: { object: PDFObject; key: string }[] = [{ object: root, key: '' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { object, key } = next
    if (object instanceof PDFString || object instanceof PDFHexString) say(textOf(object), hiddenBy(key))
    else if (object instanceof PDFArray) for (const each of object.asArray()) open.push({ object: each, key })
    else if (object instanceof PDFStream || object instanceof PDFDict) {
      const dict = object instanceof PDFStream ? object.dict : object
      refuse(dict)
      for (const [name, value] of dict.entries()) open.push({ object: value, key: name.decodeText() })
    }
  }
}

function hiddenBy(key: string): HiddenKind {
  if (key === 'Alt' || key === 'ActualText' || key === 'E' || key === 'TU') return 'alternative'
  return key === 'Contents' || key === 'RC' || key === 'V' || key === 'DV' ? 'annotation' : 'metadata'
}

function textOf(text: PDFString | PDFHexString): string {
  try {
    return text.decodeText()
  } catch {
    return text.asString()
  }
}

function nameOf(dict: PDFDict, key: string): string | undefined {
  const value = dict.lookup(PDFName.of(key))
  return value instanceof PDFName ? value.decodeText() : undefined
}

const has = (dict: PDFDict, key: string) => dict.has(PDFName.of(key))

const objectTypes = new Set(['3D', 'RichMedia', 'Movie', 'Sound', 'Screen', 'PS', 'U3D', 'PRC'])

/** @throws Unread where a dictionary belongs to an unreadable object */
function refuse(dict: PDFDict): void {
  const type = nameOf(dict, 'Type')
  const subtype = nameOf(dict, 'Subtype')
  const action = nameOf(dict, 'S')
  if (type === 'EmbeddedFile' || has(dict, 'EF') || has(dict, 'EmbeddedFiles') || subtype === 'FileAttachment') {
    throw new Unread('attachment_unread')
  }
  if (has(dict, 'ImageMask')) throw new Unread('picture_unread')
  if (action === 'JavaScript' || action === 'Launch' || has(dict, 'JS') || has(dict, 'JavaScript'))
    throw new Unread('macros')
  if (has(dict, 'XFA') || type === 'Collection' || (subtype !== undefined && objectTypes.has(subtype))) {
    throw new Unread('object_unread')
  }
  // Tiles of patterns and colour meshes can draw anything.
  const shading = dict.lookup(PDFName.of('ShadingType'))
  if (dict.get(PDFName.of('PatternType'))?.toString() === '1' || Number(shading?.toString() ?? 0) > 3) {
    throw new Unread('drawing_unread')
  }
  if (isFont(type, subtype)) checkFont(dict, subtype)
}

const simpleFonts = new Set(['Type1', 'MMType1', 'TrueType', 'Type3'])
const isFont = (type: string | undefined, subtype: string | undefined) =>
  subtype !== undefined && (simpleFonts.has(subtype) || subtype === 'Type0') && (type === 'Font' || type === undefined)

/** A font needs a mapping from its glyphs to letters. pdf.ts checks the shown glyphs again. */
function checkFont(dict: PDFDict, subtype: string | undefined): void {
  if (subtype === 'Type3') throw new Unread('glyphs_unmapped')
  if (has(dict, 'ToUnicode')) return
  if (subtype === 'Type0') throw new Unread('glyphs_unmapped')
  const descriptor = dict.lookup(PDFName.of('FontDescriptor'))
  const isEmbedded =
    descriptor instanceof PDFDict && ['FontFile', 'FontFile2', 'FontFile3'].some((key) => has(descriptor, key))
  // A font of Type 1 says itself what its codes are (TeX): pdf.ts takes those that have a letter.
  const saysItself = subtype === 'Type1' && descriptor instanceof PDFDict && has(descriptor, 'FontFile')
  if (isEmbedded && !saysItself && dict.lookup(PDFName.of('Encoding')) === undefined)
    throw new Unread('glyphs_unmapped')
}

function filtersOf(stream: PDFRawStream): string[] {
  const filter = stream.dict.lookup(PDFName.of('Filter'))
  const all = filter instanceof PDFArray ? filter.asArray().map((each) => stream.dict.context.lookup(each)) : [filter]
  return all.flatMap((each) => (each instanceof PDFName ? [each.decodeText()] : []))
}

const pictureFilters = new Set(['DCTDecode', 'DCT', 'JPXDecode', 'CCITTFaxDecode', 'CCF', 'JBIG2Decode'])

/** @throws Unread `too_large` before a stream is unpacked that is too large for it */
function contentOf(stream: PDFRawStream, room: number): Uint8Array {
  const filters = filtersOf(stream)
  if (filters.some((name) => pictureFilters.has(name))) throw new Unread('picture_unread')
  if (filters.includes('Crypt')) throw new Unread('encrypted')
  if (filters.length > 4) throw new Unread('damaged')
  if (filters.length === 1 && filters[0] === 'FlateDecode' && !has(stream.dict, 'DecodeParms')) {
    return inflate(stream.contents, room)
  }
  // For singly packed data the length is known in advance; for doubly packed data it is checked here.
  if (filters[0] === 'FlateDecode' || filters[0] === 'Fl') inflate(stream.contents, room)
  let content: Uint8Array
  try {
    content = decodePDFRawStream(stream).decode()
  } catch {
    throw new Unread('damaged')
  }
  if (content.length > room) throw new Unread('too_large')
  return content
}

function inflate(content: Uint8Array, room: number): Uint8Array {
  if (room <= 0) throw new Unread('too_large')
  let failure: string | undefined
  // Where a length stands elsewhere, a line end that belongs to the data is taken for the one behind it; its sum tells.
  for (const end of ['', '\r', '\n', '\r\n']) {
    try {
      const whole = end === '' ? content : Buffer.concat([content, Buffer.from(end)])
      return inflateSync(whole, { maxOutputLength: Math.min(room, bounds.entryBytes) })
    } catch (error) {
      failure = (error as NodeJS.ErrnoException).code
      if (failure !== 'Z_BUF_ERROR') break
    }
  }
  throw new Unread(failure === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'damaged')
}

/** Replacement texts in the marks of a page's content, which some readers use instead. */
function readMarks(content: Uint8Array, say: Say): void {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (!bytes.includes('/ActualText') && !bytes.includes('/Alt') && !bytes.includes('/E')) return
  const marks = bytes
    .toString('latin1')
    .matchAll(/\/(?:ActualText|Alt|E)\s*(?:\(((?:\\.|[^\\()])*)\)|<([0-9A-Fa-f\s]*)>)/gs)
  for (const [, literal, hex] of marks) {
    say(
      textOf(literal === undefined ? PDFHexString.of(hex!.replace(/\s+/g, '')) : PDFString.of(literal)),
      'alternative'
    )
  }
}
