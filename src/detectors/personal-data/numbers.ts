/** Finds other personal numbers: cards, accounts, dates of birth. */
import { before, type Find } from '../span.js'
import { iban, luhn } from './checksums.js'

const cardShape = /(?<![\w.+-])\d(?:[ -]?\d){11,18}(?![\w-])/g
/** Ranges and lengths in use: American Express, Diners, JCB, Visa, Mastercard, Discover, UnionPay, Maestro, Mir. */
const issued =
  /^(?:3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11,16}|35(?:2[89]|[3-8]\d)\d{12,15}|4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|62\d{14,17}|(?:50|5[6-9]|6\d)\d{11,17}|220[0-4]\d{12,15})$/
const cardWord =
  /(?:card|visa|master|amex|american express|discover|maestro|credit|debit|paid with|cvv|cvc|kreditkarte|karte|tarjeta|carte|carta|cart[aã]o|卡号|信用卡)/

export const findCards: Find = (text, offset, found) => {
  for (const { 0: match, index } of text.matchAll(cardShape)) {
    const digits = match.replace(/\D/g, '')
    if (!/^[2-6]/.test(digits) || /^(\d)\1+$/.test(digits)) continue
    const end = index + match.length
    const isNamed = cardWord.test(before(text, index, 40)) || cardWord.test(text.slice(end, end + 24).toLowerCase())
    const isValid = issued.test(digits) && luhn(digits)
    // A mistyped number still counts where a word calls it a card.
    if (isValid || (isNamed && digits.length >= 14)) {
      found.push({
        kind: 'payment_card',
        confidence: isValid ? (isNamed ? 0.98 : 0.85) : 0.6,
        start: offset + index,
        end: offset + end
      })
    }
  }
}

/** Length by country, from the SWIFT IBAN registry (release 99). */
const lengths: ReadonlyMap<string, number> = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18
  FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25
  MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19
  SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20`
    .split(/\s+/)
    .map((entry): [string, number] => [entry.slice(0, 2), Number(entry.slice(2))])
)
const accountWord = /(?:iban|bank|account|konto|cuenta|compte|conto|refund|transfer|wire|überweis|virement)/

export const findIbans: Find = (text, offset, found) => {
  for (const { 0: head, index } of text.matchAll(/(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/g)) {
    const length = lengths.get(head.slice(0, 2).toUpperCase())
    if (length === undefined) continue
    let account = ''
    let end = index
    // Groups are set apart by one space or hyphen.
    for (let i = index; i < text.length && account.length < length; i++) {
      const character = text[i]!
      if (/[A-Za-z0-9]/.test(character)) {
        account += character
        end = i + 1
      } else if (!/[ -]/.test(character) || !/[A-Za-z0-9]/.test(text[i + 1] ?? '')) break
    }
    const isNamed = accountWord.test(before(text, index, 48))
    const isOther = account.length !== length || /[A-Za-z0-9]/.test(text[end] ?? '')
    if (!isOther && iban(account.toUpperCase()))
      found.push({ kind: 'iban', confidence: 0.97, start: offset + index, end: offset + end })
    else if (isNamed && account.length >= 15 && /\d{8}/.test(account)) {
      found.push({ kind: 'iban', confidence: 0.6, start: offset + index, end: offset + wordEnd(text, end) })
    }
  }
}

function wordEnd(text: string, from: number): number {
  let i = from
  while (i < text.length && i - from < 40 && /[A-Za-z0-9]/.test(text[i]!)) i++
  return i
}

const date =
  /(?<![\w./-])(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)|\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}(?:st|nd|rd|th|\.)?(?: of)? \p{L}{3,9}\.?,? \d{4}|\p{L}{3,9} \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{4}年\d{1,2}月\d{1,2}日)(?![\w/-])/giu
const birth =
  'birth|born|\\bb-?day\\b|\\bdob\\b|d\\.o\\.b|geburt|geboren|naissance|\\bn[ée]e? le|nacimiento|nacid[oa]|nascita|nat[oa] il|nascimento|urodz|出生|生日|родил|рожден'
const birthWord = new RegExp(`(?:${birth})[^\\n]{0,24}$`)
const anyBirthWord = new RegExp(birth)

/** Characters from such a word to the year or the second number: a date begins up to 24 before it, its word up to 40 before that. */
const birthReach = 72

/** Whether one of the dates with numbers from `first` to `last` may be one of birth. */
export function mayFollowBirth(text: string, first: number, last: number): boolean {
  return anyBirthWord.test(before(text, last, last - first + birthReach))
}

export const findBirthDates: Find = (text, offset, found) => {
  for (const { 0: match, index } of text.matchAll(date)) {
    if (birthWord.test(before(text, index, 40))) {
      found.push({ kind: 'date_of_birth', confidence: 0.85, start: offset + index, end: offset + index + match.length })
    }
  }
}
