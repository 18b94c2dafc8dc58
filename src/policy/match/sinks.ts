/**
 * Sinks, which assign a text's matches to its part, or in joined texts to the part that shows them; and the memory keys
 * of texts and seams.
 */
import { hash } from 'node:crypto'
import type { ChatPart, Role } from '../../base/chat.js'
import { encoderId } from '../../detectors/encoder.js'
import type { Span } from '../../text/fold.js'
import type { View } from '../../text/view.js'
import type { RuleRole } from '../constitution/values.js'
import { type Asking, Raised } from '../evaluate/asking.js'
import type { Said } from '../evaluation.js'
import { appliesTo, asksBeside, type CompiledRule } from './compile.js'
import type { Findings } from './findings.js'
import type { Beside } from './guarded/beside.js'
import type { Guarded } from './guarded/find.js'
import { type JoinedText, type Member, type Piece, pieceAt } from './joined.js'
import type { Sink } from './match.js'
import type { Digests } from './memory.js'
import type { Quotations } from './quotations.js'

/** One call: its parts, its direction, and its findings so far. */
export interface Call {
  parts: readonly ChatPart[]
  direction: 'request' | 'answer'
  findings: Findings
  /** Guarded content of the chat's system prompts. */
  guarded?: Guarded | undefined
  /** The same prompts, for the encoder. */
  beside?: Beside | undefined
  /** Set for a repeated chat: see `memory.ts`. */
  digests?: Digests | undefined
  /** Collects questions for the encoder; undefined where none decides. */
  asking?: Asking | undefined
  /** The rules by which the encoder decides. */
  readers?: readonly CompiledRule[] | undefined
}

/** Numbers for earlier turns in joined texts, by speaker: they are no parts of the call. */
const earlier = { user: -1, assistant: -2 } as const

/** An earlier turn of the session, to be joined with the present one. */
export function memberOf({ role, text }: Said): Member {
  return { part: earlier[role], text }
}

interface PartSinkOptions {
  /** The role as which it is read. Default: the part's. */
  role?: RuleRole
  /** Where a stretch of the part starts that is read by itself. */
  from?: number
  /** What the part quotes, where rules may want to read it. */
  quotations?: Quotations | undefined
}

export function partSink(call: Call, index: number, options: PartSinkOptions = {}): Sink {
  const { parts, direction, findings, guarded, beside, asking, readers = [] } = call
  const part = parts[index]!
  const { role = part.role, from = 0, quotations } = options
  const ofSpeaker = (rule: CompiledRule) => appliesTo(rule, role, direction)
  // The encoder says nothing of a quotation before it has read it.
  const ofQuoted = (rule: CompiledRule) => rule.detector?.id !== encoderId && appliesTo(rule, 'quoted', direction)
  const applies = quotations === undefined ? ofSpeaker : (rule: CompiledRule) => ofSpeaker(rule) || ofQuoted(rule)
  const isReadAnyway = asking?.isThorough === true && hasWords(part) && readers.some(ofSpeaker)
  const placed = ({ start, end }: Span): Span => ({ start: from + start, end: from + end })
  const placeOf = (view: View) => placed(view.textSpan(0, view.text.length))
  return {
    applies,
    trusts: (rule) => trusts(rule, role, direction),
    guarded,
    ...(quotations !== undefined && {
      // Where no encoder decides, a rule that only nominates wants nothing.
      wantsQuoted: (rule: CompiledRule) => ofQuoted(rule) && (rule.weight > 0 || asking !== undefined),
      isOfSpeaker: ofSpeaker
    }),
    raised:
      asking &&
      new Raised(asking, {
        // The encoder reads what is quoted as a tool's words: it has learnt to find orders in documents there.
        role: role === 'quoted' ? 'tool' : role,
        part: index,
        placeOf,
        counts: ofSpeaker,
        isSeam: false,
        isReadAnyway,
        quotations,
        guard: guardOf(beside)
      }),
    record(rule, layer, start, end, confidence, shown = { start, end }, isNominated = false) {
      if (confidence === 0 && quotations !== undefined) {
        // Once is enough: what is recorded is kept for a repeated chat.
        if (quotations.isWanted) return false
        quotations.isWanted = true
        return true
      }
      findings.add({ rule, part: index, ...placed(shown), layer, confidence, acrossTurns: false, isNominated })
      return true
    }
  }

  function guardOf(prompts: Beside | undefined): Beside | undefined {
    if (prompts === undefined) return undefined
    const isAsked = readers.some((rule) => asksBeside(rule) && ofSpeaker(rule))
    return isAsked && hasWords(part) ? prompts : undefined
  }
}

/** Names of fields, and what definitions and fields hold, are never put to the encoder without a nomination: there are many. */
function hasWords({ text, isKey, role }: ChatPart): boolean {
  return isKey !== true && role !== 'definition' && role !== 'parameter' && /\p{L}/u.test(text)
}

/** Counts only matches that cross from one part to another, at the part where they start. */
export function joinedSink(call: Call, joined: JoinedText): Sink {
  const { pieces } = joined
  const { parts, direction, findings, guarded, asking } = call
  const roleOf = ({ part }: Piece) => parts[part]!.role
  const isMixed = pieces.some((piece) => roleOf(piece) !== roleOf(pieces[0]!))
  // Texts of several speakers, and entries of a schema, are neighbours without a common meaning: see `Sink.crosses`.
  const isList = isMixed || roleOf(pieces[0]!) === 'definition'
  const crosses = (start: number, end: number) => pieceAt(pieces, start) !== pieceAt(pieces, end - 1)
  const counts = (rule: CompiledRule, start: number, end: number) => {
    const first = pieceAt(pieces, start)
    const last = pieceAt(pieces, end - 1)
    if (first === last) return false
    if (!isMixed) return appliesTo(rule, roleOf(pieces[first]!), direction)
    return appliesAcross(rule, pieces.slice(first, last + 1).map(roleOf), direction)
  }
  return {
    applies: appliesToAny(call, pieces),
    isSeam: true,
    raised: asking && raisedAcross(asking, { role: speakerOf(pieces.map(roleOf)), piece: pieces[0]!, counts }),
    guarded: isMixed ? undefined : guarded,
    ...(isList && { crosses, detects: isMixed && goesOn(joined, pieces.map(roleOf), direction) }),
    trusts: trustsAll(call, pieces),
    record(rule, layer, start, end, confidence, _shown, isNominated = false) {
      if (!counts(rule, start, end)) return false
      const first = pieceAt(pieces, start)
      const piece = pieces[first]!
      const over = pieces.slice(first, pieceAt(pieces, end - 1) + 1).map(({ part }) => part)
      const place = {
        start: piece.offset + Math.max(0, start - piece.start),
        end: piece.offset + piece.end - piece.start
      }
      const found = { rule, part: piece.part, ...place, layer: joinedLayer(layer), confidence }
      findings.add({ ...found, over, acrossTurns: false, isNominated })
      return true
    }
  }
}

/**
 * Counts only matches that cross from earlier turns of a session into the present one, at the present turn's first
 * part, since the earlier ones are not in this call. A person's turn counts by the rules for people, whatever calls
 * came before. A tool call that continues other calls counts by the rules for a model's words; one that continues a
 * person's words counts by the rules for either, but not by those for answers, since neither said it as one.
 * @param broken rules that earlier turns violate alone: see `earlierSink`
 * @returns undefined where the text does not reach from the one to the other
 */
export function turnSink(
  call: Call,
  { pieces }: JoinedText,
  broken: ReadonlySet<CompiledRule> = new Set()
): Sink | undefined {
  const { parts, direction, findings, asking } = call
  const piece = pieces.find(({ part }) => part >= 0)
  if (piece === undefined || piece === pieces[0]) return undefined
  const crosses = (start: number, end: number) => start < piece.start && end > piece.start
  const { role } = parts[piece.part]!
  // The piece before it is the last turn; a match that reaches a person's words spans all turns between.
  const person = role === 'user' ? piece : pieces.findLast(({ part }) => part === earlier.user)
  const ofEither = (rule: CompiledRule) =>
    appliesTo(rule, 'user', direction) || (rule.direction !== 'answer' && appliesTo(rule, role, direction))
  const ofSpeaker = (rule: CompiledRule) => appliesTo(rule, role, direction)
  const counts = (rule: CompiledRule, start: number, end: number) =>
    !broken.has(rule) &&
    crosses(start, end) &&
    (role !== 'user' && person !== undefined && start < person.end ? ofEither : ofSpeaker)(rule)
  return {
    applies: (rule) => ofSpeaker(rule) || (person !== undefined && ofEither(rule)),
    raised: asking && raisedAcross(asking, { role: person === undefined ? role : 'user', piece, counts }),
    trusts: () => false,
    isSeam: true,
    crosses,
    record(rule, layer, start, end, confidence, _shown, isNominated = false) {
      if (!counts(rule, start, end)) return false
      // The turn violates this rule alone, without earlier turns.
      if (findings.has(rule, piece.part)) return true
      const place = { start: piece.offset, end: piece.offset + Math.min(end, piece.end) - piece.start }
      const found = { rule, part: piece.part, ...place, layer: joinedLayer(layer), confidence }
      findings.add({ ...found, over: [-1], acrossTurns: true, isNominated })
      return true
    }
  }
}

/**
 * Collects rules that an earlier turn violates alone, but that did not apply to its own speaker: a model may call a
 * tool with words that a person may not say. Such turns were permitted, and must not taint later ones.
 * @param bars.middle the confidence from which the policy acts on a match; `broken` collects the rules
 * @param part where the encoder's questions are shown
 */
export function earlierSink(
  call: Call,
  part: number,
  { middle, broken }: { middle: number; broken: Set<CompiledRule> }
): Sink {
  const { direction, asking } = call
  const applies = (rule: CompiledRule) => appliesTo(rule, 'user', direction) || appliesTo(rule, 'assistant', direction)
  const place = { role: 'user', part, placeOf: () => ({ start: 0, end: 0 }), counts: applies } as const
  return {
    applies,
    trusts: () => false,
    raised: asking && new Raised(asking, { ...place, isSeam: true, isReadAnyway: false }),
    record(rule, _layer, _start, _end, confidence, _shown, isNominated = false) {
      if (!isNominated && confidence >= middle) broken.add(rule)
      return true
    }
  }
}

/** @param at.piece where the text is shown */
function raisedAcross(
  asking: Asking,
  {
    role,
    piece,
    counts
  }: { role: Role; piece: Piece; counts: (rule: CompiledRule, from: number, to: number) => boolean }
): Raised {
  const { part, offset, start, end } = piece
  const placeOf = () => ({ start: offset, end: offset + end - start })
  return new Raised(asking, { role, part, placeOf, counts, isSeam: true, isReadAnyway: false })
}

/**
 * The role as which the encoder reads a text of several speakers: the user if one of them is, since a user can cause
 * the words of the others and is judged for most; else the tool, which is judged for injected orders.
 */
function speakerOf(roles: readonly Role[]): Role {
  if (roles.includes('user')) return 'user'
  return roles.includes('tool') ? 'tool' : roles[0]!
}

/**
 * An assistant's turn in a request is only the caller's claim about a model's words: it cancels no match in the
 * caller's own texts. It is judged as an answer too, by the same rules, so that a permitted answer passes as a turn,
 * and a forbidden one cannot be attributed to a model.
 */
function trusts({ direction }: CompiledRule, role: RuleRole, current: Call['direction']): boolean {
  return current === 'answer' || direction === 'answer' || role === 'system' || role === 'definition'
}

/**
 * The distinct roles of the pieces, since they are checked at every match and a joined text may have thousands of
 * pieces.
 */
function rolesOf(parts: readonly ChatPart[], pieces: readonly Piece[]): Role[] {
  const roles = new Set<Role>()
  for (const { part } of pieces) if (part >= 0) roles.add(parts[part]!.role)
  return [...roles]
}

function appliesToAny({ parts, direction }: Call, pieces: readonly Piece[]): (rule: CompiledRule) => boolean {
  const roles = rolesOf(parts, pieces)
  return (rule) => roles.some((role) => appliesTo(rule, role, direction))
}

/** Earlier turns are never trusted. */
function trustsAll({ parts, direction }: Call, pieces: readonly Piece[]): (rule: CompiledRule) => boolean {
  const roles = rolesOf(parts, pieces)
  const isPresent = pieces.every(({ part }) => part >= 0)
  return (rule) => isPresent && roles.every((role) => trusts(rule, role, direction))
}

/**
 * A match over texts of several speakers counts by rules for each of them, but not by rules for answers, since no one
 * said it as one. An assistant's words in a request count by the rules for their neighbours, since the caller wrote
 * them and a model reads both as one. Matches within one role were found where its own turns are joined.
 */
function appliesAcross(rule: CompiledRule, roles: readonly Role[], current: Call['direction']): boolean {
  if (rule.direction === 'answer' || roles.every((role) => role === roles[0])) return false
  return roles.every((role) => (current === 'request' && role === 'assistant') || appliesTo(rule, role, current))
}

/**
 * Whether a sentence continues from a user to an assistant or back: then both halves are read as one sentence of the
 * user. After a finished sentence they are a question and its answer, whose topics a detector would combine.
 * @returns whether that is so between two places; false: nowhere
 */
function goesOn(
  { text, pieces }: JoinedText,
  roles: readonly Role[],
  current: Call['direction']
): false | ((start: number, end: number) => boolean) {
  if (current === 'answer' || roles.some((role) => role !== 'user' && role !== 'assistant')) return false
  const places: number[] = []
  for (let i = 1; i < pieces.length; i++) {
    if (roles[i] === roles[i - 1]) continue
    const { end } = pieces[i - 1]!
    const { start } = pieces[i]!
    const before = text.slice(Math.max(0, end - nearEnd), end)
    if (isGoneOn(before, text.slice(start, start + nearEnd), roles[i]!)) places.push(start)
  }
  return places.length > 0 && ((start, end) => places.some((place) => start < place && place < end))
}

/** People often omit the last mark and begin with small letters; models do neither. */
function isGoneOn(before: string, after: string, speaker: Role): boolean {
  const begin = speaker === 'assistant' ? firstLetter.exec(after)?.[1] : undefined
  if (begin !== undefined && begin !== begin.toLowerCase()) return false
  return !sentenceEnd.test(before) || (begin !== undefined && begin !== begin.toUpperCase())
}

/** A sentence's final mark, with no letter or digit behind it. */
const sentenceEnd = /[.!?…。！？؟।॥][^\p{L}\p{N}]*$/u
const firstLetter = /^[^\p{L}\p{N}]*(\p{L})/u
/** UTF-16 units that are checked at either side. */
const nearEnd = 16

function joinedLayer(layer: string): string {
  return layer === 'plain' ? 'joined' : `joined+${layer}`
}

/** Whether texts have several roles; earlier turns of a session have none. */
export function areMixed(parts: readonly ChatPart[], members: readonly { part: number }[]): boolean {
  const role = parts[members[0]!.part]?.role
  return members.some(({ part }) => parts[part] !== undefined && role !== undefined && parts[part].role !== role)
}

/** The direction, and whether the encoder decides: findings depend on both. */
export function modeOf({ direction, asking }: Pick<Call, 'direction' | 'asking'>): string {
  return asking === undefined ? direction : `${direction}?`
}

/** The inputs, besides the text, on which its findings depend. */
export function kindOf(call: Pick<Call, 'direction' | 'asking' | 'guarded' | 'beside'>): string {
  const { guarded, beside } = call
  return `${modeOf(call)} ${guarded?.key ?? ''} ${beside?.key ?? ''}`
}

/** Longest key that is not hashed: a stretch of many short texts has a long key, which would stay in memory. */
const longestKey = 256

/** The key of a stretch of a text that is read as another speaker's. @param digest of the text */
export function stretchKey(role: RuleRole, digest: string, start: number, end: number): string {
  return `${role}>${start}+${end - start} ${digest}`
}

/** The key of a stretch of joined texts, from each text and its range; undefined with earlier turns of a session. */
export function seamKey(
  { digests }: Pick<Call, 'digests'>,
  { pieces }: JoinedText,
  separator: string
): string | undefined {
  if (digests === undefined) return undefined
  let key = separator
  for (const { part, offset, start, end } of pieces) {
    if (part < 0) return undefined
    key += `|${offset}+${end - start} ${digests.of(part)}`
  }
  return key.length <= longestKey ? key : hash('sha256', key, 'base64')
}
