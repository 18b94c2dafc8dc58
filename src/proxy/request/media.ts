/**
 * Handles content other than text: it is denied, reviewed by a person, passed, or read. Text from a file, a picture or
 * sound is judged with the role of its sender, as part of the message that contains it.
 */
import { isBase64 } from '../../base/base64.js'
import type { Budget } from '../../base/budget.js'
import type { Brought, ChatContent, ChatPart, Json, JsonObject, Media, Picture, Role } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { actFor } from '../../base/unscannable.js'
import { type Carrier, carrierOf } from '../../dialects/carrier.js'
import { soundTypeOf } from '../../dialects/media.js'
import { isObject, pointerSegments } from '../../dialects/rewrite.js'
import { wavOf } from '../../dialects/sound.js'
import { type Files, type FileText, type UnreadReason, wholeText } from '../../files/file.js'
import { formatOf } from '../../files/read/picture/structure.js'
import { checkBudget } from '../../policy/match/budget.js'
import type { Exchange } from '../exchange.js'
import type { Route } from './routes.js'

/** Files, pictures and sounds of one request. */
const mostFiles = 20

interface Scanned {
  carrier: Carrier
  role: Role
  texts: readonly FileText[]
  media: Media
  /** Whether it contains pictures beside its text. */
  hasPictures: boolean
  /** The bytes of a picture; absent for a file that contains pictures. */
  picture?: Picture
}

/** Readers of media: files with pictures, and sound. Without a reader, content that a route wants read is denied. */
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
   * Reads the media that the route scans, and removes them from the exchange's media.
   * @returns the first part that a person must review, where the route says so
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
    if (toScan.length > 0) {
      const unread = await this.#scanAll(exchange, chat, exchange.body, toScan)
      if (isEnforced && unread !== undefined) throw unread
    }
    return reviewed
  }

  /** The sound of an open session comes in pieces: `proxy/sound` transcribes those. */
  #isRead({ route }: Exchange, { kind }: Media): boolean {
    return kind !== 'audio' || (this.#readers.audio !== undefined && route.spoken.isSocket !== true)
  }

  /**
   * Reads the media of a whole answer, where the route says so. Unread ones stay among its media, and are denied.
   * @throws Fault `overloaded`, `evaluator_unavailable`, `too_complex`
   */
  async readAnswer(exchange: Exchange, content: ChatContent, body: JsonObject): Promise<void> {
    const toScan = content.media.filter(
      (media) => actFor(exchange.route.unscannable, media.kind) === 'scan' && this.#isRead(exchange, media)
    )
    if (toScan.length > 0) await this.#scanAll(exchange, content, body, toScan, true)
  }

  /**
   * Refuses a request for pictures or sound that the route would withhold in any case: the caller would still pay for
   * them. Content behind a URL is never fetched, and so never read.
   * @throws Fault `unscannable_content`
   */
  checkBrought({ mode, output, unscannable }: Route, { kind, isAddress }: Brought): void {
    const act = actFor(unscannable, kind)
    if (mode === 'observe' || output === 'off' || (act !== 'deny' && !(act === 'scan' && isAddress === true))) return
    throw new Fault('unscannable_content', {
      message: `The answer would hold content that cannot be evaluated (${kind}).`,
      fields: { details: { pointer: '' } }
    })
  }

  /** @returns why the first unread one was not read; where that refuses the request, no further one is read */
  async #scanAll(
    exchange: Exchange,
    content: ChatContent,
    body: JsonObject,
    toScan: readonly Media[],
    isAnswer = false
  ): Promise<Fault | undefined> {
    const read: Scanned[] = []
    let unread: Fault | undefined
    for (const [i, media] of toScan.entries()) {
      const found = i < mostFiles ? await this.#scan(exchange, body, media, isAnswer) : 'too_large'
      if (typeof found !== 'string') read.push(found)
      else {
        unread ??= unscannable(media, found)
        if (exchange.route.mode !== 'observe') return unread
      }
    }
    if (read.length === 0) return unread
    const done = new Map(read.map((each) => [each.media, each]))
    const left = content.media.flatMap((media): Media[] => {
      const scanned = done.get(media)
      if (scanned === undefined) return [media]
      const { hasPictures, picture } = scanned
      return hasPictures ? [{ ...media, isTextRead: true, ...(picture !== undefined && { picture }) }] : []
    })
    takeTexts(content, read)
    replace(content.media, left)
    checkBudget(content, this.#budget)
    return unread
  }

  async #scan(
    { inbound, route, body: request }: Exchange,
    body: JsonObject,
    media: Media,
    isAnswer: boolean
  ): Promise<Scanned | UnreadReason> {
    const kind = media.kind === 'image' || media.kind === 'audio' ? media.kind : 'file'
    const spelling = isAnswer && kind === 'audio' ? 'spoken' : kind
    const carrier = carrierOf(valueAt(body, media.pointer), media.pointer, spelling)
    if (typeof carrier === 'string') return carrier
    const reader = this.#readers[kind === 'audio' ? 'audio' : 'file']
    if (reader === undefined || media.role === undefined) return 'reader_failed'
    const { caller, cancel } = inbound
    const { charset, name } = carrier
    const format = spelling === 'spoken' ? route.spoken.sampleFormat?.(request, carrier.claim) : undefined
    if (format !== undefined && !isBase64(carrier.data)) return 'bad_encoding'
    const data =
      format === undefined ? carrier.data : wavOf(Buffer.from(carrier.data, 'base64'), format).toString('base64')
    // An answer does not say what its sound is in.
    const isUntold = spelling === 'spoken' && carrier.type === ''
    const type = format !== undefined ? 'audio/wav' : isUntold ? soundTypeOf(headOf(data)) : carrier.type
    const isGone = () => cancel.reason !== undefined
    const readsPictures = actFor(route.unscannable, 'image') === 'scan'
    try {
      const reading = await reader.read({
        account: caller.accountId,
        whose: caller.lineage,
        data,
        type,
        charset,
        name,
        readsPictures,
        isPicture: kind === 'image',
        isGone
      })
      if (cancel.reason !== undefined) throw cancel.reason
      if (!reading.whole) return reading.reason
      const { texts, hasPictures } = reading
      const { pointer, role } = media
      const picture = reading.kind === 'picture' ? { pointer, role, type: typeOfPicture(data), data } : undefined
      return { carrier, role, texts, media, hasPictures, ...(picture !== undefined && { picture }) }
    } catch (error) {
      // In `observe` a missing reader refuses nothing either.
      if (route.mode !== 'observe' || !(error instanceof Fault) || cancel.reason !== undefined) throw error
      return 'reader_failed'
    }
  }
}

/** Media type of a picture, from its first bytes. @param data base64 */
function typeOfPicture(data: string): string {
  return `image/${formatOf(headOf(data)) ?? 'png'}`
}

/** The first bytes, which tell a format. */
function headOf(data: string): Buffer {
  return Buffer.from(data.slice(0, 32), 'base64')
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
 * Puts the texts of files in the place of their bytes. A model reads them between the texts of the message, so content
 * that is split between a text and a file, or between two pictures, is also judged as one.
 */
function takeTexts(chat: ChatContent, read: readonly Scanned[]): void {
  const leaves = new Set(read.map(({ carrier }) => carrier.pointer))
  const kept: ChatPart[] = []
  /** New index of a part, by its old one. */
  const places: number[] = []
  for (const part of chat.parts) {
    const isBytes = leaves.has(part.pointer) && part.isKey !== true
    places.push(isBytes ? -1 : kept.push(part) - 1)
  }
  const runs = chat.joined.map((run) => run.flatMap((index) => (places[index]! === -1 ? [] : [places[index]!])))
  const messages = messagesAround(kept, read)
  for (const { carrier, role, texts, media } of read) {
    const { pointer, header, type } = carrier
    // Parameters of a type are free text.
    if (header !== '' && header.toLowerCase() !== `${type};base64`) {
      kept.push({ role, text: header, pointer, isDecoded: true })
    }
    const { folder, place } = placeOf(media.pointer)
    const message = messages.get(`${role} ${folder}`)!
    for (const { text, where, hidden } of texts) {
      const behind = hidden === undefined ? where : `${where}&hidden=${hidden}`
      const file = media.kind === 'audio' ? 'heard' : where === wholeText && hidden === undefined ? 'writable' : 'read'
      const index = kept.push({ role, text, pointer: `${pointer}#${behind}`, file }) - 1
      if (hidden !== 'source' && hidden !== 'attribute') message.push({ index, place })
    }
  }
  for (const message of messages.values()) {
    // The order of those in one place stays.
    runs.push(message.sort((a, b) => a.place - b.place).map(({ index }) => index))
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

interface Placed {
  index: number
  place: number
}

/**
 * The list of a message's parts, and the index in it. Ollama's pictures stand behind the text, in a list of their own.
 */
function placeOf(pointer: string): { folder: string; place: number } {
  const list = /^(.*\/)images\/(\d+)$/.exec(pointer)
  if (list !== null) return { folder: list[1]!, place: Number(list[2]) + 1 }
  const part = pointer.replace(/\/(?:inlineData|inline_data|image|document)$/, '')
  const folder = part.slice(0, part.lastIndexOf('/') + 1)
  return { folder, place: Number(part.slice(folder.length)) }
}

/** Texts of the same message and role, by the files among them. */
function messagesAround(parts: readonly ChatPart[], read: readonly Scanned[]): Map<string, Placed[]> {
  const found = new Map<string, Placed[]>()
  for (const { media, role } of read) {
    const { folder } = placeOf(media.pointer)
    const name = `${role} ${folder}`
    if (found.has(name)) continue
    const message: Placed[] = []
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!
      if (part.isKey === true || !part.pointer.startsWith(folder)) continue
      const [segment = '', last] = part.pointer.slice(folder.length).split('/', 2)
      if (part.role !== role && role !== 'tool') continue
      if (last !== undefined && last !== 'text') continue
      const place = Number(segment)
      message.push({ index, place: Number.isNaN(place) ? 0 : place })
    }
    found.set(name, message)
  }
  return found
}
