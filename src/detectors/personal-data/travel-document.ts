/** The machine-readable zone of passports, visas and identity cards (ICAO Doc 9303): lines of 44, 36 or 30 characters. */
import type { Finding } from '../detector.js'

const zones =
  /(?<![A-Z0-9<])(?:[PV][A-Z<][A-Z]{3}[A-Z<]{39}\r?\n[A-Z0-9<]{44}|[ACIPV][A-Z<][A-Z]{3}[A-Z<]{31}\r?\n[A-Z0-9<]{36}|[ACI][A-Z0-9<][A-Z]{3}[A-Z0-9<]{25}\r?\n[A-Z0-9<]{30}\r?\n[A-Z0-9<]{30})(?![A-Z0-9<])/g

/** Weights 7, 3, 1; letters count from 10, fillers as 0. */
function isChecked(field: string, digit: string | undefined): boolean {
  let sum = 0
  for (let i = 0; i < field.length; i++) {
    const character = field[i]!
    sum += (character === '<' ? 0 : Number.parseInt(character, 36)) * [7, 3, 1][i % 3]!
  }
  return String(sum % 10) === digit
}

/** @param text the whole text */
export function findTravelDocuments(text: string, found: Finding[]): void {
  if (!text.includes('<<')) return
  for (const { 0: zone, index } of text.matchAll(zones)) {
    const lines = zone.split(/\r?\n/)
    const [birth, number] =
      lines.length === 3
        ? [
            [lines[1]!.slice(0, 6), lines[1]![6]],
            [lines[0]!.slice(5, 14), lines[0]![14]]
          ]
        : [
            [lines[1]!.slice(13, 19), lines[1]![19]],
            [lines[1]!.slice(0, 9), lines[1]![9]]
          ]
    const isValid = isChecked(birth[0]!, birth[1]) && isChecked(number[0]!, number[1])
    found.push({ kind: 'travel_document', confidence: isValid ? 0.98 : 0.7, start: index, end: index + zone.length })
  }
}
