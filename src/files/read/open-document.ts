/** OpenDocument (ISO/IEC 26300): an archive of XML, in which everything else is a picture, an object or a script. */
import { type FileKind, type HiddenKind, type Texts, Unread } from '../file.js'
import { readMarkup, type Vocabulary } from './markup.js'
import type { PictureReader } from './picture/index.js'
import { readMedia } from './picture/media.js'
import { attribute, readXml, type XmlElement } from './xml.js'
import { unzip } from './zip.js'

const types: Partial<Record<FileKind, string>> = {
  'open-text': 'application/vnd.oasis.opendocument.text',
  'open-slides': 'application/vnd.oasis.opendocument.presentation',
  'open-sheets': 'application/vnd.oasis.opendocument.spreadsheet'
}

/** Whether a style hides its texts: texts refer to styles by name. */
function hides(element: XmlElement): HiddenKind | undefined {
  if (attribute(element, 'visibility') === 'collapse' || attribute(element, 'display') === 'none') return 'invisible'
  if (element.name === 'hidden-text' || element.name === 'hidden-paragraph') return 'invisible'
  return undefined
}

const words: Vocabulary = {
  breaks: new Set(['p', 'h', 'line-break', 'table-row', 'annotation', 'list-item', 'meta', 'title', 'description']),
  cells: new Set(['table-cell', 's', 'tab', 'covered-table-cell']),
  unseen: {
    annotation: 'comment',
    'tracked-changes': 'tracked',
    deletion: 'tracked',
    notes: 'notes',
    title: 'alternative',
    desc: 'alternative'
  },
  hides,
  runs: new Set(['span', 'p', 'h', 'table', 'table-row', 'table-column', 'section', 'page']),
  prose: new Set(['p', 'h', 'span', 'a', 'ruby', 'ruby-base', 'ruby-text', 'title', 'desc'])
}

/** @throws Unread */
export async function readOpenDocument(
  bytes: Buffer,
  kind: FileKind,
  out: Texts,
  picture: PictureReader | undefined
): Promise<void> {
  const archive = await unzip(bytes)
  if (archive.get('mimetype')?.toString('latin1').trim() !== types[kind]) throw new Unread('type_mismatch')
  const manifest = archive.get('META-INF/manifest.xml')
  if (manifest === undefined || !archive.has('content.xml')) throw new Unread('damaged')
  readXml(manifest, {
    open({ name }) {
      if (name === 'encryption-data') throw new Unread('encrypted')
    },
    text: () => undefined,
    close: () => undefined
  })
  const styles = hidingStyles([archive.get('styles.xml'), archive.get('content.xml')])
  for (const [name, content] of archive) {
    if (name === 'mimetype') continue
    if (/^(?:Basic|Scripts|Dialogs)\//i.test(name)) throw new Unread('macros')
    if (/^(?:Pictures|Thumbnails|ObjectReplacements|media)\//i.test(name)) {
      readMedia(name, content, out, picture)
      continue
    }
    if (/^Fonts\//i.test(name)) throw new Unread('glyphs_unmapped')
    if (/^layout-cache$|^Configurations2\//.test(name) && content.length === 0) continue
    if (!/\.(?:xml|rdf)$/.test(name)) throw new Unread('object_unread')
    const own = name === 'content.xml'
    // An embedded document has its own content and styles, in a folder.
    const isSeen = /(?:^|\/)(?:content|styles)\.xml$/.test(name)
    const where = own ? 'part=content' : `part=${/([A-Za-z]+)\.(?:xml|rdf)$/.exec(name)?.[1] ?? 'other'}`
    const hidden: HiddenKind | undefined =
      name === 'meta.xml' || name.endsWith('.rdf') ? 'metadata' : isSeen ? undefined : 'attribute'
    readMarkup(content, withStyles(styles), out, {
      where,
      hidden,
      watch: own ? placesOf(kind) : undefined,
      isProperties: /(?:^|\/)settings\.xml$/.test(name)
    })
  }
}

/** Sheets and slides in their order. */
function placesOf(kind: FileKind): ((element: XmlElement) => string | undefined) | undefined {
  if (kind === 'open-text') return undefined
  const [name, noun] = kind === 'open-sheets' ? ['table', 'sheet'] : ['page', 'slide']
  let number = 0
  return (element) => (element.name === name ? `${noun}=${++number}` : undefined)
}

/** Names of the styles that hide their texts. */
function hidingStyles(parts: readonly (Buffer | undefined)[]): Map<string, HiddenKind> {
  const found = new Map<string, HiddenKind>()
  for (const part of parts) {
    if (part === undefined) continue
    let style: string | undefined
    readXml(part, {
      open(element) {
        if (element.name === 'style') style = attribute(element, 'name')
        if (style === undefined || !element.name.endsWith('-properties')) return
        if (attribute(element, 'display') === 'none') found.set(style, 'invisible')
        else if (/^#f[c-f]f[c-f]f[c-f]$/i.test(attribute(element, 'color') ?? '')) found.set(style, 'white')
        else if (/^[0-3](?:\.\d+)?pt$/.test(attribute(element, 'font-size') ?? '')) found.set(style, 'tiny')
      },
      text: () => undefined,
      close(name) {
        if (name === 'style') style = undefined
      }
    })
  }
  return found
}

function withStyles(styles: ReadonlyMap<string, HiddenKind>): Vocabulary {
  return {
    ...words,
    hides: (element) =>
      hides(element) ?? (element.name === 'style' ? undefined : styles.get(attribute(element, 'style-name') ?? ''))
  }
}
