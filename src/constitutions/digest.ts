import { hash } from 'node:crypto'

/** SHA-256 of a text in UTF-8, hex: what tells two texts of a constitution apart. */
export function digestOf(source: string): string {
  return hash('sha256', source, 'hex')
}
