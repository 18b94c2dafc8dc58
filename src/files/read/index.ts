/** Reads one file whole, or says why not. Runs in the child alone: it brings the parsers. */
import { bounds, type FileInput, type FileKind, type Reading, Texts, Unread } from '../file.js'
import { readHtml } from './html.js'
import { kindOf } from './kind.js'
import { readMail } from './mail.js'
import { readOffice } from './office.js'
import { readOpenDocument } from './open-document.js'
import { readPdf } from './pdf.js'
import type { PictureReader } from './picture/index.js'
import { readJson, readText } from './text.js'

/** @param picture reads pictures, also within files; undefined: pictures leave a file unread */
export async function readFile(input: FileInput, picture: PictureReader | undefined): Promise<Reading> {
  try {
    const { kind, out } = await within(input, picture, 0)
    return { whole: true, kind, texts: out.all, hasPictures: out.pictures > 0 }
  } catch (error) {
    // The parser's own message is dropped, since it may quote the file.
    return { whole: false, reason: error instanceof Unread ? error.reason : 'damaged' }
  }
}

async function within(
  input: FileInput,
  picture: PictureReader | undefined,
  depth: number
): Promise<{ kind: FileKind; out: Texts }> {
  if (depth > bounds.nesting) throw new Unread('too_large')
  const out = new Texts()
  if (input.bytes.length === 0) return { kind: 'text', out }
  const kind = kindOf(input)
  switch (kind) {
    case 'text':
      readText(input, out)
      break
    case 'json':
      readJson(input, out)
      break
    case 'html':
      readHtml(input, out)
      break
    case 'pdf':
      await readPdf(input.bytes, out, picture)
      break
    case 'word':
    case 'slides':
    case 'sheets':
      await readOffice(input.bytes, kind, out, picture, async (bytes, name) => {
        return (await within({ bytes, type: '', name }, picture, depth + 1)).out
      })
      break
    case 'open-text':
    case 'open-slides':
    case 'open-sheets':
      await readOpenDocument(input.bytes, kind, out, picture)
      break
    case 'mail':
      await readMail(input, out, depth, async (each, at) => (await within(each, picture, at)).out)
      break
    case 'picture':
      if (picture === undefined) throw new Unread('picture_unread')
      picture.read(input.bytes, out, '')
      break
    default:
      kind satisfies never
  }
  return { kind, out }
}
