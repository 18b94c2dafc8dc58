/**
 * Tickets: a server's session ids and event ids, sealed for one key and one server before the client gets them. Another
 * key cannot use them, and nodes need not share them.
 */
import type { MessageId } from '../../dialects/mcp/message.js'
import { type Seal, sealedFor } from '../../sealing/seal.js'

type TicketKind = 'session' | 'event'

/** A place in a stream. */
export interface EventPlace {
  /** The server's own id of the event. */
  event: string
  /** The request that the stream answers; undefined: the stream only listens. */
  answers: MessageId | undefined
}

export interface Holder {
  account: string
  lineage: string
  /** Name of the server. */
  server: string
}

/** Visible ASCII (specification 2025-03-26, "Session Management"). */
const form = /^[\x21-\x7e]{1,512}$/
/** Longest sealed ticket, in characters of base64url. */
const maxTicket = 1536

export function isTicketable(value: unknown): value is string {
  return typeof value === 'string' && form.test(value)
}

export class Tickets {
  readonly #seal: Seal

  constructor(seal: Seal) {
    this.#seal = seal
  }

  giveSession(session: string, holder: Holder): string {
    return this.#give('session', session, holder)
  }

  /** @returns undefined where it belongs to another holder, or is sealed with a deleted key */
  takeSession(ticket: string, holder: Holder): string | undefined {
    return this.#take('session', ticket, holder)
  }

  giveEvent({ event, answers }: EventPlace, holder: Holder): string {
    return this.#give('event', `${JSON.stringify(answers ?? null)}\n${event}`, holder)
  }

  /** @returns as `takeSession` */
  takeEvent(ticket: string, holder: Holder): EventPlace | undefined {
    const place = this.#take('event', ticket, holder)
    const end = place?.indexOf('\n') ?? -1
    if (place === undefined || end === -1) return undefined
    const answers: MessageId | null = JSON.parse(place.slice(0, end))
    return { event: place.slice(end + 1), answers: answers ?? undefined }
  }

  #give(kind: TicketKind, value: string, holder: Holder): string {
    return this.#seal.seal(Buffer.from(value), boundTo(kind, holder)).toString('base64url')
  }

  #take(kind: TicketKind, ticket: string, holder: Holder): string | undefined {
    if (ticket.length > maxTicket) return undefined
    try {
      return this.#seal.open(Buffer.from(ticket, 'base64url'), boundTo(kind, holder)).toString()
    } catch {
      return undefined
    }
  }
}

function boundTo(kind: TicketKind, { account, lineage, server }: Holder): string {
  return sealedFor(`${account}/${lineage}/mcp/${server}`, kind)
}
