/**
 * Reads the name to which a value is assigned, backwards from the value: `db_password = "`, `"apiKey": "`, `<secret>`,
 * `const token: string = '`, `define('KEY', '`, `setPassword("`, `name: DB_PASSWORD` with `value: ` beside it. For a
 * word of prose a few comparisons suffice.
 */

const longestName = 80
const mostSpaces = 24

/** Whether one of these is part of every name that says secret. */
const hint =
  /pass|pwd|\bpw|_pw|secret|token|key|auth|bearer|basic|credential|jwt|kennwort|contrase|clave|senha|wachtwoord|has[łl]o|heslo|parola|ifre|senord|salasana|gangskode|пароль|密|パス|비밀|\bsas|_sas|psk|_pat|\bpat\b|value/i

/** @returns what may be a name, or undefined */
export function nameBefore(text: string, from: number): string | undefined {
  let at = from
  let isQuoted = false
  while (at > 0 && from - at < 4 && isOpener(text.charCodeAt(at - 1))) {
    isQuoted ||= isQuote(text.charCodeAt(at - 1))
    at--
  }
  const opener = text[at] ?? ''
  // `b"`, `f'`, `$"`, `&"`.
  if (isQuoted && at > 1 && /[brfu$@&]/.test(text[at - 1]!) && /[\s(:=,]/.test(text[at - 2]!)) at--
  if (isQuoted && opener === '(') return hinted(identifierBefore(text, at))
  const afterSign = skipSpaces(text, at)
  const sign = text[afterSign - 1]
  if (sign === ',' && isQuoted && opener !== '`' && isQuote(text.charCodeAt(afterSign - 2)))
    return hinted(identifierBefore(text, afterSign - 2))
  if (sign !== '=' && sign !== ':' && sign !== '>') return undefined
  let beforeSign = afterSign
  while (beforeSign > 0 && afterSign - beforeSign < 3 && /[:=>?]/.test(text[beforeSign - 1]!)) beforeSign--
  const name = namedAt(text, beforeSign, text.slice(beforeSign, afterSign))
  if (name === undefined) return undefined
  return /^value$/i.test(name) ? paired(text, beforeSign) : name
}

/** The identifier that ends, with quotes and brackets, before the sign. */
function namedAt(text: string, signAt: number, sign: string): string | undefined {
  let at = skipSpaces(text, signAt)
  while (at > 0 && signAt - at < mostSpaces && isCloser(text.charCodeAt(at - 1))) at--
  const name = identifierBefore(text, at)
  if (name === '') return undefined
  // `token: string =` and `password string =`: a type stands between.
  if (sign === '=') {
    const start = at - name.length
    const colon = skipSpaces(text, start)
    const typed = text[colon - 1] === ':' ? hinted(identifierBefore(text, skipSpaces(text, colon - 1))) : undefined
    if (typed !== undefined) return typed
    if (colon < start && /^(?:string|str|String|NSString|char|text)$/.test(name))
      return hinted(identifierBefore(text, colon))
  }
  // A closing tag's name and a label may be of two words: `api key:`, `mot de passe :`.
  return hinted(name) === undefined ? undefined : words(text, at, name)
}

function words(text: string, at: number, name: string): string {
  const start = at - name.length
  if (text[start - 1] !== ' ') return name
  const more = /(?:[\p{L}]{2,20} ){0,2}[\p{L}]{2,20}$/u.exec(text.slice(Math.max(0, start - 48), start - 1))
  return more === null ? name : `${more[0]} ${name}`
}

const pair = /(?:name|key|id)\\?["']?\s?[:=]\s?\\?["']?([\w.-]{2,60})\\?["']?[\s,]{1,24}\\?["']?value\\?["']?\s?$/i

/** @param at after `value`, its quotes and spaces */
function paired(text: string, at: number): string | undefined {
  return hinted(pair.exec(text.slice(Math.max(0, at - 128), at))?.[1] ?? '')
}

function hinted(name: string): string | undefined {
  return name !== '' && hint.test(name) ? name : undefined
}

function identifierBefore(text: string, end: number): string {
  let at = end
  while (at > 0 && end - at < longestName && isName(text, at - 1)) at--
  return text.slice(at, end)
}

function isName(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 128) return isAsciiName(code)
  return /[\p{L}\p{M}\p{N}]/u.test(text[at]!)
}

/** Letters, digits, `_`, `$`, `.`, `-`. */
function isAsciiName(code: number): boolean {
  const lower = code | 32
  const isLetter = lower >= 97 && lower <= 122
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 36 || code === 46 || code === 45
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96
}

/** Quotation marks, backslashes, `(`, `[`, `{`. */
function isOpener(code: number): boolean {
  return isQuote(code) || code === 92 || code === 40 || code === 91 || code === 123
}

/** Quotation marks, backslashes, `)`, `]`, `}`. */
function isCloser(code: number): boolean {
  return isQuote(code) || code === 92 || code === 41 || code === 93 || code === 125
}

function skipSpaces(text: string, end: number): number {
  let at = end
  while (at > 0 && end - at < mostSpaces && (text.charCodeAt(at - 1) === 32 || text.charCodeAt(at - 1) === 9)) at--
  return at
}
