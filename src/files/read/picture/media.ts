/** A picture among the files of an archive. */
import { type Texts, Unread } from '../../file.js'
import type { PictureReader } from './index.js'
import { formatOf } from './structure.js'

/** @throws Unread `picture_unread` where pictures are not read, and for drawings (EMF, SVG, ink), which nobody here reads */
export function readMedia(name: string, content: Buffer, out: Texts, picture: PictureReader | undefined): void {
  if (picture === undefined || formatOf(content) === undefined) throw new Unread('picture_unread')
  const [, stem = ''] = /([^/]*?)(?:\.[^./]*)?$/.exec(name) ?? []
  const known = stem
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 32)
  picture.read(content, out, `part=${known || 'picture'}`)
}
