/** Metadata in XML (XMP, ISO 16684), as PDF and pictures carry it. */
import { Unread } from '../file.js'
import { readXml } from './xml.js'

/** Its texts and attributes where it is well-formed; else the raw text. @throws Unread `entities`, `too_large` */
export function packetTexts(packet: Buffer): string[] {
  const found: string[] = []
  const add = (text: string) => {
    if (text.trim() !== '') found.push(text.trim())
  }
  try {
    readXml(packet, {
      open: ({ attributes }) => {
        for (const [, value] of attributes) add(value)
      },
      text: add,
      close: () => undefined,
      comment: add
    })
    return found
  } catch (error) {
    if (error instanceof Unread && error.reason !== 'damaged' && error.reason !== 'bad_encoding') throw error
    return [packet.toString()]
  }
}
