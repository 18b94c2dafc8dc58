/**
 * Reads the pictures on the pages of a PDF: a single one alone, several of one page in their layout, since a scan may
 * come in strips and a word in letters.
 */
import { createHash } from 'node:crypto'
import type { PDFPageProxy } from 'unpdf/pdfjs'
import { type Texts, Unread } from '../file.js'
import type { PictureRefs } from './pdf-objects.js'
import type { PictureReader } from './picture/index.js'
import { mostRead, type Pixels } from './picture/pixels.js'

/** ISO 32000-1, section 8.3.3: `x' = a x + c y + e`, `y' = b x + d y + f`. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number]

/** The product that applies `inner` first. */
export function times(outer: Matrix, inner: ArrayLike<number>): Matrix {
  const [a, b, c, d, e, f] = outer
  const [g, h, i, j, k, l] = Array.from(inner) as [number, number, number, number, number, number]
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f]
}

/** One picture as a page draws it: into the square of one unit, by its matrix. */
export interface Painted {
  /** Its id, or the picture itself where it is inline in the page's content. */
  what: unknown
  matrix: Matrix
  /** Its place is defined elsewhere. */
  isInAnnotation: boolean
}

/** As pdf.js decodes it; `kind` is its `ImageKind`. */
interface Decoded {
  width: number
  height: number
  kind: number
  data: Uint8Array
  /** Reference of its object; inline pictures have none. */
  ref?: string
}

const kinds = { bits: 1, rgb: 2, rgba: 3 }
/** Pictures of one page. */
const mostPainted = 500
/** Least share of a picture's own resolution on the page for reading it in the layout. */
const leastShown = 0.6

export class PdfPictures {
  readonly #reader: PictureReader
  readonly #out: Texts
  readonly #drawn = new Set<string>()
  readonly #read = new Set<string>()

  constructor(reader: PictureReader, out: Texts) {
    this.#reader = reader
    this.#out = out
  }

  /** @throws Unread `picture_unread`, `too_large` */
  async read(page: PDFPageProxy, painted: readonly Painted[], where: string): Promise<void> {
    if (painted.length > mostPainted) throw new Unread('too_large')
    const placed: Laid[] = []
    for (const each of painted) {
      const decoded = await decodedOf(page, each.what)
      if (decoded.ref !== undefined) this.#drawn.add(decoded.ref)
      placed.push({ ...each, pixels: pixelsOf(decoded) })
    }
    const laid = placed.filter(({ isInAnnotation }) => !isInAnnotation)
    const scale = laid.length > 1 ? scaleFor(page, laid) : 0
    for (const each of placed) {
      const isShown = scale > 0 && !each.isInAnnotation && scale >= leastShown * densityOf(each)
      if (!isShown) this.#readOnce(each.pixels, where)
    }
    if (scale > 0) this.#readOnce(laidOut(page, laid, scale), where)
  }

  #readOnce(pixels: Pixels, where: string): void {
    const digest = digestOf(pixels)
    if (this.#read.has(digest)) return
    this.#read.add(digest)
    this.#reader.readPixels(pixels, this.#out, where)
  }

  /** Checks that each picture of the file was drawn by a page. @throws Unread `picture_unread` */
  checkAll(refs: PictureRefs): void {
    for (const ref of refs) if (!this.#drawn.has(ref)) throw new Unread('picture_unread')
  }
}

const digestOf = ({ width, height, data }: Pixels) =>
  createHash('sha256').update(`${width}x${height}`).update(data).digest('base64')

/** pdf.js delivers pictures after the list of operators. */
async function decodedOf(page: PDFPageProxy, what: unknown): Promise<Decoded> {
  const objects = typeof what === 'string' && what.startsWith('g_') ? page.commonObjs : page.objs
  const found = (
    typeof what === 'string' ? await new Promise((resolve) => objects.get(what, resolve)) : what
  ) as Decoded | null
  if (found?.data == null || !(found.width > 0 && found.height > 0)) throw new Unread('picture_unread')
  return found
}

function pixelsOf({ width, height, kind, data }: Decoded): Pixels {
  if (kind === kinds.rgba)
    return { width, height, data, isTransparent: data.some((value, i) => i % 4 === 3 && value < 255) }
  if (kind !== kinds.rgb && kind !== kinds.bits) throw new Unread('picture_unread')
  const out = new Uint8Array(width * height * 4).fill(255)
  const row = (width + 7) >> 3
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++, to += 4) {
      const at = 3 * (y * width + x)
      const isLit = kind === kinds.bits && (data[y * row + (x >> 3)]! & (128 >> (x & 7))) !== 0
      for (let i = 0; i < 3; i++) out[to + i] = kind === kinds.rgb ? data[at + i]! : isLit ? 255 : 0
    }
  }
  return { width, height, data: out, isTransparent: false }
}

interface Laid extends Painted {
  pixels: Pixels
}

/** Pixels of a picture for one point of the page. */
const densityOf = ({ matrix: [a, b, c, d], pixels: { width, height } }: Laid) =>
  Math.sqrt((width * height) / Math.max(1e-6, Math.abs(a * d - b * c)))

/** Pixels for one point of the page: as many as its finest picture has, as far as a page can be read. */
function scaleFor(page: PDFPageProxy, laid: readonly Laid[]): number {
  const [left, top, right, bottom] = page.view as [number, number, number, number]
  const area = Math.max(1, (right - left) * (bottom - top))
  return Math.min(Math.max(...laid.map(densityOf)), Math.sqrt(mostRead / area))
}

function laidOut(page: PDFPageProxy, laid: readonly Laid[], scale: number): Pixels {
  const [left, low, right, high] = page.view as [number, number, number, number]
  const [width, height] = [
    Math.max(1, Math.round((right - left) * scale)),
    Math.max(1, Math.round((high - low) * scale))
  ]
  const data = new Uint8Array(width * height * 4).fill(255)
  for (const { matrix, pixels } of laid) {
    const [a, b, c, d, e, f] = matrix
    const size = a * d - b * c
    if (size === 0) continue
    const xs = [e, e + a, e + c, e + a + c].map((x) => (x - left) * scale)
    const ys = [f, f + b, f + d, f + b + d].map((y) => (high - y) * scale)
    const [fromX, toX] = [Math.max(0, Math.floor(Math.min(...xs))), Math.min(width, Math.ceil(Math.max(...xs)))]
    const [fromY, toY] = [Math.max(0, Math.floor(Math.min(...ys))), Math.min(height, Math.ceil(Math.max(...ys)))]
    for (let y = fromY; y < toY; y++) {
      for (let x = fromX; x < toX; x++) {
        const [px, py] = [(x + 0.5) / scale + left - e, high - (y + 0.5) / scale - f]
        const [u, v] = [(d * px - c * py) / size, (a * py - b * px) / size]
        if (u < 0 || u >= 1 || v < 0 || v >= 1) continue
        // A picture's first row is its highest.
        const from = 4 * (Math.floor((1 - v) * pixels.height - 1e-9) * pixels.width + Math.floor(u * pixels.width))
        const to = 4 * (y * width + x)
        const opacity = pixels.data[from + 3]! / 255
        for (let i = 0; i < 3; i++) data[to + i] = pixels.data[from + i]! * opacity + data[to + i]! * (1 - opacity)
      }
    }
  }
  return { width, height, data, isTransparent: false }
}
