/** Pictures that are made to be misread, each with what becomes of it where pictures are read. docs/files.md shows the same table. */
import { deflateSync } from 'node:zlib'
import type { Hostile } from './hostile.js'
import { docx, pagePdf, pdf, showing, stream, zip } from './make.js'
import { blank, bmp, chunk, drawn, type Grey, gif, tiff, webpWith, withChunks, withSegments } from './pictures.js'

const png = () => drawn('harmless')
const jpeg = () => drawn('forbidden.jpeg')
const grey: Grey = { width: 40, height: 20, data: new Uint8Array(800).fill(255) }
const and = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')))
const changed = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes)
  copy[at]! ^= 0xff
  return copy
}
const archive = zip([{ name: 'a.txt', content: 'x' }])
const bomb = '<!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>'
/** A directory of EXIF that is the one which names it. */
const cycle = () => {
  const bytes = Buffer.from(tiff(grey))
  const directory = bytes.readUInt32LE(4)
  bytes.writeUInt16LE(34665, directory + 2)
  bytes.writeUInt32LE(directory, directory + 10)
  return bytes
}
const picture = (filter: string, more = '') => `<< /Type /XObject /Subtype /Image /Width 8 /Height 8 ${filter} ${more}`
const pageWith = (image: string | Buffer) => () =>
  pagePdf(`${showing('harmless')} q 9 0 0 9 9 9 cm /I Do Q`, { more: [image], resources: '/XObject << /I 6 0 R >>' })

export const hostilePictures: readonly Hostile[] = [
  { what: 'PNG that says it has 30,000 × 30,000 pixels', make: () => blank(30_000, 30_000), outcome: 'too_large' },
  { what: 'PNG of 30 million pixels', make: () => blank(6_000, 5_000), outcome: 'too_large' },
  { what: 'PNG 25,000 pixels wide', make: () => blank(25_000, 4), outcome: 'too_large' },
  { what: 'PNG cut off', make: () => png().subarray(0, 2_000), outcome: 'damaged' },
  { what: 'PNG cut off between its chunks', make: () => png().subarray(0, -12), outcome: 'damaged' },
  { what: 'PNG with a wrong checksum', make: () => changed(png(), 60), outcome: 'damaged' },
  { what: 'PNG with text behind its end', make: () => and(png(), 'harmless'), outcome: 'damaged' },
  { what: 'PNG with an archive behind its end', make: () => and(png(), archive), outcome: 'damaged' },
  {
    what: 'PNG with pixels that do not unpack',
    make: () => blank(40, 40, { rows: Buffer.alloc(3) }),
    outcome: 'damaged'
  },
  {
    what: 'PNG with a comment that unpacks to 100 MB',
    make: () => withChunks(png(), chunk('zTXt', and('a\0\0', deflateSync(Buffer.alloc(100_000_000, 65))))),
    outcome: 'too_large'
  },
  {
    what: 'PNG with a comment that does not unpack',
    make: () => withChunks(png(), chunk('zTXt', 'a\0\0none')),
    outcome: 'damaged'
  },
  {
    what: 'PNG with metadata that declares entities',
    make: () => withChunks(png(), chunk('iTXt', `XML:com.adobe.xmp\0\0\0\0\0${bomb}`)),
    outcome: 'entities'
  },
  {
    what: 'PNG that moves',
    make: () => withChunks(png(), chunk('acTL', Buffer.alloc(8, 1))),
    outcome: 'several_pictures'
  },
  { what: 'PNG said to be JPEG', type: 'image/jpeg', make: png, outcome: 'type_mismatch' },
  { what: 'JPEG named as PNG', name: 'a.png', make: jpeg, outcome: 'type_mismatch' },
  { what: 'HTML said to be PNG', type: 'image/png', make: () => '<html>harmless', outcome: 'type_mismatch' },
  { what: 'PDF said to be PNG', type: 'image/png', make: () => pdf(['x']), outcome: 'type_mismatch' },
  { what: 'PNG said to be PDF', type: 'application/pdf', make: png, outcome: 'type_mismatch' },
  { what: 'SVG', type: 'image/svg+xml', make: () => '<svg><text>harmless</text></svg>', outcome: 'picture_unread' },
  {
    what: 'HEIC',
    type: 'image/heic',
    make: () => and('\0\0\0\x18ftypheic', Buffer.alloc(64)),
    outcome: 'picture_unread'
  },
  { what: 'JPEG cut off', make: () => jpeg().subarray(0, 2_500), outcome: 'damaged' },
  { what: 'JPEG with another behind it', make: () => and(jpeg(), jpeg()), outcome: 'several_pictures' },
  { what: 'JPEG with an archive behind it', make: () => and(jpeg(), archive), outcome: 'damaged' },
  {
    what: 'JPEG of several pictures',
    make: () => withSegments(jpeg(), [0xe2, 'MPF\0II*\0']),
    outcome: 'several_pictures'
  },
  {
    what: 'JPEG with a small picture in bytes of colours',
    make: () => withSegments(jpeg(), [0xe0, 'JFIF\0\x01\x01\0\0\x01\0\x01\x02\x02abcabcabcabc']),
    outcome: 'picture_unread'
  },
  {
    what: 'JPEG with three small pictures beside it',
    make: () => withSegments(jpeg(), [0xe1, and('Exif\0\0', jpeg(), jpeg(), jpeg())]),
    outcome: 'several_pictures'
  },
  {
    what: 'JPEG with a small picture that is cut off',
    make: () => withSegments(jpeg(), [0xe1, and('Exif\0\0', jpeg().subarray(0, 900))]),
    outcome: 'damaged'
  },
  { what: 'GIF that moves', make: () => gif(grey, { frames: 2 }), outcome: 'several_pictures' },
  { what: 'GIF cut off', make: () => gif(grey).subarray(0, -2), outcome: 'damaged' },
  { what: 'GIF with text behind its end', make: () => and(gif(grey), 'harmless'), outcome: 'damaged' },
  {
    what: 'GIF that draws text over itself',
    make: () => and(gif(grey).subarray(0, -1), '!\x01\x0c', Buffer.alloc(12, 1), '\x05words\0;'),
    outcome: 'drawing_unread'
  },
  {
    what: 'WebP that moves',
    make: () => webpWith(drawn('forbidden.webp'), 'ANIM', Buffer.alloc(6)),
    outcome: 'several_pictures'
  },
  { what: 'WebP with text behind its end', make: () => and(drawn('forbidden.webp'), 'harmless'), outcome: 'damaged' },
  { what: 'TIFF of two pages', make: () => tiff(grey, { next: 8 }), outcome: 'several_pictures' },
  { what: 'TIFF whose directories name each other', make: cycle, outcome: 'damaged' },
  { what: 'BMP with text behind its end', make: () => and(bmp(grey), 'harmless'), outcome: 'damaged' },
  {
    what: 'Word with a drawing of Windows (EMF), where pictures are read',
    name: 'a.docx',
    make: () => docx('x', { more: [{ name: 'word/media/a.emf', content: '\x01\0\0\0' }] }),
    outcome: 'picture_unread'
  },
  {
    what: 'Word with a picture that is cut off, where pictures are read',
    name: 'a.docx',
    make: () => docx('x', { more: [{ name: 'word/media/a.png', content: png().subarray(0, 2_000) }] }),
    outcome: 'damaged'
  },
  {
    what: 'PDF with a picture that no page shows, where pictures are read',
    name: 'a.pdf',
    make: () => pdf(['x'], async (document) => (await document.embedPng(png())).embed()),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF with a stencil, where pictures are read',
    name: 'a.pdf',
    make: pageWith(`${picture('/ImageMask true', '/Length 8 >>')}\nstream\nabcdefgh\nendstream`),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF with a picture in JPEG 2000, where pictures are read',
    name: 'a.pdf',
    make: pageWith(`${picture('/Filter /JPXDecode', '/Length 8 >>')}\nstream\nabcdefgh\nendstream`),
    outcome: 'picture_unread'
  },
  {
    what: 'PDF with a picture of 40 million pixels',
    name: 'a.pdf',
    make: pageWith(
      stream('', '/Type /XObject /Subtype /Image /Width 8000 /Height 5000 /BitsPerComponent 1 /ColorSpace /DeviceGray')
    ),
    outcome: 'picture_unread'
  }
].map((each) => ({ name: '', ...each }) as Hostile)
