/**
 * What was said before a request and does not stand in it. Requests that go on from an answer which the API keeps
 * (`previous_response_id`) bring nothing of it along: the session of a request stands under its answer's id too, so that
 * whatever goes on from there is judged with it. What else was tried from the same answer counts too, as in any session.
 */
import type { ChatPart, ChatRequest } from '../base/chat.js'
import { textOfTurn } from '../policy/session.js'
import { asTurn, type Turn } from '../review/review.js'
import { isIdentifier } from './context.js'
import type { Exchange, Inbound } from './exchange.js'

/** UTF-16 units of a request that are shown beside its answer: as many as a page shows of one text. */
const maxAsked = 40_000

/** Where the caller names no session: that of the answer it goes on from, or one that others may go on from. */
export function sessionOfChain({ caller, requestId }: Inbound, { after, isKept }: ChatRequest): string | undefined {
  if (after !== undefined && isIdentifier(after)) return nameOf(caller.accountId, after)
  return isKept ? nameOf(caller.accountId, `to.${requestId}`) : undefined
}

/** Lets later requests go on from this answer, once. @param id see `ChatReply.id` */
export async function fork(exchange: Exchange, id: string | undefined): Promise<void> {
  const { deps, session, chat, inbound } = exchange
  const { sessions } = deps
  if (sessions === undefined || session === undefined || chat.isKept !== true) return
  if (exchange.isForked || id === undefined || !isIdentifier(id)) return
  exchange.isForked = true
  const state = await sessions.get(session)
  if (state !== undefined) await sessions.update(nameOf(inbound.caller.accountId, id), () => state)
}

/** What came before a request in its session and is not repeated in it; undefined where it brings all of it along. */
export function before({ recalled, chat }: Exchange): Turn[] | undefined {
  if (recalled === undefined) return undefined
  const own = new Set(turnsOf(chat.parts))
  const turns = recalled.filter((text) => !own.has(text)).map(asTurn)
  return turns.length === 0 && own.size > 1 ? undefined : turns
}

/** What an answer answers: the request, and what came before that. */
export function asked(exchange: Exchange): Turn[] | undefined {
  const turns = [...(before(exchange) ?? [])]
  for (const { role, text, isKey } of exchange.chat.parts) {
    if (isKey !== true && text !== '' && role !== 'parameter' && role !== 'definition') turns.push({ role, text })
  }
  let room = maxAsked
  const kept: Turn[] = []
  for (const { role, text } of turns.reverse()) {
    if (room === 0) break
    const end = text.slice(-room)
    kept.unshift({ role, text: end })
    room -= end.length
  }
  return kept.length === 0 ? undefined : kept
}

/** The user's turns of a request, each as a session remembers one. */
function turnsOf(parts: readonly ChatPart[]): string[] {
  const turns: ChatPart[][] = [[]]
  for (const part of parts) {
    if (part.role === 'user') turns.at(-1)!.push(part)
    else if (part.role !== 'parameter' && part.role !== 'definition' && part.isKey !== true) turns.push([])
  }
  return turns.map((turn) => textOfTurn(turn, 0)).filter((text) => text !== '')
}

/** Callers may write these names too, for their own account's sessions only. */
function nameOf(account: string, id: string): string {
  return `${account}:answer.${id}`
}
