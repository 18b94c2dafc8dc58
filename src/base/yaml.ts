import { type Document, LineCounter, parseDocument } from 'yaml'

/** Opens a YAML text that people write: keys are unique texts, and every node knows its line. It never throws. */
export function openYaml(text: string): { document: Document.Parsed; lines: LineCounter } {
  const lines = new LineCounter()
  // Without `prettyErrors: false` the parser prints a key that is a collection, as a warning on standard error.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, stringKeys: true })
  return { document, lines }
}
