/** Sample files that a child reads before it is ready, so that its parsers build their tables. */
import type { FileInput } from './file.js'

const content = 'BT /F1 12 Tf 40 700 Td (The quick brown fox jumps over the lazy dog 0123456789.) Tj ET'

const objects = [
  '<< /Type /Catalog /Pages 2 0 R >>',
  '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
  `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'
]

function warmingPdf(): Buffer {
  let file = '%PDF-1.7\n'
  const places = objects.map((object, i) => {
    const place = file.length
    file += `${i + 1} 0 obj\n${object}\nendobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  return Buffer.from(file + table + trailer)
}

/** A line of words, drawn black on white: a PNG of one bit. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAUoAAAAoAQAAAACwGY5NAAABdUlEQVR42u3UQUvDMBQA4MLA4sX9AWkRPIoXT4Ns+TEiPQ8PDqx2oLDbPHiZ0K' +
    '2/Q1DQ7TCFsvwBD9XB3k03Ctpo6JOkXbcOkV3F5RBC8hFe3ntEw2XHnbaif40CMmTpTgMRhVrFziKNaI6aedoYn+rCSWkgD2eU5qkeGIWMMvYb' +
    'BfR4lFGw4Z7RhxPXOPQbYqNIUIztNRu7Nbqu6OeUemBDe+B0Sa1Z9feQWC6KDzqysVU1tiSdvM9T6iO7CUfVp2Mk4RUK9KCMxBpMJD0bzVPnEV' +
    'k7hAOXYynsScpKWLF8joB0+JqjPUW3FQUUkeldpzR2+OAHuqPoEMWzRy9TKpB3Zhkg0wB2b9IAoONMKUdeN7O8EvWs2y9oEp48C1zsIznyJwgh' +
    '8nhWLU0lqxxdKGoREC+b2E+SVQ+MQkYjep6UQJgdwrFSrIAYt3RISqAFhp5R1SC5AXJ6kxNfaEJvkSqleiJcqrXlBfH+UlSGFeurf+Af0G9gHP' +
    '1wpJiEvwAAAABJRU5ErkJggg==',
  'base64'
)

export function warming(readsPictures: boolean): FileInput[] {
  const inputs: FileInput[] = [{ bytes: warmingPdf(), type: 'application/pdf', name: '' }]
  if (readsPictures) inputs.push({ bytes: picture, type: 'image/png', name: '' })
  return inputs
}
