/**
 * What becomes of a request's content that is no text: denied, put before a person, passed, or read. What is read of a file,
 * or heard in sound, is judged with the role of its sender, as part of the message that brings it.
 */
import type { Budget } from '../../base/budget.js'
import type { ChatPart, Json, Media, Role } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { actFor } from '../../base/unscannable.js'
import { type Carrier, carrierOf } from '../../dialects/carrier.js'
import { isObject, pointerSegments } from '../../dialects/rewrite.js'
import { type FileText, type UnreadReason, wholeText } from '../../files/file.js'
import type { Files } from '../../files/files.js'
import { checkBudget } from '../../policy/match/budget.js'
import type { Exchange } from '../exchange.js'
import type { Route } from './routes.js'

/** Files and sounds of one request. */
const mostFiles = 20

interface Scanned {
  carrier: Carrier
  role: Role
  texts: readonly FileText[]
  media: Media
}

/** What reads each kind of media; where there is none, what a route wants read is denied. */
export interface MediaReaders {
  file: Pick<Files, 'read'> | undefined
  audio: Pick<Files, 'read'> | undefined
}

export class MediaStage {
  readonly #readers: MediaReaders
  readonly #budget: Budget

  constructor(readers: MediaReaders, budget: Budget) {
    this.#readers = readers
    this.#budget = budget
  }

  /**
   * Reads what the route says is to be read, and takes it from the exchange's media.
   * @returns the first part that a person has to see, where the route says so
   * @throws Fault `unscannable_content`, `overloaded`, `evaluator_unavailable`, `too_complex`
   */
  async check(exchange: Exchange): Promise<Media | undefined> {
    const { route, chat } = exchange
    const isEnforced = route.mode !== 'observe'
    let reviewed: Media | undefined
    const toScan: Media[] = []
    for (const media of chat.media) {
      const act = actFor(route.unscannable, media.kind)
      if (act === 'scan' && this.#isRead(exchange, media)) toScan.push(media)
      else if (isEnforced && (act === 'deny' || act === 'scan')) throw unscannable(media)
      else if (isEnforced && act === 'review') reviewed ??= media
    }
    if (toScan.length > 0) await this.#scanAll(exchange, toScan, isEnforced)
    return reviewed
  }

  /** The sound of an open session comes in pieces that are nothing by themselves. */
  #isRead({ route }: Exchange, { kind }: Media): boolean {
    return kind === 'file' || (this.#readers.audio !== undefined && route.spoken.isSocket !== true)
  }

  /**
   * What would be withheld for what it is, whatever it shows, is not asked for: somebody would pay for it all the same.
   * @throws Fault `unscannable_content`
   */
  checkBrought({ mode, output, unscannable }: Route, kind: Media['kind']): void {
    if (mode === 'observe' || output === 'off' || actFor(unscannable, kind) !== 'deny') return
    throw new Fault('unscannable_content', {
      message: `The answer would hold content that cannot be evaluated (${kind}).`,
      fields: { details: { pointer: '' } }
    })
  }

  async #scanAll(exchange: Exchange, toScan: readonly Media[], isEnforced: boolean): Promise<void> {
    const { chat } = exchange
    const read: Scanned[] = []
    for (const [i, media] of toScan.entries()) {
      const found = i < mostFiles ? await this.#scan(exchange, media, isEnforced) : 'too_large'
      if (typeof found !== 'string') read.push(found)
      else if (isEnforced) throw unscannable(media, found)
    }
    if (read.length === 0) return
    const done = new Set(read.map(({ media }) => media))
    const left = chat.media.filter((media) => !done.has(media))
    takeTexts(exchange, read)
    chat.media.length = 0
    for (const media of left) chat.media.push(media)
    checkBudget(chat, this.#budget)
  }

  async #scan(exchange: Exchange, media: Media, isEnforced: boolean): Promise<Scanned | UnreadReason> {
    const { body, inbound } = exchange
    const kind = media.kind === 'audio' ? 'audio' : 'file'
    const carrier = carrierOf(valueAt(body, media.pointer), media.pointer, kind)
    if (typeof carrier === 'string') return carrier
    const reader = this.#readers[kind]
    if (reader === undefined || media.role === undefined) return 'reader_failed'
    const { caller, cancel } = inbound
    const { data, type, charset, name } = carrier
    const isGone = () => cancel.reason !== undefined
    try {
      const asked = { account: caller.accountId, whose: caller.lineage, data, type, charset, name, isGone }
      const reading = await reader.read(asked)
      if (cancel.reason !== undefined) throw cancel.reason
      return reading.whole ? { carrier, role: media.role, texts: reading.texts, media } : reading.reason
    } catch (error) {
      // Where nothing is refused, nothing is refused for want of a reader.
      if (isEnforced || !(error instanceof Fault) || cancel.reason !== undefined) throw error
      return 'reader_failed'
    }
  }
}

/** @param reason why a file was not read whole */
export function unscannable({ pointer, kind }: Media, reason?: UnreadReason): Fault {
  const why = reason === undefined ? kind : `${kind}: ${reason}`
  return new Fault('unscannable_content', {
    message: `The request holds content that cannot be evaluated (${why}).`,
    fields: { details: { pointer, ...(reason !== undefined && { reason }) } }
  })
}

function valueAt(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root
  for (const segment of pointerSegments(pointer)) {
    if (Array.isArray(value)) value = value[Number(segment)]
    else if (isObject(value) && Object.hasOwn(value, segment)) value = value[segment]
    else return undefined
  }
  return value
}

/**
 * The texts of the files in the place of their bytes. A model reads them between the texts of the message, so what is said
 * half in one and half in the other is judged as one, too.
 */
function takeTexts({ chat }: Exchange, read: readonly Scanned[]): void {
  const leaves = new Set(read.map(({ carrier }) => carrier.pointer))
  const kept: ChatPart[] = []
  /** By the old place of a part, its new one. */
  const places: number[] = []
  for (const part of chat.parts) {
    const isBytes = leaves.has(part.pointer) && part.isKey !== true
    places.push(isBytes ? -1 : kept.push(part) - 1)
  }
  const runs = chat.joined.map((run) => run.flatMap((index) => (places[index]! === -1 ? [] : [places[index]!])))
  const beside = textsBeside(kept, read)
  for (const { carrier, role, texts, media } of read) {
    const { pointer, header, type } = carrier
    // Parameters of a type are whatever their author likes.
    if (header !== '' && header.toLowerCase() !== `${type};base64`) {
      kept.push({ role, text: header, pointer, isDecoded: true })
    }
    const run: number[] = []
    for (const { text, where, hidden } of texts) {
      const place = hidden === undefined ? where : `${where}&hidden=${hidden}`
      const file = where === wholeText && hidden === undefined ? 'writable' : 'read'
      const index = kept.push({ role, text, pointer: `${pointer}#${place}`, file }) - 1
      if (hidden !== 'source' && hidden !== 'attribute') run.push(index)
    }
    const { before, behind } = beside.get(media)!
    const whole = [...before, ...run, ...behind]
    if (whole.length > 1) runs.push(whole)
  }
  replace(chat.parts, kept)
  replace(
    chat.joined,
    runs.filter((run) => run.length > 1)
  )
}

function replace<T>(list: T[], by: readonly T[]): void {
  list.length = 0
  for (const each of by) list.push(each)
}

interface Beside {
  before: number[]
  behind: number[]
}

/** Texts of the same message, and of the same role, by the file that they stand around. */
function textsBeside(parts: readonly ChatPart[], read: readonly Scanned[]): Map<Media, Beside> {
  const found = new Map<Media, Beside>()
  for (const { media, role } of read) {
    const folder = media.pointer.replace(/\/(?:inlineData|inline_data)$/, '').replace(/\/[^/]*$/, '/')
    const place = Number(media.pointer.slice(folder.length).split('/', 1)[0])
    const beside: Beside = { before: [], behind: [] }
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!
      if (part.isKey === true || !part.pointer.startsWith(folder)) continue
      const [segment = '', last] = part.pointer.slice(folder.length).split('/', 2)
      if (part.role !== role && role !== 'tool') continue
      if (last !== undefined && last !== 'text') continue
      ;(Number(segment) < place ? beside.before : beside.behind).push(i)
    }
    found.set(media, beside)
  }
  return found
}
