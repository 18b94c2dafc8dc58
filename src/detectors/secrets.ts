/** Secrets: tokens that their issuer marks, private keys, and values that stand beside a word for a secret. */

import { wordStart } from '../text/sentence.js'
import type { Detector, Finding } from './detector.js'
import { ASSIGNS, runsOf, shortestToken } from './secrets/runs.js'
import { tokenShapes } from './secrets/tokens.js'
import { isPasswordLike, isSecretValue, isStandIn } from './secrets/values.js'
import { before, withoutOverlaps } from './span.js'

export const secrets: Detector = {
  id: 'secrets',
  kinds: [
    ...new Set(tokenShapes.map(({ kind }) => kind)),
    'aws_secret_key',
    'gcp_service_account',
    'private_key',
    'database_url',
    'basic_auth_url',
    'password_assignment',
    'generic_secret'
  ],
  growsFrom(text) {
    const end = text.endsWith('-----') ? -1 : text.lastIndexOf('-----END')
    const key = text.indexOf('-----BEGIN', end + 1)
    const open = Math.min(lastRun(text), usedValue(text))
    return key < 0 ? open : Math.min(key, open)
  },
  find(text) {
    const found: Finding[] = []
    if (text.includes('-----BEGIN')) findPrivateKeys(text, found)
    for (const { from, to, seen } of runsOf(text)) {
      if (to - from >= shortestToken) findTokens(text, from, to, found)
      if (to - from <= longestRun) findValue(text, from, to, seen, found)
    }
    if (text.includes('://') && text.includes('@')) findUrls(text, found)
    return withoutOverlaps(found)
  }
}

const longestRun = 2_048

/** Where the run at the end begins: it may go on. */
function lastRun(text: string): number {
  let at = text.length
  while (at > 0 && text.charCodeAt(at - 1) > 32) at--
  return at
}

/** What stands after a value can make it one: `use … to log in`. */
const rightContext = 32
const used = /(?<![a-z])(?:use|try|with|enter) ["'`]?(?=[^\s"'`])/gi

/** Where a value begins that what follows it may call one; the end of the text where there is none. */
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

function findTokens(text: string, from: number, to: number, found: Finding[]): void {
  const run = text.slice(from, to)
  for (const { kind, pattern, confidence, valid, literal } of tokenShapes) {
    if (!run.includes(literal)) continue
    for (const { 0: token, index } of run.matchAll(pattern)) {
      if (/example|x{6}|0{8}|1234567890/i.test(token)) continue
      const isValid = valid === undefined || valid(token)
      if (!isValid && kind !== 'sluicegate_key') continue
      found.push({
        kind,
        confidence: isValid ? confidence : 0.5,
        start: from + index,
        end: from + index + token.length
      })
    }
  }
}

/** Characters of the longest key looked for: 16,384 bits of RSA in base64. */
const longestKey = 16_384

/** PEM (RFC 7468) and OpenSSH private keys; public keys and certificates are none. A cut-off key counts to its last line. */
function findPrivateKeys(text: string, found: Finding[]): void {
  for (const { 0: head, index } of text.matchAll(/-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g)) {
    const body = index + head.length
    const next = text.indexOf('-----', body)
    const isClosed = next >= 0 && next - body < longestKey && text.startsWith('-----END', next)
    const until = next < 0 ? body + longestKey : Math.min(next, body + longestKey)
    const size = /^(?:\\[rn]|[A-Za-z0-9+/=:,\s-])*/.exec(text.slice(body, until))![0].trimEnd().length
    if (size < 40) continue
    const close = isClosed ? text.indexOf('-----', next + 8) : -1
    const end = close >= 0 && close - next < 64 ? close + 5 : body + size
    const isAccount = /"type"\s*:\s*"service_account"/.test(text.slice(Math.max(0, index - 400), index))
    found.push({ kind: isAccount ? 'gcp_service_account' : 'private_key', confidence: 0.98, start: index, end })
  }
}

const credentials =
  /(?<![\w+.])([a-z][a-z0-9+.-]{1,24}):\/\/([^\s:/@"'<>]{0,128}):([^\s/@"'<>]{3,256})@[\w.[\]-]{1,253}/gi

/** `scheme://user:password@host`. */
function findUrls(text: string, found: Finding[]): void {
  for (const { 0: match, 1: scheme, 3: password, index } of text.matchAll(credentials)) {
    if (isStandIn(password!) || /^(?:pass|password|pwd|secret|user|token)$/i.test(password!)) continue
    const kind = /^(?:https?|ftps?|sftp|ssh|git)$/i.test(scheme!) ? 'basic_auth_url' : 'database_url'
    found.push({ kind, confidence: 0.9, start: index, end: index + match.length })
  }
}

const word =
  'pass(?:word|wd|phrase|code)?|pwd|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|signing[ _-]?key|encryption[ _-]?key|auth(?:orization)?|bearer|basic|credentials?|passwort|contrase[nñ]a|mot de passe|senha|密码|пароль'
/** `DB_PASSWORD`, `client_secret_v2`; but not `token_count`, `password_reset`. */
const name = `(?:${word})(?:_?(?:\\d|key|id|value|token|str|string|text|plain|prod|dev|v\\d))?`
const assignment = new RegExp(
  `(?:^|[^a-z])(?:[a-z0-9]+[_.-])*(${name})["'\`\\])}]{0,3}[ \\t]{0,8}(?::=|=>|==?|:|>)[ \\t]{0,8}["'\`({[]{0,2}$`,
  'i'
)
const sentence = new RegExp(
  `(?:^|[^a-z])(?:${name} {1,3}(?:(?:is|are|was|to|for|with|as|of) {1,2}){0,2}|(?:the|my|our|your|this) key ?(?:is|:|=) ?|log ?in [^\\s]{1,32} ?[/:] ?):? ?["'\`]?$`,
  'i'
)
const option = /(?:^|\s)(?:-u|--user)[ =]["']?$/
const enclosing = /(?:^|[^a-z])(?:client|connect|login|log_in|authenticate|auth|signin|sign_in)\(\s?["'`]$/i
const toLogIn = /^["'`]? (?:to (?:log|sign)|as (?:the |your )?(?:pass|key|token))/
const storageKey = /^[A-Za-z0-9+/]{86}==$/
const digestWord = /sha|md5|hash|digest|integrity|checksum|signature|base64|etag|fingerprint/
const use = /(?:^|[^a-z])(?:use|try|with|enter) ["'`]?$/i

/** One of these stands to the left wherever a pattern above or below matches there. */
const leftWord =
  /pass|pwd|secret|token|key|auth|bearer|basic|credential|contrase|senha|密码|пароль|log|sign|client|connect|-u|use|try|with|enter|mysql|mariadb/

/** A run whose left neighbour, or whose own first part, says that it is a secret. */
function findValue(text: string, from: number, to: number, seen: number, found: Finding[]): void {
  const left = before(text, from, 48)
  // A storage key ends in `==` and so passes here too.
  if ((seen & ASSIGNS) === 0 && !leftWord.test(left)) return
  const run = text.slice(from, to)
  // `password=Value`, `pass:Value`, `-pValue` lie within one run.
  const inner = /^-{0,2}([A-Za-z_][\w.-]{0,60}?)(:=|=>|=|:)(?=.)/.exec(run)
  if (inner !== null && assignment.test(`${inner[1]}${inner[2]}`)) {
    report(text, from + inner[0].length, to, 0.8, found)
  } else if (/^-p./.test(run) && /(?:mysql|mariadb|mysqldump|sshpass)[^\n]{0,40}$/.test(left)) {
    report(text, from + 2, to, 0.75, found)
  } else if (option.test(left) && /^[^:]{1,64}:./.test(run)) {
    report(text, from + run.indexOf(':') + 1, to, 0.8, found)
  } else if (assignment.test(left)) {
    report(text, from, to, 0.85, found)
  } else if (sentence.test(left) && isPasswordLike(run)) {
    report(text, from, to, 0.65, found)
  } else if (enclosing.test(left) && isPasswordLike(run)) {
    report(text, from, to, 0.6, found)
  } else if (use.test(left) && isPasswordLike(run) && toLogIn.test(text.slice(to, to + 24))) {
    report(text, from, to, 0.6, found)
  } else if (storageKey.test(run) && !digestWord.test(left)) {
    report(text, from, to, 0.5, found)
  }
}

function report(text: string, from: number, to: number, confidence: number, found: Finding[]): void {
  let end = to
  while (end > from && /[.:?]/.test(text[end - 1]!)) end--
  const value = text.slice(from, end)
  if (!isSecretValue(value)) return
  const left = before(text, from, 48)
  const kind =
    /^[A-Za-z0-9/+]{40}$/.test(value) && left.includes('aws')
      ? 'aws_secret_key'
      : storageKey.test(value)
        ? 'azure_storage_key'
        : /pass|pwd|login|contrase|senha|mot de/.test(left)
          ? 'password_assignment'
          : 'generic_secret'
  found.push({ kind, confidence, start: from, end })
}
