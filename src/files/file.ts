/** The interface of the file readers: their input, their result, their bounds. */

/** Kinds of files that are read. */
export const fileKinds = [
  'text',
  'json',
  'html',
  'pdf',
  'word',
  'slides',
  'sheets',
  'open-text',
  'open-slides',
  'open-sheets',
  'mail',
  'picture'
] as const
export type FileKind = (typeof fileKinds)[number]

/** Why a file was not read whole: the closed set that clients, metrics and docs/files.md know. */
export const unreadReasons = [
  'reference',
  'unknown_field',
  'unsupported_type',
  'type_mismatch',
  'bad_encoding',
  'damaged',
  'encrypted',
  'macros',
  'picture_unread',
  'several_pictures',
  'drawing_unread',
  'glyphs_unmapped',
  'object_unread',
  'attachment_unread',
  'earlier_version',
  'entities',
  'too_large',
  'too_slow',
  'nothing_heard',
  'reader_failed'
] as const
export type UnreadReason = (typeof unreadReasons)[number]

/** Why a person who opens the file does not see a text. */
export const hiddenKinds = [
  'white',
  'tiny',
  'invisible',
  'comment',
  'metadata',
  'tracked',
  'alternative',
  'notes',
  'attribute',
  'formula',
  'sheet',
  'script',
  'annotation',
  'header',
  'source',
  'faint',
  'turned'
] as const
export type HiddenKind = (typeof hiddenKinds)[number]

export interface FileInput {
  bytes: Buffer
  /** The declared media type, lower case, without parameters; empty where there is none. */
  type: string
  /** The `charset` parameter of that type. */
  charset?: string | undefined
  /** The name of the file; empty where it has none. */
  name: string
  /** Set where it stands in a place that takes pictures alone. */
  isPicture?: boolean
}

/** One text of a file. */
export interface FileText {
  text: string
  /**
   * The place, as the fragment of a URL (RFC 8118 has `page=3`): `page`, `slide`, `sheet` and `attachment` are numbered from
   * 1, `part` names what has no number, `xywh` is a box of a picture in its pixels. `text` alone: all of a text file in UTF-8,
   * as it stands.
   */
  where: string
  /** Set where a person who opens the file does not see it. */
  hidden?: HiddenKind
}

export type Reading =
  | {
      whole: true
      kind: FileKind | 'sound'
      texts: readonly FileText[]
      /** Whether it holds pictures, of which only the text was read. */
      hasPictures: boolean
    }
  | { whole: false; reason: UnreadReason }

/** Where the text is all of the file and can be written back into it. */
export const wholeText = 'text'

/** Bounds of one file; a file beyond one of them stays unread. */
export const bounds = {
  /** UTF-16 units of all its texts. */
  units: 2_000_000,
  /** Texts of a file. */
  texts: 2_000,
  pages: 200,
  /** Files in an archive. */
  entries: 2_000,
  /** Bytes of one file in an archive, and of all of them, unpacked. */
  entryBytes: 32 * 1024 * 1024,
  unpackedBytes: 64 * 1024 * 1024,
  /** Elements of a document in XML or HTML, and how deep they are nested. */
  elements: 1_000_000,
  depth: 200,
  /** Indirect objects of a PDF, and operators of one page. */
  objects: 100_000,
  operators: 500_000,
  /** Lines and curves that one page may draw beside its text: rules and boxes of tables, no letters. */
  lines: 600,
  curves: 64,
  /** Messages and files within one another. */
  nesting: 3,
  attachments: 50,
  /** Pictures of one file, pixels of one, how long its longer side is, and small pictures beside it. */
  pictures: 200,
  pixels: 25_000_000,
  side: 20_000,
  thumbnails: 2
} as const

/** Ends the reading of a file that cannot be read whole. It holds the reason and no content of the file. */
export class Unread extends Error {
  readonly reason: UnreadReason

  constructor(reason: UnreadReason) {
    super(reason)
    this.name = 'Unread'
    this.reason = reason
  }
}

/** Collects the texts of a file, within the bounds. */
export class Texts {
  readonly all: FileText[] = []
  /** Pictures that were read. */
  pictures = 0
  #units = 0
  readonly #said = new Set<string>()
  /** What the last template said, by what hides it; none where another text was seen since. */
  readonly #template = new Map<string, string>()

  /**
   * The values that are new in this file: repeated ones are judged once. A short trailing number makes no new name of a
   * name (`slideLayout12.xml`, `PlaceHolder 3`).
   */
  fresh(values: Iterable<string>): string[] {
    return [...values].filter((value) => {
      const word = /[A-Za-z]/.test(value) ? value.replace(/(?<!\d)\d{1,2}(\.xml)?$/, '$1') : value
      if (this.#said.has(word)) return false
      this.#said.add(word)
      return true
    })
  }

  /** A template that says what the template before it says: nothing stands between the two that it could continue. */
  addTemplate(text: string, where: string, hidden?: HiddenKind): void {
    const said = text.replace(/\s+/g, ' ').trim()
    const kind = hidden ?? 'seen'
    if (this.#template.get(kind) === said) return
    this.add(text, where, hidden)
    this.#template.set(kind, said)
  }

  /** @throws Unread `too_large` */
  add(text: string, where: string, hidden?: HiddenKind): void {
    if (text.trim() === '') return
    if (hidden === undefined) this.#template.clear()
    this.#units += text.length
    if (this.#units > bounds.units || this.all.length >= bounds.texts) throw new Unread('too_large')
    this.all.push(hidden === undefined ? { text, where } : { text, where, hidden })
  }

  /** Adds the texts of a file within this one. */
  take({ all, pictures }: Texts, where: string): void {
    this.pictures += pictures
    for (const each of all) this.add(each.text, `${where}&${each.where}`, each.hidden)
  }
}

export interface FileRequest {
  /** The account under which results are remembered. */
  account: string
  /** Name of the waiting caller. */
  whose: string
  /** The bytes, in base64. */
  data: string
  type: string
  charset?: string | undefined
  name: string
  /** Whether pictures in it are read, too. */
  readsPictures: boolean
  /** Set where it stands in a place that takes pictures alone. */
  isPicture?: boolean | undefined
  /** Whether nobody waits for it any more. */
  isGone(): boolean
}

export interface Files {
  /** @throws Fault `overloaded`, `evaluator_unavailable` */
  read(request: FileRequest): Promise<Reading>
  /** Whether the children have a network namespace of their own. */
  readonly hasNamespace: boolean
  /** Files that wait for a child. */
  waiting(): number
  close(): void
}

/** Called for each requested file and sound. */
export type FileReport = (outcome: FileKind | 'sound' | UnreadReason, seconds: number) => void
