import { hash } from 'node:crypto'

/** SHA-256 of a constitution's text in UTF-8, hex; identifies the text. */
export function digestOf(source: string): string {
  return hash('sha256', source, 'hex')
}
