/**
 * Finds values that their context calls secret: assignments in code, configuration and shells, headers, URLs, password
 * tables, and sentences.
 */
import type { Finding } from '../detector.js'
import { before } from '../span.js'
import { isJwkMember, shortestMember } from './jwk.js'
import { nameBefore } from './name-before.js'
import { type NameKind, nameKind } from './names.js'
import { ASSIGNS } from './runs.js'
import { isPasswordLike, isRandom, isSecretValue, isStandIn, type Strength } from './values.js'

/** Characters before a value in which words that call it secret are searched. */
const reach = 96

const enclosing = /(?:^|[^a-z])(?:client|connect|login|log_in|authenticate|auth|signin|sign_in)\(\s?["'`]$/i
/** `--password `, `--api-key=`, `-p ` after a program that takes one. */
const longOption = /(?:^|\s)--?([a-z][\w-]{1,40})[ =]["']?$/i
const shortOption =
  /(?:sshpass|docker login|podman login|oc login|az login|htpasswd|ldapsearch|smbclient|psexec|7z)[^\n]{0,64}\s-(?:p|w) ?["']?$/i
const redisOption = /redis-cli[^\n]{0,64}\s-a ?["']?$/i
const userOption = /(?:^|\s)(?:-u|--user)[ =]["']?$/
const netrc = /(?:login|user) \S{1,64}\s{1,8}password\s{1,4}$/i
const header = /(?:^|[^a-z])(bearer|basic|token|apikey) {1,2}$/i

const word =
  'pass(?:word|wd|phrase|code)?|pwd|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|signing[ _-]?key|encryption[ _-]?key|auth(?:orization)?|bearer|basic|credentials?|passwort|kennwort|contrase[nñ]a|clave|mot de passe|senha|wachtwoord|密码|пароль'
const nameInSentence = `(?:${word})(?:_?(?:\\d|key|id|value|token|str|string|text|plain|prod|dev|v\\d))?`
const sentence = new RegExp(
  `(?:^|[^a-z])(?:${nameInSentence} {1,3}(?:(?:is|are|was|to|for|with|as|of|ist|lautet|es|est|é|è) {1,2}){0,2}|(?:the|my|our|your|this) key ?(?:is|:|=) ?|log ?in [^\\s]{1,32} ?[/:] ?):? ?["'\`]?$`,
  'i'
)
/** `the password for the staging server is …`, and other words after which a value is all that can follow. */
const stated = new RegExp(
  `(?:^|[^a-z])(?:${nameInSentence})(?: (?:for|of|to|on|zu|für|de|du|del|pour|para) (?:[\\p{L}\\p{N}'’.-]{1,24} ){1,6})? ?(?:is|was|lautet|ist|es|est|é|è|=|:) ?["'\`]?$`,
  'iu'
)
const toLogIn = /^["'`]? (?:to (?:log|sign)|as (?:the |your )?(?:pass|key|token))/
const use = /(?:^|[^a-z])(?:use|try|with|enter) ["'`]?$/i
const storageKey = /^[A-Za-z0-9+/]{86}==$/
const digestWord = /sha|md5|hash|digest|integrity|checksum|signature|base64|etag|fingerprint/

/** Words, one of which precedes every match of the patterns above. */
const leftWord =
  /pass|pwd|secret|token|key|auth|bearer|basic|credential|contrase|clave|senha|wachtwoord|kennwort|密|пароль|log|sign|client|connect| -[uapw] ?["'`]?$|--user|use|try|with|enter|mysql|mariadb/

/** Adds the value in [from, to), or in a part of it, that its left neighbour or its own first part calls secret. */
export function findValue(text: string, from: number, to: number, seen: number, found: Finding[]): void {
  const isAssigned = (seen & ASSIGNS) !== 0
  if (isAssigned && inRun(text, from, to, found)) return
  const named = nameBefore(text, from)
  const kind = named === undefined ? undefined : nameKind(named)
  if (kind !== undefined) {
    report(text, from, to, kind, 0.85, found)
    return
  }
  if (to - from >= shortestMember && isJwkMember(text, from, to)) {
    found.push({ kind: 'jwk_private_key', confidence: 0.95, start: from, end: to })
    return
  }
  const left = before(text, from, 48)
  if (leftWord.test(left)) beside(text, from, to, left, found)
  else if (to - from === storageKeyLength) addStorageKey(text, from, to, left, found)
}

/** A line of `.pgpass`: five fields, a colon in the last with a backslash before it (PostgreSQL, "The Password File"). */
const passwordFile = /^[\w.*-]{1,120}:(?:\d{2,5}|\*):[^:]{1,64}:[^:]{1,64}:(?=(?:[^:\\]|\\.){6,256}$)/

/** `password=Value`, `pass:Value`, `-pValue`, `host:5432:db:user:Value` lie within one run. */
function inRun(text: string, from: number, to: number, found: Finding[]): boolean {
  const run = text.slice(from, to)
  const inner = /^-{0,2}([\p{L}_$][\p{L}\p{N}_.-]{0,60}?)(:=|=>|==|=|:)(?=.)/u.exec(run)
  const kind = inner === null ? undefined : nameKind(inner[1]!)
  if (inner !== null && kind !== undefined) {
    report(text, from + inner[0].length, to, kind, 0.8, found)
    return true
  }
  const table = passwordFile.exec(run)
  if (table !== null) report(text, from + table[0].length, to, 'password', 0.8, found)
  return table !== null || inQuery(text, run, from, found)
}

const parameter = /[?&;]([A-Za-z][\w.-]{0,40})=([^&#;\s]{6,512})/g
/** Parameters whose names alone say little. */
const weakParameter = /^(?:key|sig|signature|auth|token)$/i

/** `…?user=a&password=Value`. */
function inQuery(text: string, run: string, from: number, found: Finding[]): boolean {
  if (!/[?&;][A-Za-z][\w.-]*=/.test(run)) return false
  const many = found.length
  for (const { 0: match, 1: name, 2: value, index } of run.matchAll(parameter)) {
    const isWeak = weakParameter.test(name!)
    const kind = nameKind(name!) ?? (isWeak ? 'secret' : undefined)
    if (kind === undefined || (isWeak && !isRandom(value!))) continue
    const start = from + index + match.length - value!.length
    report(text, start, start + value!.length, kind, 0.8, found)
  }
  return found.length > many
}

function beside(text: string, from: number, to: number, left: string, found: Finding[]): void {
  const run = text.slice(from, to)
  const wide = text.slice(Math.max(0, from - reach), from)
  if (/\s-|password\s/i.test(wide) && findOption(text, run, from, to, wide, found)) return
  const scheme = header.exec(left)?.[1]
  if (scheme === 'basic' && isUserAndPassword(run))
    found.push({ kind: 'basic_auth_header', confidence: 0.9, start: from, end: to })
  else if (scheme !== undefined && scheme !== 'basic' && isRandom(run)) report(text, from, to, 'secret', 0.85, found)
  else if (saysValue(run, left, wide)) report(text, from, to, undefined, 0.65, found)
  else if ((enclosing.test(left) || isToLogIn(text, to, left)) && isPasswordLike(run))
    report(text, from, to, undefined, 0.6, found)
  else if (to - from === storageKeyLength) addStorageKey(text, from, to, left, found)
}

/** `--password Value`, `-pValue`, `-u user:Value`, and words of `.netrc`. */
function findOption(text: string, run: string, from: number, to: number, wide: string, found: Finding[]): boolean {
  const many = found.length
  const option = longOption.exec(wide)?.[1]
  const kind = option === undefined ? undefined : nameKind(option)
  if (kind !== undefined) report(text, from, to, kind, 0.8, found)
  else if (/^-p./.test(run) && /(?:mysql|mariadb|mysqldump|sshpass)[^\n]{0,40}$/.test(wide))
    report(text, from + 2, to, 'password', 0.75, found)
  else if (userOption.test(wide) && /^[^:]{1,64}:./.test(run))
    report(text, from + run.indexOf(':') + 1, to, 'password', 0.8, found)
  else if (netrc.test(wide) || shortOption.test(wide) || redisOption.test(wide))
    report(text, from, to, 'password', 0.8, found)
  return found.length > many
}

const anyName = new RegExp(`${word}|the|my|our|your|this|log ?in`, 'i')

/** `the password for … is Value`. */
function saysValue(run: string, left: string, wide: string): boolean {
  if (!anyName.test(left)) return false
  const isLike = isPasswordLike(run)
  if (isLike && sentence.test(left)) return true
  return (isLike || isStated(run)) && stated.test(wide)
}

/** `use Value to log in`. */
function isToLogIn(text: string, to: number, left: string): boolean {
  return use.test(left) && toLogIn.test(text.slice(to, to + 24))
}

const storageKeyLength = 88

function addStorageKey(text: string, from: number, to: number, left: string, found: Finding[]): void {
  if (storageKey.test(text.slice(from, to)) && !digestWord.test(left)) report(text, from, to, 'secret', 0.5, found)
}

/** After words such as `the password is`: words with a number too, unless programs are called so. */
function isStated(run: string): boolean {
  const value = run.replace(/[.,:;?!]+$/, '')
  if (/^[0-9a-f]{32,128}$/i.test(value)) return true
  return (
    /^\p{L}{4,20}[-_@#.]?\d{2,6}$/u.test(value) &&
    !/^(?:sha|utf|aes|rsa|base|oauth|http|bcrypt|argon|pbkdf|curve|level|step|page|room|line|phase|grade|type|part|user|version|option|item|field|python|windows)/i.test(
      value
    )
  )
}

/** RFC 7617: a name and a password in base64. */
function isUserAndPassword(run: string): boolean {
  if (!/^[A-Za-z0-9+/]{8,400}={0,2}$/.test(run)) return false
  const decoded = Buffer.from(run, 'base64').toString('latin1')
  const password = /^[\x21-\x7e]{1,128}:([\x20-\x7e]{4,256})$/.exec(decoded)?.[1]
  return password !== undefined && !isStandIn(password)
}

function report(
  text: string,
  from: number,
  to: number,
  name: NameKind | undefined,
  confidence: number,
  found: Finding[]
): void {
  let end = to
  // Punctuation at the end of a sentence is not part of it.
  const ending = name === undefined ? /[.:?]/ : /[.:]/
  while (end > from && ending.test(text[end - 1]!)) end--
  const value = text.slice(from, end)
  const strength: Strength = name === 'secret' ? 'strong' : 'weak'
  if (!isSecretValue(value, strength) || isReference(text, from, to, value)) return
  const left = before(text, from, 48)
  const kind =
    /^[A-Za-z0-9/+]{40}$/.test(value) && left.includes('aws')
      ? 'aws_secret_key'
      : storageKey.test(value)
        ? 'azure_storage_key'
        : name === 'password' || /pass|pwd|login|contrase|senha|mot de/.test(left)
          ? 'password_assignment'
          : 'generic_secret'
  found.push({ kind, confidence, start: from, end })
}

/** `a?.b.cD`, `*Type`, `&pkg.Type`, `Convert-To`, `${name}`: references in programs instead of the value itself. */
const code = /^[*&]?[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|-)[A-Za-z_$][\w$]*)+$|^[*&!][A-Za-z_]\w*$|\*\*$/

/** A call, an element or a member, where no quotation mark stands before it. */
function isReference(text: string, from: number, to: number, value: string): boolean {
  if (/["'`]/.test(text[from - 1] ?? '')) return false
  return /[([]/.test(text[to] ?? '') || (code.test(value) && !isRandom(value))
}
