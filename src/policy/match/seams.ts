/** What is remembered of texts and of the places where they meet: under which name, and whose words they are. */
import { hash } from 'node:crypto'
import type { ChatPart } from '../../base/chat.js'
import type { JoinedText } from './joined.js'
import type { Call } from './sinks.js'

/** Whether texts are of several roles; those of earlier turns of a session are of none. */
export function areMixed(parts: readonly ChatPart[], members: readonly { part: number }[]): boolean {
  const role = parts[members[0]!.part]?.role
  return members.some(({ part }) => parts[part] !== undefined && role !== undefined && parts[part].role !== role)
}

/** What is found depends on the direction, and on whether the encoder decides. */
export function modeOf({ direction, asking }: Call): string {
  return asking === undefined ? direction : `${direction}?`
}

/** What the findings of a text depend on besides itself. */
export function kindOf(call: Call): string {
  const { guarded } = call
  return guarded === undefined ? modeOf(call) : `${modeOf(call)} ${guarded.key}`
}

/** A stretch of many short texts has a long name, which would be kept for as long as what was found in it. */
const longestKey = 256

/** Names a stretch of joined texts by the texts, and by what of each is in it; undefined where earlier turns of a session are. */
export function seamKey(call: Call, { pieces }: JoinedText, separator: string): string | undefined {
  const { digests } = call
  if (digests === undefined || pieces.some(({ part }) => part < 0)) return undefined
  const of = pieces.map(({ part, offset, start, end }) => `${offset}+${end - start} ${digests.of(part)}`)
  const key = `${kindOf(call)}${separator}|${of.join('|')}`
  return key.length <= longestKey ? key : hash('sha256', key, 'base64')
}
