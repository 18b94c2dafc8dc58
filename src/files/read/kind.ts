/**
 * Chooses the reader of a file from its declared type, its name's ending and its first bytes. The three must agree: a
 * contradicting file would be read in one way here and in another elsewhere.
 */
import { type FileInput, type FileKind, Unread } from '../file.js'
import { formatOf, type PictureFormat } from './picture/structure.js'

interface Known {
  kind: FileKind
  types: readonly string[]
  endings: readonly string[]
}

const office = 'application/vnd.openxmlformats-officedocument.'
const open = 'application/vnd.oasis.opendocument.'

const known: readonly Known[] = [
  { kind: 'pdf', types: ['application/pdf', 'application/x-pdf'], endings: ['pdf'] },
  { kind: 'word', types: [`${office}wordprocessingml.document`], endings: ['docx'] },
  { kind: 'slides', types: [`${office}presentationml.presentation`], endings: ['pptx'] },
  { kind: 'sheets', types: [`${office}spreadsheetml.sheet`], endings: ['xlsx'] },
  { kind: 'open-text', types: [`${open}text`], endings: ['odt'] },
  { kind: 'open-slides', types: [`${open}presentation`], endings: ['odp'] },
  { kind: 'open-sheets', types: [`${open}spreadsheet`], endings: ['ods'] },
  { kind: 'mail', types: ['message/rfc822'], endings: ['eml'] },
  { kind: 'html', types: ['text/html', 'application/xhtml+xml'], endings: ['html', 'htm', 'xhtml'] },
  {
    kind: 'json',
    types: ['application/json', 'application/ld+json', 'application/x-ndjson', 'application/jsonl'],
    endings: ['json', 'jsonl', 'ndjson', 'ipynb', 'geojson']
  }
]

/** Pictures have one reader, and each format has names of its own. */
const pictureNames: Readonly<Record<PictureFormat, { types: readonly string[]; endings: readonly string[] }>> = {
  png: { types: ['image/png', 'image/x-png'], endings: ['png'] },
  jpeg: { types: ['image/jpeg', 'image/jpg', 'image/pjpeg'], endings: ['jpg', 'jpeg', 'jpe', 'jfif'] },
  gif: { types: ['image/gif'], endings: ['gif'] },
  webp: { types: ['image/webp'], endings: ['webp'] },
  bmp: { types: ['image/bmp', 'image/x-ms-bmp'], endings: ['bmp', 'dib'] },
  tiff: { types: ['image/tiff'], endings: ['tif', 'tiff'] }
}

/** Types beside `text/…` whose bytes are read as they stand. */
const textTypes = new Set(
  `application/xml application/yaml application/x-yaml application/toml application/sql application/javascript
  application/x-javascript application/ecmascript application/typescript application/x-typescript application/x-sh
  application/x-python application/x-httpd-php application/graphql application/csv application/markdown application/x-tex
  application/x-latex application/x-subrip application/x-bibtex application/x-perl application/x-ruby
  application/x-csh application/x-patch`.split(/\s+/)
)

const textEndings = new Set(
  `txt text log md markdown mdx rst adoc tex csv tsv tab xml xsd xsl yaml yml toml ini cfg conf properties env
  py pyi rb pl pm php lua r jl js mjs cjs jsx ts mts cts tsx java kt kts scala groovy clj c h cc cpp cxx hpp cs go rs swift m mm
  dart ex exs erl hs ml fs vb sql sh bash zsh fish ps1 bat cmd dockerfile makefile gradle cmake proto graphql gql css scss less
  sass vue svelte diff patch ics vcf srt vtt bib asm s`.split(/\s+/)
)

/** Types that carry no information, since many senders use them for everything. */
const silentTypes = new Set(['', 'application/octet-stream', 'binary/octet-stream'])

/** Kinds whose bytes are text: each may be declared as another, and is read in the more thorough way. */
const textual: ReadonlySet<FileKind> = new Set<FileKind>(['text', 'json', 'html', 'mail'])
const zipped: ReadonlySet<FileKind> = new Set<FileKind>([
  'word',
  'slides',
  'sheets',
  'open-text',
  'open-slides',
  'open-sheets'
])

function byType(type: string): FileKind | 'other' | undefined {
  if (silentTypes.has(type)) return undefined
  const found = known.find(({ types }) => types.includes(type))
  if (found !== undefined) return found.kind
  if (Object.values(pictureNames).some(({ types }) => types.includes(type))) return 'picture'
  if (type === 'text/rtf' || type === 'text/richtext') return 'other'
  return type.startsWith('text/') || textTypes.has(type) || type.endsWith('+json') || type.endsWith('+yaml')
    ? 'text'
    : 'other'
}

function byName(name: string): FileKind | 'other' | undefined {
  const ending = endingOf(name)
  if (ending === undefined) return undefined
  if (Object.values(pictureNames).some(({ endings }) => endings.includes(ending))) return 'picture'
  const found = known.find(({ endings }) => endings.includes(ending))
  return found?.kind ?? (textEndings.has(ending) ? 'text' : otherEndings.has(ending) ? 'other' : undefined)
}

const endingOf = (name: string) => /\.([A-Za-z0-9_]{1,16})$/.exec(name.trim())?.[1]?.toLowerCase()

/** Endings of unsupported kinds; unknown endings are ignored. */
const otherEndings = new Set(
  `doc dot dotx docm dotm xls xlt xlsm xlsb xltx xltm xlam ppt pot pps pptm potx potm ppsx ppsm odg odf odb fodt rtf pages numbers
  key epub mobi zip gz tgz bz2 xz 7z rar tar iso dmg exe dll so bin class jar heic avif svg
  ico psd mp3 wav ogg flac m4a mp4 mov avi mkv webm msg mht mhtml parquet sqlite db ttf otf woff woff2 swf wasm xps`.split(
    /\s+/
  )
)

type Family = 'pdf' | 'zip' | 'cfb' | 'picture' | 'binary' | 'text'

/** The family of a file by its first bytes; unknown binary data shows by bytes that no text has. */
function familyOf(bytes: Buffer): Family {
  const start = bytes.toString('latin1', 0, 16)
  const head = start.slice(0, 8)
  if (head.startsWith('%PDF-')) return 'pdf'
  if (head.startsWith('PK\x03\x04') || head.startsWith('PK\x05\x06')) return 'zip'
  if (head === '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') return 'cfb'
  if (head.startsWith('\xff\xfe') || head.startsWith('\xfe\xff')) return 'text'
  if (formatOf(bytes) !== undefined) return 'picture'
  if (/^(?:RIFF|ID3|OggS|fLaC|\{\\rtf|\x1f\x8b|\x7fELF|MZ\x90|7z\xbc\xaf|Rar!)/.test(start)) return 'binary'
  return 'text'
}

/**
 * @returns the kind of the reader
 * @throws Unread `unsupported_type`, `type_mismatch`, `encrypted`
 */
export function kindOf(input: FileInput): FileKind {
  const { bytes, type, name, isPicture = false } = input
  const family = familyOf(bytes)
  const told = [byType(type), byName(name)].filter((each) => each !== undefined)
  const isOther = told.includes('other')
  if (family === 'picture') {
    if (isOther || told.some((each) => each !== 'picture') || !isNamed(input, formatOf(bytes)!))
      throw new Unread('type_mismatch')
    return 'picture'
  }
  if (type.startsWith('image/') && byType(type) === 'other') throw new Unread('picture_unread')
  if (told.includes('picture')) throw new Unread('type_mismatch')
  if (isPicture) throw new Unread(family === 'binary' ? 'unsupported_type' : 'type_mismatch')
  if (family === 'binary' && told.length > 0 && !isOther) throw new Unread('type_mismatch')
  if (isOther || family === 'binary') throw new Unread('unsupported_type')
  const kinds = told as FileKind[]
  if (family === 'cfb') {
    // Files of the newer kinds (since 2007) that begin like this are locked with a password.
    throw new Unread(kinds.length > 0 && kinds.every((kind) => zipped.has(kind)) ? 'encrypted' : 'unsupported_type')
  }
  const fits = (kind: FileKind) =>
    family === 'pdf' ? kind === 'pdf' : family === 'zip' ? zipped.has(kind) : textual.has(kind)
  if (!kinds.every(fits)) throw new Unread('type_mismatch')
  if (family === 'pdf') return 'pdf'
  if (family === 'zip') {
    const [first, second] = kinds
    if (first === undefined) throw new Unread('unsupported_type')
    if (second !== undefined && second !== first) throw new Unread('type_mismatch')
    return first
  }
  const thorough = (['mail', 'html', 'json'] as const).find((kind) => kinds.includes(kind))
  if (thorough !== undefined) return thorough
  return /^\s*(?:<!doctype html|<html)/i.test(bytes.toString('latin1', 0, 256)) ? 'html' : 'text'
}

/** Whether the declared type and name of a picture, where given, match its format. */
function isNamed({ type, name }: FileInput, format: PictureFormat): boolean {
  const { types, endings } = pictureNames[format]
  const ending = endingOf(name)
  return (silentTypes.has(type) || types.includes(type)) && (byName(name) === undefined || endings.includes(ending!))
}
