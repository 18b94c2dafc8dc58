/** Finds contact data: e-mail, telephone and network addresses. */
import { isIPv4, isIPv6 } from 'node:net'
import { before, type Find } from '../span.js'

const localPart = /[\p{L}\p{N}._%+'-]/u
const domain = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}[\p{L}][\p{L}\p{N}-]{1,62}/u

/** An address with a top-level domain. Lengths are those of RFC 5321 section 4.5.3.1. */
export const findEmails: Find = (text, offset, found) => {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > 0 && at - start < 64 && localPart.test(text[start - 1]!)) start--
    while (start < at && /[.'-]/.test(text[start]!)) start++
    const host = domain.exec(text.slice(at + 1, at + 255))?.[0].replace(/-$/, '')
    if (start === at || host === undefined) continue
    const end = at + 1 + host.length
    // `scheme://user:password@host` and `git@host:path` name machines.
    if (text[start - 1] === ':' && before(text, start, 64).includes('://')) continue
    if (text.slice(start, at) === 'git' && /[:/]/.test(text[end] ?? '')) continue
    found.push({ kind: 'email', confidence: 0.95, start: offset + start, end: offset + end })
  }
}

const international = /(?<![\w+])(?:\+|(?<![./-])00(?=[1-9]\d{0,2}[ .()/-]))\d(?:[ .()/-]{0,2}\d){6,14}(?![\d-])/g
const northAmerican = /(?<![\w.+-])(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}(?![\w-]|\.\d)/g
const national = /(?<![\w.+/-])\(?0[1-9]\d{0,3}\)?[ /.-]\d{2,8}(?:[ .-]\d{2,4}){0,4}(?![\w-]|\.\d)/g
const bare = /(?<![\w.+/-])\d{7,12}(?![\w-]|\.\d)/g

const phoneWord =
  /(?:phone|mobile|cell|\btel|call|text me|reach|whatsapp|fax|contact|number is|num[eé]ro|telefon|handy|rufnummer|m[oó]vil|celular|portable|电话|手机|電話|전화|телефон)[^\n]{0,24}$/
/** Words after which digits are no telephone number. */
const otherNumber =
  /(?:isbn|issn|doi|order|tracking|version|invoice|ticket|product|code|serial|part|build|model|request|account|iban|card|coordinates?|\bid)\b[^\n]{0,12}$/

export const findPhones: Find = (text, offset, found) => {
  const add = (pattern: RegExp, fewest: number, most: number, confidence: number, withWord: number) => {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const digits = match.replace(/\D/g, '').length
      if (digits < fewest || digits > most) continue
      const context = before(text, index, 40)
      const isNamed = phoneWord.test(context)
      if (!isNamed && otherNumber.test(context)) continue
      const score = isNamed ? withWord : confidence
      if (score > 0)
        found.push({ kind: 'phone', confidence: score, start: offset + index, end: offset + index + match.length })
    }
  }
  if (/[+0]/.test(text)) add(international, 8, 17, 0.85, 0.95)
  add(northAmerican, 10, 11, 0.75, 0.95)
  add(national, 9, 12, 0.6, 0.9)
  add(bare, 7, 12, 0, 0.7)
}

const fourGroups = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)/g
const colonGroups = /(?<![\w:.])[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?![\w:])/gi
const hardware = /(?<![\w:-])[\da-f]{2}(?:[:-][\da-f]{2}){5}(?![\w:-])/gi

/** Addresses that identify no one: RFC 1918, 3927, 5735, 4193, 4291. */
const unroutable =
  /^(?:0\.|10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|255\.|::1$|::$|fe[89ab]|f[cd])/i

export const findIPv4: Find = (text, offset, found) => {
  for (const { 0: match, index } of text.matchAll(fourGroups)) {
    if (!isIPv4(match) || /(?:version|v|release|build)[ .:=]{0,2}$/.test(before(text, index, 12))) continue
    found.push({
      kind: 'ip_address',
      confidence: unroutable.test(match) ? 0.2 : 0.7,
      start: offset + index,
      end: offset + index + match.length
    })
  }
}

/** Two separators of one address, which every address below has. */
const twoSigns = /[:-][\da-f]{0,4}[:-]/i

export const findIPv6AndHardware: Find = (text, offset, found) => {
  if (!twoSigns.test(text)) return
  for (const { 0: match, index } of text.matchAll(colonGroups)) {
    // `a::b` is also how programs join names: an address in earnest has more groups, and digits.
    if (!isIPv6(match) || !/\d/.test(match) || match.split(':').filter(Boolean).length < 3) continue
    found.push({
      kind: 'ip_address',
      confidence: unroutable.test(match) ? 0.2 : 0.7,
      start: offset + index,
      end: offset + index + match.length
    })
  }
  for (const { 0: match, index } of text.matchAll(hardware)) {
    if (/[a-f]/i.test(match) || match.includes(':')) {
      found.push({ kind: 'mac_address', confidence: 0.5, start: offset + index, end: offset + index + match.length })
    }
  }
}
