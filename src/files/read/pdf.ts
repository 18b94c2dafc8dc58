/**
 * Reads PDF page by page (pdf.js, in the build of unpdf): the extracted text, and the drawing operators, which reveal
 * hidden text and prove that a page draws nothing else.
 */
import { getDocument, OPS, type PDFDocumentProxy, type PDFPageProxy } from 'unpdf/pdfjs'
import { bounds, type HiddenKind, type Texts, Unread } from '../file.js'
import { readObjects } from './pdf-objects.js'
import { type Matrix, type Painted, PdfPictures, times } from './pdf-pictures.js'
import { type Advance, PlacedText } from './pdf-places.js'
import type { PictureReader } from './picture/index.js'

/** @throws Unread */
export async function readPdf(bytes: Buffer, out: Texts, picture: PictureReader | undefined): Promise<void> {
  const refs = await readObjects(bytes, out, picture !== undefined)
  const task = getDocument({
    data: new Uint8Array(bytes),
    // Any fault ends the reading: a reader that continues would omit content.
    stopAtErrors: true,
    // Pictures without a reader are refused, not decoded.
    maxImageSize: picture === undefined ? 0 : bounds.pixels,
    isEvalSupported: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    useSystemFonts: true,
    useWorkerFetch: false,
    disableFontFace: false,
    fontExtraProperties: true,
    enableXfa: false,
    verbosity: 0
  })
  try {
    const shown = picture === undefined ? undefined : new PdfPictures(picture, out)
    await readPages(await opened(task.promise), out, shown)
    shown?.checkAll(refs)
  } finally {
    await task.destroy()
  }
}

async function opened(promise: Promise<PDFDocumentProxy>): Promise<PDFDocumentProxy> {
  try {
    return await promise
  } catch (error) {
    throw unreadOf(error)
  }
}

function unreadOf(error: unknown): Unread {
  if (error instanceof Unread) return error
  const { name, message } = error as Error
  if (name === 'PasswordException') return new Unread('encrypted')
  return new Unread(/Image exceeded maximum/.test(message) ? 'picture_unread' : 'damaged')
}

async function readPages(document: PDFDocumentProxy, out: Texts, pictures: PdfPictures | undefined): Promise<void> {
  if (document.numPages > bounds.pages) throw new Unread('too_large')
  const broken = watch(document)
  const signs = new Set<string>()
  for (let number = 1; number <= document.numPages; number++) {
    let page: PDFPageProxy
    let shown: string
    let drawn: Drawn
    try {
      page = await document.getPage(number)
      const { items } = await page.getTextContent({ includeMarkedContent: false, disableNormalization: true })
      shown = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
      drawn = new Drawn(page, pictures !== undefined, signs)
      const list = await page.getOperatorList({ intent: 'display' })
      if (broken.error !== undefined) throw broken.error
      drawn.read(list)
    } catch (error) {
      throw unreadOf(broken.error ?? error)
    }
    const where = `page=${number}`
    if (signs.size > 0 && signInWord.test(shown)) throw new Unread('glyphs_unmapped')
    out.add(shown, where)
    out.add(drawn.places.otherwise(), where)
    for (const [hidden, texts] of drawn.hidden) out.add(texts.join(''), where, hidden)
    // Text outside of the page is drawn but not visible.
    if (letters(shown) !== letters(drawn.text.join(''))) out.add(drawn.text.join(''), where, 'source')
    await pictures?.read(page, drawn.pictures, where)
    page.cleanup()
  }
}

const letters = (text: string) => text.replace(/\s+/g, '').length

/**
 * pdf.js resolves an aborted operator list like a complete one. The error shows only in its worker's messages, which
 * are watched here.
 */
function watch(document: PDFDocumentProxy): { error: unknown } {
  const broken: { error: unknown } = { error: undefined }
  const { messageHandler: handler } = (document as unknown as { _transport: { messageHandler: Handler } })._transport
  const send = handler.sendWithStream
  handler.sendWithStream = (...args) => {
    const stream = send.apply(handler, args)
    const open = stream.getReader
    stream.getReader = () => {
      const reader = open.call(stream)
      const read = reader.read
      reader.read = async () => {
        try {
          return await read.call(reader)
        } catch (error) {
          broken.error ??= error
          throw error
        }
      }
      return reader
    }
    return stream
  }
  return broken
}

interface Handler {
  sendWithStream(...args: unknown[]): { getReader(): { read(): Promise<unknown> } }
}

interface Glyph extends Advance {
  originalCharCode: number
}

/** The fields of a font that pdf.js gives with `fontExtraProperties`. */
interface Font {
  toUnicode?: { _map?: Record<number, unknown> | unknown[] }
  isType3Font?: boolean
}

interface State {
  isWhite: boolean
  mode: number
  /** Below 0: letters stand upside down. */
  size: number
  /** Scale of lengths. */
  scale: number
  /** From drawing coordinates to the page. */
  matrix: Matrix
}

const pictureOps = new Set(
  Object.entries(OPS as Record<string, number>)
    .filter(([name]) => /image|XObjectGroup$/i.test(name) && name !== 'markPoint')
    .map(([, code]) => code)
)

/** Private-use code points, with which symbol fonts draw bullets and arrows. */
const isSign = /[\uE000-\uF8FF\u{F0000}-\u{10FFFF}]/u
const signInWord = new RegExp(`\\S${isSign.source}|${isSign.source}\\S`, 'u')
/** Most such signs in a file: so few, each alone, spell nothing. */
const mostSigns = 4
/** Codes of a font that may map to one letter: its variants, and various spaces. */
const mostForOne = 6
/** Size in points below which text is unreadable. */
const tinyBelow = 2

/** Collects the drawing of one page. */
class Drawn {
  readonly text: string[] = []
  readonly hidden = new Map<HiddenKind, string[]>()
  readonly #page: PDFPageProxy
  readonly #stack: State[] = []
  readonly pictures: Painted[] = []
  readonly places = new PlacedText()
  readonly #takesPictures: boolean
  #state: State = { isWhite: false, mode: 0, size: 1, scale: 1, matrix: [1, 0, 0, 1, 0, 0] }
  #textScale = 1
  #annotations = 0
  #font: string | undefined
  /** By font, the letters of its codes. */
  readonly #codes = new Map<string, Map<number, string>>()
  #lines = 0
  #curves = 0

  readonly #signs: Set<string>

  /**
   * @param takesPictures whether somebody reads what pictures it draws
   * @param signs of the file that are no letters, by font and code
   */
  constructor(page: PDFPageProxy, takesPictures: boolean, signs: Set<string>) {
    this.#page = page
    this.#takesPictures = takesPictures
    this.#signs = signs
  }

  read({ fnArray, argsArray }: { fnArray: number[]; argsArray: unknown[] }): void {
    if (fnArray.length > bounds.operators) throw new Unread('too_large')
    for (let i = 0; i < fnArray.length; i++) this.#take(fnArray[i]!, (argsArray[i] ?? []) as unknown[])
    for (const codes of this.#codes.values()) checkCodes(codes)
  }

  #take(op: number, args: unknown[]): void {
    if (pictureOps.has(op)) {
      this.#picture(op, args)
      return
    }
    switch (op) {
      case OPS.save:
      case OPS.paintFormXObjectBegin:
        this.#stack.push({ ...this.#state })
        if (op === OPS.paintFormXObjectBegin && args[0] != null) this.#scale(args[0] as ArrayLike<number>)
        break
      case OPS.restore:
      case OPS.paintFormXObjectEnd:
        this.#state = this.#stack.pop() ?? this.#state
        break
      case OPS.transform:
        this.#scale(args as number[])
        break
      case OPS.beginText:
        this.#textScale = 1
        this.places.begin()
        break
      case OPS.setTextMatrix: {
        const matrix = (typeof args[0] === 'object' ? args[0] : args) as ArrayLike<number>
        this.#textScale = scaleOf(matrix)
        this.places.setMatrix(matrix)
        break
      }
      case OPS.moveText:
        this.places.move(Number(args[0]), Number(args[1]))
        break
      case OPS.setLeadingMoveText:
        this.places.setLeading(-Number(args[1]))
        this.places.move(Number(args[0]), Number(args[1]))
        break
      case OPS.setLeading:
        this.places.setLeading(Number(args[0]))
        break
      case OPS.setCharSpacing:
        this.places.setSpacing('letters', Number(args[0]))
        break
      case OPS.setWordSpacing:
        this.places.setSpacing('words', Number(args[0]))
        break
      case OPS.setTextRise:
        this.places.setRise(Number(args[0]))
        break
      case OPS.setHScale:
        this.places.setWidth(Number(args[0]))
        break
      case OPS.setFont:
        this.#font = String(args[0])
        this.#state.size = Number(args[1])
        break
      case OPS.setTextRenderingMode:
        this.#state.mode = Number(args[0])
        break
      case OPS.setFillRGBColor:
        this.#state.isWhite = isWhite(args)
        break
      case OPS.setFillColorN:
        this.#state.isWhite = false
        break
      case OPS.beginAnnotation:
        this.#annotations++
        break
      case OPS.endAnnotation:
        this.#annotations--
        break
      case OPS.nextLine:
      case OPS.endText:
        if (op === OPS.nextLine) this.places.nextLine()
        this.#say('\n')
        break
      case OPS.showText:
        this.#show(args[0] as (Glyph | number | null)[])
        this.places.show(
          args[0] as (Glyph | number | null)[],
          this.#state.size,
          this.#state.matrix,
          this.#hiddenNow() ?? ''
        )
        break
      case OPS.constructPath:
        this.#path(args)
        break
    }
  }

  #scale(matrix: ArrayLike<number>): void {
    this.#state.scale *= scaleOf(matrix)
    this.#state.matrix = times(this.#state.matrix, matrix)
  }

  #picture(op: number, args: unknown[]): void {
    if (!this.#takesPictures || (op !== OPS.paintImageXObject && op !== OPS.paintInlineImageXObject))
      throw new Unread('picture_unread')
    this.pictures.push({ what: args[0], matrix: this.#state.matrix, isInAnnotation: this.#annotations > 0 })
  }

  #hiddenNow(): HiddenKind | undefined {
    const { mode, isWhite, size, scale } = this.#state
    if (this.#annotations > 0) return 'annotation'
    if (mode === 3 || mode === 7) return 'invisible'
    if (Math.abs(size) * scale * this.#textScale < tinyBelow) return 'tiny'
    return isWhite ? 'white' : undefined
  }

  #say(text: string): void {
    const hidden = this.#hiddenNow()
    if (hidden !== 'annotation') this.text.push(text)
    if (hidden === undefined) return
    const texts = this.hidden.get(hidden)
    if (texts === undefined) this.hidden.set(hidden, [text])
    else texts.push(text)
  }

  #show(glyphs: readonly (Glyph | number | null)[]): void {
    const codes = this.#codesNow()
    let text = ''
    for (const glyph of glyphs) {
      // Thousandths of the font's size: from a quarter on it is read as a space.
      if (typeof glyph === 'number') text += glyph < -250 ? ' ' : ''
      else if (glyph !== null) {
        codes.take(glyph)
        text += glyph.unicode
      }
    }
    this.#say(text)
  }

  #codesNow(): { take(glyph: Glyph): void } {
    const name = this.#font ?? ''
    const font = this.#page.commonObjs.has(name) ? (this.#page.commonObjs.get(name) as Font) : undefined
    const map = font?.toUnicode?._map
    if (font === undefined || font.isType3Font === true || map === undefined) throw new Unread('glyphs_unmapped')
    let known = this.#codes.get(name)
    if (known === undefined) {
      known = new Map()
      this.#codes.set(name, known)
    }
    const codes = known
    const signs = this.#signs
    return {
      take({ unicode, originalCharCode: code, isSpace }) {
        if (codes.has(code)) return
        if (!isSpace && (map as Record<number, unknown>)[code] === undefined) throw new Unread('glyphs_unmapped')
        if (isSign.test(unicode)) signs.add(`${name} ${code}`)
        if (signs.size > mostSigns || /[\uFFFD\x00-\x08]/.test(unicode)) throw new Unread('glyphs_unmapped')
        codes.set(code, unicode)
      }
    }
  }

  #path(args: unknown[]): void {
    const data = (args[1] as (ArrayLike<number> | null)[] | null)?.[0]
    if (data == null) return
    for (let i = 0; i < data.length; ) {
      const kind = data[i]
      if (kind === 2) this.#curves++
      else if (kind === 1) this.#lines++
      i += kind === 2 ? 7 : kind === 3 ? 5 : kind === 4 ? 1 : 3
    }
    if (this.#lines > bounds.lines || this.#curves > bounds.curves) throw new Unread('drawing_unread')
  }
}

/** A font that maps many glyphs to the same letter does not tell what it shows. */
function checkCodes(codes: ReadonlyMap<number, string>): void {
  const counts = new Map<string, number>()
  for (const unicode of codes.values()) {
    const letter = unicode.trim().replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    const count = (counts.get(letter) ?? 0) + 1
    if (count > mostForOne) throw new Unread('glyphs_unmapped')
    counts.set(letter, count)
  }
}

function scaleOf(matrix: ArrayLike<number>): number {
  return Math.sqrt(Math.abs(matrix[0]! * matrix[3]! - matrix[1]! * matrix[2]!))
}

function isWhite(args: readonly unknown[]): boolean {
  const [first] = args
  if (typeof first === 'string') return /^#f[a-f]f[a-f]f[a-f]$/i.test(first)
  return args.length >= 3 && args.every((each) => Number(each) >= 250)
}
