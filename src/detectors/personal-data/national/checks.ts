/** Check digits of national numbers by their general methods. Arguments are digits (and letters) without separators. */
import { luhn } from '../checksums.js'

/** The sum of digits by weights; digits beyond the weights do not count. */
export function weigh(digits: string, weights: readonly number[], from = 0): number {
  let sum = 0
  for (let i = 0; i < weights.length; i++) sum += weights[i]! * (digits.charCodeAt(from + i) - 48)
  return sum
}

/** The last digit is 11 less the weighted sum modulo 11; 11 counts as 0, and 10 as `ten` (-1: there are no such numbers). */
export function mod11(digits: string, weights: readonly number[], ten = -1): boolean {
  const rest = (11 - (weigh(digits, weights) % 11)) % 11
  return (rest === 10 ? ten : rest) === digits.charCodeAt(weights.length) - 48
}

/** The last digit is the weighted sum modulo 11. */
export function rest11(digits: string, weights: readonly number[], ten = 0): boolean {
  const rest = weigh(digits, weights) % 11
  return (rest === 10 ? ten : rest) === digits.charCodeAt(weights.length) - 48
}

/** The last digit brings the weighted sum to a multiple of 10. */
export function mod10(digits: string, weights: readonly number[]): boolean {
  return (10 - (weigh(digits, weights) % 10)) % 10 === digits.charCodeAt(weights.length) - 48
}

/** ISO 7064 MOD 11,10 over all digits. */
export function iso11And10(digits: string): boolean {
  let product = 10
  for (let i = 0; i + 1 < digits.length; i++) {
    const sum = (digits.charCodeAt(i) - 48 + product) % 10 || 10
    product = (sum * 2) % 11
  }
  return (11 - product) % 10 === digits.charCodeAt(digits.length - 1) - 48
}

/** Estonia, Lithuania, Kazakhstan: a second row of weights where the first gives 10. */
export function twoRows(digits: string, first: readonly number[], second: readonly number[]): boolean {
  let rest = weigh(digits, first) % 11
  if (rest === 10) rest = weigh(digits, second) % 11
  return rest % 10 === digits.charCodeAt(first.length) - 48
}

/** A month and a day at these places, each less what some countries add to tell sexes and centuries. */
export function isDate(digits: string, month: number, day: number): boolean {
  const m = Number(digits.slice(month, month + 2))
  const d = Number(digits.slice(day, day + 2))
  return m >= 1 && m <= 12 && d >= 1 && d <= 31
}

export const dayFirst = (digits: string) => isDate(digits, 2, 0)
export const yearFirst = (digits: string) => isDate(digits, 2, 4)

/** No row of one digit, and no counting up: what people write as a sample. */
export function isVaried(digits: string): boolean {
  return !/^(\d)\1+$/.test(digits) && !/^(?:0?123456789?\d*|9?876543210?\d*)$/.test(digits)
}

export const luhnVaried = (digits: string) => isVaried(digits) && luhn(digits)
