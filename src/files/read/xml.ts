/**
 * Parses XML to elements, texts and attributes in document order. Entity declarations and external files are refused.
 */
import { SaxesParser } from 'saxes'
import { bounds, Unread } from '../file.js'
import { decode } from './text.js'

export interface XmlElement {
  /** Without its prefix. */
  name: string
  /** By name without prefix; may have the same name twice with different prefixes. */
  attributes: ReadonlyArray<readonly [name: string, value: string]>
}

export interface XmlReader {
  open(element: XmlElement): void
  text(text: string): void
  close(name: string): void
  comment?(text: string): void
}

const local = (name: string) => name.slice(name.indexOf(':') + 1)

/** @throws Unread `damaged`, `entities`, `too_large`, `bad_encoding` */
export function readXml(bytes: Buffer, reader: XmlReader): void {
  const { text } = decode({ bytes })
  const parser = new SaxesParser({ xmlns: false })
  let elements = 0
  let depth = 0
  parser.on('doctype', () => {
    throw new Unread('entities')
  })
  parser.on('error', () => {
    throw new Unread('damaged')
  })
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !/^utf-?(?:8|16)$/i.test(encoding)) throw new Unread('bad_encoding')
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (++elements > bounds.elements || ++depth > bounds.depth) throw new Unread('too_large')
    const pairs = Object.keys(attributes).map((key) => [local(key), attributes[key] as string] as const)
    reader.open({ name: local(name), attributes: pairs })
  })
  parser.on('text', (each) => reader.text(each))
  parser.on('cdata', (each) => reader.text(each))
  parser.on('comment', (each) => reader.comment?.(each))
  parser.on('processinginstruction', ({ body }) => reader.comment?.(body))
  parser.on('closetag', ({ name }) => {
    depth--
    reader.close(local(name))
  })
  parser.write(text.startsWith('\uFEFF') ? text.slice(1) : text).close()
}

/** @returns undefined where it has none */
export function attribute(element: XmlElement, name: string): string | undefined {
  return element.attributes.find(([each]) => each === name)?.[1]
}
