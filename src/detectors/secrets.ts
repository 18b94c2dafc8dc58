/** Detects secrets: tokens with an issuer's mark, private keys, and values that their context calls secret. */

import { wordStart } from '../text/sentence.js'
import type { Detector, Finding } from './detector.js'
import { findValue } from './secrets/assigned.js'
import { groups, rows } from './secrets/kinds/index.js'
import { endOfLines, findInnerLines, findMarkedKeys, keyGrowsFrom, narrowestLine } from './secrets/private-keys.js'
import { runsOf, shortestToken } from './secrets/runs.js'
import { FormScanner } from './secrets/scan.js'
import { isPasswordLike, isStandIn } from './secrets/values.js'
import { withoutOverlaps } from './span.js'

export const secrets: Detector = {
  id: 'secrets',
  readsOpaque: true,
  kinds: [
    ...new Set(rows.map(({ kind }) => kind)),
    'aws_secret_key',
    'gcp_service_account',
    'jwk_private_key',
    'database_url',
    'basic_auth_url',
    'basic_auth_header',
    'password_assignment',
    'generic_secret'
  ],
  groups,
  growsFrom(text) {
    return Math.min(keyGrowsFrom(text), lastRun(text), usedValue(text))
  },
  find(text) {
    const found: Finding[] = []
    const runs = runsOf(text)
    let isOpen = false
    for (const { from, to, seen } of runs) {
      if (to - from >= shortestToken) {
        if (!isOpen) scanner.open(text)
        isOpen = true
        findTokens(text, from, to, found)
      }
      if (to - from <= longestRun) findValue(text, from, to, seen, found)
    }
    // A key that begins in one line goes on in the next.
    for (const finding of found) if (finding.kind === 'private_key') finding.end = endOfLines(text, finding.end)
    findMarkedKeys(text, found)
    // Their lines are runs without spaces.
    if (runs.some(({ from, to }) => to - from >= narrowestLine)) findInnerLines(text, found)
    if (text.includes('://') && text.includes('@')) findUrls(text, found)
    return withoutOverlaps(found)
  }
}

const longestRun = 2_048

/** The start of the last run, which may continue. */
function lastRun(text: string): number {
  let at = text.length
  while (at > 0 && text.charCodeAt(at - 1) > 32) at--
  return at
}

/** Text after a value that can mark it as one: `use … to log in`. */
const rightContext = 32
const used = /(?<![a-z])(?:use|try|with|enter) ["'`]?(?=[^\s"'`])/gi

/** The start of a value that later text may mark as one; the end of the text where there is none. */
function usedValue(text: string): number {
  const from = wordStart(text, Math.max(0, text.length - rightContext))
  // The word before the value may stand before that.
  const start = wordStart(text, Math.max(0, from - 1))
  for (const { 0: word, index } of text.slice(start).matchAll(used)) {
    const value = start + index + word.length
    if (value >= from && isPasswordLike(/^[^\s"'`<>()[\]{},;|\\]*/.exec(text.slice(value))![0])) return value
  }
  return text.length
}

const credentials =
  /(?<![\w+.])([a-z][a-z0-9+.-]{1,24}):\/\/([^\s:/@"'<>]{0,128}):([^\s/@"'<>]{3,256})@[\w.[\]-]{1,253}/gi
/** Programs write passwords of databases unescaped, with slashes. */
const withSlashes =
  /(?<![\w+.])(postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?):\/\/([^\s:/@"'<>]{0,128}):(?!\d{1,5}\/)([^\s@"'<>]{3,256})@[\w.[\]-]{1,253}/gi

/** `scheme://user:password@host`. */
function findUrls(text: string, found: Finding[]): void {
  for (const { 0: match, 1: scheme, 3: password, index } of [
    ...text.matchAll(credentials),
    ...text.matchAll(withSlashes)
  ]) {
    if (
      isStandIn(password!) ||
      /^(?:pass|passwd|password|pwd|secret|user|token|pw|p|passwort|contrase[nñ]a|mot_?de_?passe|senha|wachtwoord|geheim|mypassword|yourpassword)$/i.test(
        password!
      )
    )
      continue
    const kind = /^(?:https?|ftps?|sftp|ssh|git)$/i.test(scheme!) ? 'basic_auth_url' : 'database_url'
    found.push({ kind, confidence: 0.9, start: index, end: index + match.length })
  }
}

/** Tokens whose issuer marks them: every form of `secrets/kinds`, in one pass. */
const scanner = new FormScanner(rows.map(({ form }) => form))

/** What stands in examples instead of random characters. */
const sample =
  /example|sample|dummy|placeholder|redacted|secret_?key|api_?key|your[_-]|my[_-]?(?:token|key)|x{5}|0{8}|1234567|abcdefg|qwerty|deadbeef|(.)\1{6}/i

/** Number of last characters checked for randomness. */
const looked = 24
const fewestKinds = 8

/** Confidence where a check fails: a copy with a mistake, or a made-up value. */
const unchecked = 0.7

/** Adds the tokens of [from, to) of the text that the scanner has open. */
function findTokens(text: string, from: number, to: number, found: Finding[]): void {
  scanner.scan(from, to, (index, start, end, body) => {
    const { kind, confidence = 0.95, check, only } = rows[index]!
    const token = text.slice(start, end)
    if (new Set(token.slice(-looked)).size < fewestKinds || sample.test(text.slice(body, end))) return
    if (only !== undefined && !only(token)) return
    const isValid = check === undefined || check(token)
    found.push({ kind, confidence: isValid ? confidence : unchecked, start, end })
  })
}
