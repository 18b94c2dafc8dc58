/**
 * Word, PowerPoint and Excel since 2007 (ECMA-376): an archive of XML. Every part is read, even unreferenced ones. A
 * part that is no XML (object, macro, font) leaves the file unread; pictures go to their own reader.
 */
import { bounds, type FileKind, type HiddenKind, type Texts, Unread } from '../file.js'
import { readMarkup, type Vocabulary } from './markup.js'
import type { PictureReader } from './picture/index.js'
import { readMedia } from './picture/media.js'
import { formatOf } from './picture/structure.js'
import { readSheet, readStrings } from './sheet.js'
import { attribute, readXml, type XmlElement } from './xml.js'
import { type Archive, unzip } from './zip.js'

const mains: Partial<Record<FileKind, string>> = {
  word: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
  slides: 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
  sheets: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml'
}

const isWhite = (value: string | undefined) =>
  value !== undefined && /^(?:#?f[c-f]f[c-f]f[c-f]|white|bg1)$/i.test(value)

/** Half points in Word, hundredths of a point in drawings. */
function hides(element: XmlElement): HiddenKind | undefined {
  const { name } = element
  const value = attribute(element, 'val')
  if ((name === 'vanish' || name === 'webHidden') && value !== '0' && value !== 'false') return 'invisible'
  if (name === 'color' && isWhite(value)) return 'white'
  if ((name === 'srgbClr' || name === 'schemeClr') && isWhite(value)) return 'white'
  if ((name === 'sz' || name === 'szCs') && Number(value) <= 6) return 'tiny'
  if (name === 'rPr' && Number(attribute(element, 'sz') ?? 1200) <= 300) return 'tiny'
  return undefined
}

export const officeWords: Vocabulary = {
  breaks: new Set(['p', 'br', 'cr', 'tr', 'row', 'si', 'comment', 'text', 'definedName', 'v', 'Relationship']),
  cells: new Set(['tc', 'tab', 'c', 'pt']),
  unseen: { del: 'tracked', moveFrom: 'tracked', instrText: 'formula', delInstrText: 'formula', f: 'formula' },
  hides,
  runs: new Set(['r', 'p', 'sp', 'fld']),
  prose: new Set(['t', 'delText', 'instrText', 'delInstrText', 'f', 'v', 'div', 'font', 'span'])
}

const pictures = /\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|wdp|svg|webp|ico|heic|avif|pict)$/i

/** Templates of slides: each repeats "Click to edit" and the like. */
const templates = /^ppt\/(?:slideLayouts|slideMasters|notesMasters|handoutMasters)\//

/** Embedded documents, mostly the numbers of a chart. */
const embedded = /^(?:word|xl|ppt)\/embeddings\/[^/]+\.(?:docx|pptx|xlsx)$/i

/**
 * @param within reads a file within this one into texts of its own
 * @throws Unread
 */
export async function readOffice(
  bytes: Buffer,
  kind: FileKind,
  out: Texts,
  picture: PictureReader | undefined,
  within: (bytes: Buffer, name: string) => Promise<Texts>
): Promise<void> {
  const archive = await unzip(bytes)
  checkTypes(archive, kind)
  const strings = kind === 'sheets' ? sharedStrings(archive) : []
  let objects = 0
  const sheets = kind === 'sheets' ? sheetNames(archive) : new Map<string, string>()
  for (const [name, content] of archive) {
    if (/^(?:word|xl|ppt)\/printerSettings\/[^/]+\.bin$/.test(name)) {
      addStrings(content, out)
      continue
    }
    if (embedded.test(name)) {
      if (++objects > bounds.attachments) throw new Unread('too_large')
      out.take(await within(content, name), `object=${objects}`)
      continue
    }
    if (refuse(name, content) === 'picture') {
      readMedia(name, content, out, picture)
      continue
    }
    const isSheet = /^xl\/worksheets\/[^/]+\.xml$/.test(name)
    const { where, hidden } = placeOf(name, sheets)
    if (isSheet) readSheet(content, strings, officeWords, out, where, hidden)
    else readMarkup(content, officeWords, out, { where, hidden, isTemplate: templates.test(name) })
  }
}

/** Checks the declared types of the parts. Templates, add-ins and everything executable are other kinds of files. */
function checkTypes(archive: Archive, kind: FileKind): void {
  const types = archive.get('[Content_Types].xml')
  if (types === undefined) throw new Unread('type_mismatch')
  const found: string[] = []
  readXml(types, {
    open: (element) => {
      const type = attribute(element, 'ContentType')
      if (type !== undefined) found.push(type)
    },
    text: () => undefined,
    close: () => undefined
  })
  if (found.some((type) => /macro|vba|activeX|ctrlProps|oleObject/i.test(type))) throw new Unread('macros')
  if (!found.includes(mains[kind]!)) throw new Unread('type_mismatch')
}

/** @throws Unread where a part is neither XML nor a picture */
function refuse(name: string, content: Buffer): 'picture' | undefined {
  if (/vbaProject|vbaData|macros?\b|activeX|ctrlProps/i.test(name)) throw new Unread('macros')
  if (/(?:^|\/)embeddings\//i.test(name)) throw new Unread('object_unread')
  if (pictures.test(name) || /(?:^|\/)(?:media|ink)\//i.test(name)) return 'picture'
  if (/\.(?:odttf|fntdata|ttf|otf)$/i.test(name)) throw new Unread('glyphs_unmapped')
  if (/\.(?:xml|rels|vml)$/i.test(name)) return undefined
  if (formatOf(content) === undefined) throw new Unread('object_unread')
  return 'picture'
}

/** Adds the strings of printer settings, a Windows structure with a few names. */
function addStrings(content: Buffer, out: Texts): void {
  const found = [content.toString('utf16le'), content.toString('latin1')].flatMap(
    (text) => text.match(/[\x20-\x7e]{4,}/g) ?? []
  )
  out.add(found.join('\n'), 'part=printer', 'metadata')
}

interface Place {
  where: string
  hidden: HiddenKind | undefined
}

function placeOf(name: string, sheets: ReadonlyMap<string, string>): Place {
  const slide = /^ppt\/slides\/slide(\d+)\.xml$/.exec(name)
  if (slide !== null) return { where: `slide=${slide[1]}`, hidden: undefined }
  const notes = /^ppt\/notesSlides\/notesSlide(\d+)\.xml$/.exec(name)
  if (notes !== null) return { where: `slide=${notes[1]}`, hidden: 'notes' }
  const sheet = sheets.get(name)
  if (sheet !== undefined) return { where: `sheet=${sheet}`, hidden: hiddenSheet.test(sheet) ? 'sheet' : undefined }
  const part = /([A-Za-z]+)(\d*)\.(?:xml|rels|vml)$/.exec(name)
  const where = part === null ? 'part=other' : `part=${part[1]!.toLowerCase()}${part[2]}`
  if (/comment|threaded/i.test(name)) return { where, hidden: 'comment' }
  if (/^docProps\/|^customXml\/|\/people|\/persons/i.test(name)) return { where, hidden: 'metadata' }
  if (/\.rels$|Content_Types|styles|theme|settings|fontTable|numbering/i.test(name))
    return { where, hidden: 'attribute' }
  return { where, hidden: undefined }
}

const hiddenSheet = /&hidden$/

function sharedStrings(archive: Archive): string[] {
  const content = archive.get('xl/sharedStrings.xml')
  return content === undefined ? [] : readStrings(content)
}

/** The place of each sheet, by the name of its part: its number in the book, and whether the book hides it. */
function sheetNames(archive: Archive): Map<string, string> {
  const targets = new Map<string, string>()
  const rels = archive.get('xl/_rels/workbook.xml.rels')
  const nothing = { text: () => undefined, close: () => undefined }
  if (rels !== undefined) {
    readXml(rels, {
      ...nothing,
      open(element) {
        const id = attribute(element, 'Id')
        const target = attribute(element, 'Target')
        if (id !== undefined && target !== undefined) targets.set(id, target.replace(/^\/?(?:xl\/)?/, 'xl/'))
      }
    })
  }
  const sheets = new Map<string, string>()
  const book = archive.get('xl/workbook.xml')
  if (book === undefined) throw new Unread('damaged')
  let number = 0
  readXml(book, {
    ...nothing,
    open(element) {
      if (element.name !== 'sheet') return
      number++
      const target = targets.get(
        element.attributes.find(([name, value]) => name === 'id' && targets.has(value))?.[1] ?? ''
      )
      if (target === undefined) return
      const state = attribute(element, 'state') ?? 'visible'
      sheets.set(target, state === 'visible' ? `${number}` : `${number}&hidden`)
    }
  })
  return sheets
}
