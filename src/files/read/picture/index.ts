/**
 * Reads text in pictures: first upright, then the unread rest enlarged and turned, then text that is too faint for
 * people. The rest of a picture's content is not examined.
 */
import { bounds, type HiddenKind, type Texts, Unread } from '../../file.js'
import type { Engine, Word } from './engine.js'
import { addMetadata, thumbnailsOf } from './metadata.js'
import {
  around,
  atMost,
  type Box,
  busyTiles,
  type Channel,
  colourOf,
  countOf,
  cut,
  faintOf,
  type Ground,
  greyOf,
  leaveOut,
  mostRead,
  type Pixels,
  type Plane,
  strokesOf,
  type Tiles,
  turned,
  twice,
  without
} from './pixels.js'
import { levelled, type Slant, slantOf } from './slant.js'
import { structureOf } from './structure.js'

/** Tesseract's mode for a page with columns. */
const page = 3
/** Mean confidence of a line from which it needs no further attempt. */
const sure = 80
/** Mean confidence from which a line counts as text; below, only likely words are kept. */
const likely = 55
/** Least unread tiles with content for another attempt: a word of a few letters fills as many. */
const leastTiles = 6
/** Differences of lightness above the noise of an encoder. */
const floors = { lossless: 2, lossy: 7 }
/** Least difference of colours with equal lightness that a person can see. */
const colourFloor = 12
/** Most pixels for further attempts: models get no more of a larger picture. */
const mostAgain = 1_200_000
/** Pixels up to which a plane is made twice as large. */
const mostTwice = 600_000
/** Largest share of faint tiles: more of them are a texture, which is read upright only. */
const mostFaint = 0.4

/** @param where of the picture in its file; empty where it is all of it */
export interface PictureReader {
  /** @throws Unread */
  read(bytes: Buffer, out: Texts, where: string): void
  /**
   * Reads a picture that another decoder has decoded.
   * @throws Unread `too_large`
   */
  readPixels(pixels: Pixels, out: Texts, where: string): void
}

export class Pictures implements PictureReader {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  read(bytes: Buffer, out: Texts, where: string): void {
    this.#read(bytes, out, where, true)
  }

  readPixels(pixels: Pixels, out: Texts, where: string): void {
    if (++out.pictures > bounds.pictures) throw new Unread('too_large')
    this.#readWays(pixels, out, where, true)
  }

  #read(bytes: Buffer, out: Texts, where: string, hasOthers: boolean): void {
    if (++out.pictures > bounds.pictures) throw new Unread('too_large')
    const structure = structureOf(bytes)
    const within = where === '' ? '' : `${where}&`
    addMetadata(structure, out, `${within}part=metadata`)
    this.#readWays(this.#engine.decode(bytes), out, where, structure.isLossy)
    const thumbnails = thumbnailsOf(structure)
    if (thumbnails.length > bounds.thumbnails || (thumbnails.length > 0 && !hasOthers))
      throw new Unread('several_pictures')
    for (const thumbnail of thumbnails) this.#read(thumbnail, out, `${within}part=thumbnail`, false)
  }

  #readWays(pixels: Pixels, out: Texts, where: string, isLossy: boolean): void {
    const scale = Math.max(1, Math.sqrt((pixels.width * pixels.height) / mostRead))
    const found = new Found(out, where === '' ? '' : `${where}&`, scale)
    const grounds: Ground[] = pixels.isTransparent ? ['white', 'black', 'none'] : ['none']
    let first: Plane | undefined
    for (const ground of grounds) {
      const plane = greyOf(pixels, ground)
      if (first !== undefined && isAlike(first, plane)) continue
      this.#readPlane(plane, found, first === undefined ? undefined : 'invisible')
      first ??= plane
    }
    const colours = (['red', 'blue'] as const).map((colour) => ({
      plane: colourOf(pixels, colour),
      floor: colourFloor
    }))
    this.#readFaint([{ plane: first!, floor: isLossy ? floors.lossy : floors.lossless }, ...colours], found)
  }

  #readPlane(plane: Plane, found: Found, hidden: HiddenKind | undefined): void {
    const lines = linesOf(this.#engine.read(plane, page))
    found.add(lines, hidden)
    // Slightly slanted lines are read unchanged, with lower confidence.
    const again = atMost(plane, mostAgain)
    const level = levelling(asItIs, again)
    if (level !== undefined) {
      const others = this.#linesOf(level, again, (box) => scaled(box, plane.width / again.width))
      found.add(others, hidden ?? level.hidden)
      for (const line of others) lines.push(line)
    }
    this.#readLeft(plane, busyTiles(plane), sureBoxes(lines), found, hidden)
  }

  /** Reads the rest: text over a picture, too small, or turned. */
  #readLeft(
    plane: Plane,
    left: Tiles,
    known: Box[],
    found: Found,
    hidden: HiddenKind | undefined,
    place: Place = (box) => box
  ): void {
    for (const box of known) leaveOut(left, box)
    if (countOf(left) < leastTiles) return
    const box = around(left, plane)
    const whole = cut(without(plane, known), box)
    const rest = atMost(whole, mostAgain)
    const by = whole.width / rest.width
    const own = (inner: Box) => moved(scaled(inner, by), box)
    const isSmall = rest.width * rest.height <= mostTwice
    const ways = [...(hidden === undefined ? inks : []), ...(isSmall ? [larger] : []), ...turns]
    const readWay = (way: Way): boolean => {
      const lines = this.#linesOf(way, rest, own)
      found.add(
        lines.map((line) => placed(line, place)),
        hidden ?? way.hidden
      )
      for (const each of sureBoxes(lines)) leaveOut(left, each)
      return countOf(left) < leastTiles
    }
    for (const way of [asItIs, ...ways]) {
      if (way !== asItIs && readWay(way)) return
      const level = way.isWhole ? levelling(way, rest) : undefined
      if (level !== undefined && readWay(level)) return
    }
  }

  #linesOf(way: Way, plane: Plane, place: Place): Line[] {
    const words = this.#engine.read(way.of(plane), page)
    return linesOf(words.map((word) => ({ ...word, box: place(way.back(word.box, plane)) })))
  }

  #readFaint(channels: readonly Channel[], found: Found): void {
    const again = channels.map(({ plane, floor }) => ({ plane: atMost(plane, mostAgain), floor }))
    const { plane, tiles } = faintOf(again)
    const by = channels[0]!.plane.width / plane.width
    for (const box of found.boxes) leaveOut(tiles, scaled(box, 1 / by))
    const count = countOf(tiles)
    if (count < leastTiles) return
    const lines = this.#linesOf(asItIs, plane, (box) => box)
    const place: Place = (box) => scaled(box, by)
    found.add(
      lines.map((line) => placed(line, place)),
      'faint'
    )
    if (count < mostFaint * tiles.set.length) this.#readLeft(plane, tiles, sureBoxes(lines), found, 'faint', place)
  }
}

/** Maps a box of the read plane to the reported plane. */
type Place = (box: Box) => Box

/** Words beside each other. */
interface Line {
  words: Word[]
  /** Mean confidence of the words. */
  sure: number
  paragraph: string
}

const placed = (line: Line, place: Place): Line => ({
  ...line,
  words: line.words.map((word) => ({ ...word, box: place(word.box) }))
})

function linesOf(words: readonly Word[]): Line[] {
  const byName = new Map<string, Word[]>()
  for (const word of words) {
    const line = byName.get(word.line)
    if (line === undefined) byName.set(word.line, [word])
    else line.push(word)
  }
  return [...byName.values()].flatMap((all) => {
    const sureness = all.reduce((sum, each) => sum + each.sure, 0) / all.length
    const kept = sureness >= likely ? all : all.filter((word) => word.sure >= likely)
    return kept.length === 0 ? [] : [{ words: kept, sure: sureness, paragraph: kept[0]!.paragraph }]
  })
}

interface Way {
  /** Whether it shows its whole source, so that slanted lines can be detected. */
  isWhole?: true
  of(plane: Plane): Plane
  /** Maps a box to its source plane. */
  back(box: Box, plane: Plane): Box
  hidden?: HiddenKind | undefined
}

/** Ways for upright text over any background. */
const inks: readonly Way[] = (['dark', 'light'] as const).map((ink) => ({
  of: (plane) => strokesOf(plane, ink),
  back: (box) => box
}))

const asItIs: Way = { isWhole: true, of: (plane) => plane, back: (box) => box }

const larger: Way = {
  of: twice,
  back: ({ left, top, right, bottom }) => ({ left: left >> 1, top: top >> 1, right: right >> 1, bottom: bottom >> 1 }),
  hidden: 'tiny'
}

const turns: readonly Way[] = [
  {
    isWhole: true,
    of: (plane) => turned(plane, 1),
    back: ({ left, top, right, bottom }, { height }) => ({
      left: top,
      top: height - right,
      right: bottom,
      bottom: height - left
    }),
    hidden: 'turned'
  },
  {
    isWhole: true,
    of: (plane) => turned(plane, 3),
    back: ({ left, top, right, bottom }, { width }) => ({
      left: width - bottom,
      top: left,
      right: width - top,
      bottom: right
    }),
    hidden: 'turned'
  },
  {
    isWhole: true,
    of: (plane) => turned(plane, 2),
    back: ({ left, top, right, bottom }, { width, height }) => ({
      left: width - right,
      top: height - bottom,
      right: width - left,
      bottom: height - top
    }),
    hidden: 'turned'
  }
]

/** The same way with levelling; undefined where lines are level or no angle is found. */
function levelling({ of, back }: Way, plane: Plane): Way | undefined {
  const turned = of(plane)
  const degrees = slantOf(turned)
  if (degrees === undefined) return undefined
  const slant = levelled(turned, degrees)
  return { of: () => slant.level, back: (box) => back(backAround(slant, box), plane), hidden: 'turned' }
}

/** The box around the original corners of another. */
function backAround({ back }: Slant, { left, top, right, bottom }: Box): Box {
  const corners = [back(left, top), back(right, top), back(left, bottom), back(right, bottom)]
  const [xs, ys] = [corners.map(([x]) => Math.round(x)), corners.map(([, y]) => Math.round(y))]
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) }
}

const moved = ({ left, top, right, bottom }: Box, { left: x, top: y }: Box): Box => ({
  left: left + x,
  top: top + y,
  right: right + x,
  bottom: bottom + y
})

const scaled = ({ left, top, right, bottom }: Box, by: number): Box => ({
  left: left * by,
  top: top * by,
  right: right * by,
  bottom: bottom * by
})

const sureBoxes = (lines: readonly Line[]) =>
  lines.filter((line) => line.sure >= sure).flatMap(({ words }) => words.map(({ box }) => box))

/** Whether two planes look the same to a person. */
function isAlike(a: Plane, b: Plane): boolean {
  return a.data.every((value, i) => Math.abs(value - b.data[i]!) < 2)
}

/** The found texts, each paragraph once. */
class Found {
  /** Boxes of confidently read text. */
  readonly boxes: Box[] = []
  readonly #out: Texts
  readonly #within: string
  /** Pixels of the picture for one that was read. */
  readonly #scale: number
  readonly #said = new Set<string>()

  constructor(out: Texts, within: string, scale: number) {
    this.#out = out
    this.#within = within
    this.#scale = scale
  }

  add(lines: readonly Line[], hidden: HiddenKind | undefined): void {
    for (const box of sureBoxes(lines)) this.boxes.push(box)
    const paragraphs = new Map<string, Line[]>()
    for (const line of lines) {
      const others = paragraphs.get(line.paragraph)
      if (others === undefined) paragraphs.set(line.paragraph, [line])
      else others.push(line)
    }
    for (const each of paragraphs.values()) {
      const text = each.map(({ words }) => words.map(spelled).join(' ')).join('\n')
      if (this.#said.has(text)) continue
      this.#said.add(text)
      const boxes = each.flatMap(({ words }) => words.map(({ box }) => box))
      this.#out.add(text, `${this.#within}${placeOf(boxes, this.#scale)}`, hidden)
    }
  }
}

/** In fonts without serifs Tesseract takes a lone `I` for the line that it looks like. */
function spelled({ text }: Word): string {
  return text === '|' ? 'I' : text
}

/** As a part of a picture is named in a URL (Media Fragments URI 1.0, section 4.2.2). */
function placeOf(boxes: readonly Box[], scale: number): string {
  const least = (of: (box: Box) => number) => Math.max(0, Math.floor(scale * Math.min(...boxes.map(of))))
  const most = (of: (box: Box) => number) => Math.ceil(scale * Math.max(...boxes.map(of)))
  const [left, top] = [least((box) => box.left), least((box) => box.top)]
  return `xywh=${left},${top},${most((box) => box.right) - left},${most((box) => box.bottom) - top}`
}
