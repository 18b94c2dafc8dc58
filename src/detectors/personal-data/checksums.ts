/** Check digits of cards, accounts and national numbers. Arguments are digits (and letters) without separators. */

/** ISO/IEC 7812-1 annex B. */
export function luhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    let digit = digits.charCodeAt(digits.length - 1 - i) - 48
    if (i % 2 === 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2
    sum += digit
  }
  return sum % 10 === 0
}

/** ISO 7064 MOD 97-10, as IBAN (ISO 13616) uses it. */
export function iban(account: string): boolean {
  let remainder = 0
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}

const verhoeffD = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210'
]
const verhoeffP = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258'
]

/** Verhoeff (1969): Aadhaar. */
export function verhoeff(digits: string): boolean {
  let check = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    check = Number(verhoeffD[check]![Number(verhoeffP[i % 8]![digit])])
  }
  return check === 0
}

function weighted(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, i) => sum + weight * Number(digits[i]), 0)
}

/** Brazilian CPF (11 digits). */
export function cpf(digits: string): boolean {
  if (/^(\d)\1+$/.test(digits)) return false
  const check = (length: number) => {
    const rest =
      (weighted(
        digits,
        Array.from({ length }, (_, i) => length + 1 - i)
      ) *
        10) %
      11
    return (rest === 10 ? 0 : rest) === Number(digits[length])
  }
  return check(9) && check(10)
}

/** Brazilian CNPJ (14 digits). */
export function cnpj(digits: string): boolean {
  const weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]
  const check = (length: number) => {
    const rest = weighted(digits, weights.slice(13 - length)) % 11
    return (rest < 2 ? 0 : 11 - rest) === Number(digits[length])
  }
  return check(12) && check(13)
}

/** Spanish DNI and NIE: the letter follows from the number. */
export function dni(id: string): boolean {
  const number = Number(id.slice(0, -1).replace('X', '0').replace('Y', '1').replace('Z', '2'))
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23] === id.at(-1)
}

/** German tax number (Steuer-IdNr., 11 digits): ISO 7064 MOD 11,10. */
export function steuerId(digits: string): boolean {
  let product = 10
  for (let i = 0; i < 10; i++) {
    const sum = (Number(digits[i]) + product) % 10 || 10
    product = (sum * 2) % 11
  }
  return (11 - product) % 10 === Number(digits[10]) && !digits.startsWith('0')
}

/** French NIR (15 digits; Corsican departments as 2A and 2B). */
export function nir(id: string): boolean {
  const number = BigInt(id.slice(0, 13).replace('2A', '19').replace('2B', '18'))
  return 97 - Number(number % 97n) === Number(id.slice(13))
}

/** Chinese resident identity card (GB 11643-1999, 18 characters): ISO 7064 MOD 11-2. */
export function residentId(id: string): boolean {
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
  return '10X98765432'[weighted(id, weights) % 11] === id[17]
}

/** Polish PESEL (11 digits). */
export function pesel(digits: string): boolean {
  return (10 - (weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === Number(digits[10])
}

const oddValues = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]

/** Italian codice fiscale (16 characters). */
export function codiceFiscale(id: string): boolean {
  let sum = 0
  for (let i = 0; i < 15; i++) {
    const code = id.charCodeAt(i)
    const value = code > 57 ? code - 65 : code - 48
    sum += i % 2 === 0 ? oddValues[value]! : value
  }
  return String.fromCharCode(65 + (sum % 26)) === id[15]
}
