/**
 * Reads one part of an office document: all texts and attributes, in paragraphs. Texts with hiding format and
 * attributes are marked as such; nothing is omitted.
 */
import { type HiddenKind, type Texts, Unread } from '../file.js'
import { readXml, type XmlElement } from './xml.js'

/** The meaning of a format's element names. */
export interface Vocabulary {
  /** Ends of these part texts. */
  breaks: ReadonlySet<string>
  /** Cells of one row, and other elements that are joined with a space. */
  cells: ReadonlySet<string>
  /** Elements whose texts stay invisible when the file is opened. */
  unseen: Readonly<Record<string, HiddenKind>>
  /** How the properties of a run hide it. */
  hides(element: XmlElement): HiddenKind | undefined
  /** Elements whose properties hold for all texts of the element around them, up to its end. */
  runs: ReadonlySet<string>
  /** Elements in which white space is text. Between all others a line break and blanks are indentation. */
  prose: ReadonlySet<string>
}

/** Attributes with prose of their own. */
const alternative = new Set(['descr', 'title', 'alt', 'tooltip', 'desc'])
/** Numbers, colours, ids and switches: no text. */
const plain =
  /^(?:[\d.,%+\-:\s]*|[0-9A-Fa-f]{1,8}|\{?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?|true|false|on|off|none|auto)$/
const isSwitch = /^\s*(?:true|false)\s*$/
/** Elements that draw something. */
const drawings = new Set(['custGeom', 'ink', 'inkml', 'contentPart', 'polyline', 'polygon'])
/** Elements that hold a file in their text. */
const binary = new Set(['binary-data', 'binData', 'oleObject', 'OLEObject'])
/** Coordinates of a shape; those of a box or an arrow are short. */
const coordinates = new Set(['path', 'enhanced-path', 'd', 'points'])
const longestShape = 400

export interface PartOptions {
  /** The place of the texts that are seen. */
  where: string
  /** Set where nothing of the part is seen. */
  hidden?: HiddenKind | undefined
  /** Names the place from this element on; undefined where the place stays. */
  watch?: ((element: XmlElement) => string | undefined) | undefined
  /** Set for templates of slides: dozens that say the same words one after the other are judged once. */
  isTemplate?: boolean
  /** Set where each text is a property of its own, as metadata always are: none continues the one before. */
  isProperties?: boolean
}

export function readMarkup(bytes: Buffer, words: Vocabulary, out: Texts, options: PartOptions): void {
  const reader = new Part(words, out, options)
  readXml(bytes, reader)
  reader.end()
}

interface Level {
  name: string
  hidden: HiddenKind | undefined
}

class Part {
  readonly #words: Vocabulary
  readonly #out: Texts
  readonly #all: HiddenKind | undefined
  readonly #isProperties: boolean
  readonly #isTemplate: boolean
  readonly #watch: ((element: XmlElement) => string | undefined) | undefined
  #where: string
  readonly #levels: Level[] = []
  #seen: string[] = []
  #unseen = new Map<HiddenKind, string[]>()
  readonly #attributes = new Set<string>()

  constructor(words: Vocabulary, out: Texts, options: PartOptions) {
    const { where, hidden, watch, isTemplate = false, isProperties = false } = options
    this.#words = words
    this.#out = out
    this.#where = where
    this.#all = hidden
    this.#isProperties = isProperties || hidden === 'metadata'
    this.#isTemplate = isTemplate
    this.#watch = watch
  }

  open(element: XmlElement): void {
    const { name, attributes } = element
    if (drawings.has(name)) throw new Unread('drawing_unread')
    // A glyph by its number in a font.
    if (name === 'sym') throw new Unread('glyphs_unmapped')
    if (binary.has(name)) throw new Unread('object_unread')
    const place = this.#watch?.(element)
    if (place !== undefined) {
      this.#flush()
      this.#where = place
    }
    const outer = this.#levels.at(-1)?.hidden ?? this.#all
    const own = this.#words.unseen[name]
    this.#levels.push({ name, hidden: own ?? outer })
    const hides = this.#words.hides(element)
    if (hides !== undefined) this.#hide(hides)
    for (const [key, value] of attributes) {
      if (plain.test(value)) continue
      if (coordinates.has(key) && value.length > longestShape) throw new Unread('drawing_unread')
      if (alternative.has(key)) this.#add(value, 'alternative')
      else this.#attributes.add(value)
    }
  }

  /** The properties of a run stand in an element of their own, before its text. */
  #hide(hidden: HiddenKind): void {
    const last = this.#levels.length - 1
    let from = this.#levels.findLastIndex(({ name }) => this.#words.runs.has(name))
    // Properties of a style are in no run: they hide what refers to the style.
    if (from === -1) from = last
    for (let i = from; i <= last; i++) this.#levels[i]!.hidden ??= hidden
  }

  text(text: string): void {
    const level = this.#levels.at(-1)
    const isBlank = text.trim() === ''
    if (isBlank && text.includes('\n') && !this.#words.prose.has(level?.name ?? '')) return
    if (this.#isProperties && isSwitch.test(text)) return
    this.#add(text, level?.hidden ?? this.#all)
  }

  comment(text: string): void {
    this.#add(text, 'comment')
  }

  close(name: string): void {
    this.#levels.pop()
    const isBreak = this.#isProperties || this.#words.breaks.has(name)
    const end = isBreak ? '\n' : this.#words.cells.has(name) ? '\t' : ''
    if (end === '') return
    this.#seen.push(end)
    for (const texts of this.#unseen.values()) texts.push(end)
  }

  #add(text: string, hidden: HiddenKind | undefined): void {
    if (hidden === undefined) {
      this.#seen.push(text)
      return
    }
    const texts = this.#unseen.get(hidden)
    if (texts === undefined) this.#unseen.set(hidden, [text])
    else texts.push(text)
  }

  #flush(): void {
    this.#say(this.#seen.join(''))
    for (const [hidden, texts] of this.#unseen) this.#say(texts.join(''), hidden)
    this.#seen = []
    this.#unseen = new Map()
  }

  #say(text: string, hidden?: HiddenKind): void {
    if (this.#isTemplate) this.#out.addTemplate(text, this.#where, hidden)
    else this.#out.add(text, this.#where, hidden)
  }

  end(): void {
    this.#flush()
    this.#out.add(this.#out.fresh(this.#attributes).join('\n'), this.#where, 'attribute')
  }
}
