/** Tokens whose issuer marks them: every form of `kinds/`, in one pass. */
import type { Finding } from '../detector.js'
import { rows } from './kinds/index.js'
import { FormScanner } from './scan.js'

const scanner = new FormScanner(rows.map(({ form }) => form))

/** What stands in examples instead of random characters. */
const sample =
  /example|sample|dummy|placeholder|redacted|secret_?key|api_?key|your[_-]|my[_-]?(?:token|key)|x{5}|0{8}|1234567|abcdefg|qwerty|deadbeef|(.)\1{6}/i

/** Random characters are of many kinds: of the last ones at least as many. */
const looked = 24
const fewestKinds = 8

/** Where a check does not hold: a copy with a mistake, or a made-up value. */
const unchecked = 0.7

/** Reads the text whose runs are looked at next. */
export function openTokens(text: string): void {
  scanner.open(text)
}

/** Adds the tokens of [from, to) of the open text. */
export function findTokens(text: string, from: number, to: number, found: Finding[]): void {
  scanner.scan(from, to, (index, start, end, body) => {
    const { kind, confidence = 0.95, check, only } = rows[index]!
    const token = text.slice(start, end)
    if (new Set(token.slice(-looked)).size < fewestKinds || sample.test(text.slice(body, end))) return
    if (only !== undefined && !only(token)) return
    const isValid = check === undefined || check(token)
    found.push({ kind, confidence: isValid ? confidence : unchecked, start, end })
  })
}
