/**
 * Tracks the part of a streamed response that a client has seen: its announced items with their texts so far. A blocked
 * stream is ended from it: open items are closed with their texts, and the last event repeats the sent texts.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { isObject } from '../rewrite.js'
import { isIndex } from '../taken.js'
import { textPlaces } from './events.js'
import { emptyResponse, ended, lastEvent, message, messageEvents, numbered, refusalPart } from './write.js'

type List = 'content' | 'summary'

interface SeenItem {
  /** As it was announced; its lists are in `parts`. */
  item: JsonObject
  isOpen: boolean
  /** By the upstream's own numbers, which may have gaps. */
  parts: Map<List, Map<number, { part: Json; isOpen: boolean }>>
}

export class SeenResponse {
  #response: JsonObject | undefined
  readonly #items = new Map<number, SeenItem>()
  /** The number of the last event; -1 before the first. */
  #sequence = -1

  /** Takes an event that has left. */
  add(event: JsonObject): void {
    const { type, response, item, part, output_index: at } = event
    if (typeof event.sequence_number === 'number') this.#sequence = event.sequence_number
    else this.#sequence++
    if (isObject(response)) this.#response ??= response
    if (!isIndex(at) || typeof type !== 'string') return
    if (isObject(item)) {
      const own = structuredClone(item)
      this.#items.set(at, { item: own, isOpen: type.endsWith('.added'), parts: partsIn(own) })
      return
    }
    const seen = this.#items.get(at)
    if (seen === undefined) return
    if (isObject(part)) takePart(seen, event, part, type.endsWith('.added'))
    else if (typeof event.delta === 'string') takeDelta(seen, event, event.delta)
  }

  /** The closing events of a begun stream that is withheld. */
  close(facts: TurnFacts): string {
    const events: JsonObject[] = []
    const output: Json[] = []
    const indexes = [...this.#items.keys()].sort((a, b) => a - b)
    for (const index of indexes) {
      const seen = this.#items.get(index)!
      if (!seen.isOpen) output.push(seen.item)
      // A cut call must not look executable: it stays open, and is left out of the final response.
      else if (hasParts(seen.item)) output.push(closeItem(seen, index, events))
    }
    const refusal = message(`msg_${facts.requestId}`, 'incomplete', [refusalPart(facts.denial.wording.end_user.text)])
    events.push(...messageEvents(refusal, (indexes.at(-1) ?? -1) + 1))
    output.push(refusal)
    const response = { ...emptyResponse(facts), ...this.#response }
    events.push(lastEvent(ended(response, output, true)))
    return numbered(events, this.#sequence)
  }
}

function hasParts({ type }: JsonObject): boolean {
  return type === 'message' || type === 'reasoning'
}

const lists: readonly List[] = ['content', 'summary']

function partsIn(item: JsonObject): SeenItem['parts'] {
  return new Map(
    lists.map((list) => {
      const given = Array.isArray(item[list]) ? item[list] : []
      return [list, new Map(given.map((part, i) => [i, { part, isOpen: false }]))]
    })
  )
}

function takePart({ parts }: SeenItem, event: JsonObject, part: JsonObject, isOpen: boolean): void {
  const list = String(event.type).includes('summary') ? 'summary' : 'content'
  const index = event[`${list}_index`]
  if (isIndex(index)) parts.get(list)!.set(index, { part: structuredClone(part), isOpen })
}

function takeDelta({ item, parts }: SeenItem, event: JsonObject, delta: string): void {
  const place = textPlaces[String(event.type).replace(/\.delta$/, '')]
  if (place === undefined) return
  const { list, key } = place
  const index = list === undefined ? undefined : event[`${list}_index`]
  const holder = list === undefined ? item : isIndex(index) ? parts.get(list)!.get(index)?.part : undefined
  if (isObject(holder)) holder[key] = (typeof holder[key] === 'string' ? holder[key] : '') + delta
}

/** @returns the item as it ends */
function closeItem({ item, parts }: SeenItem, outputIndex: number, events: JsonObject[]): JsonObject {
  const closed: JsonObject = { ...item, status: 'incomplete' }
  for (const list of lists) {
    const ordered = [...parts.get(list)!].sort(([a], [b]) => a - b)
    if (ordered.length > 0 || Array.isArray(item[list])) closed[list] = ordered.map(([, { part }]) => part)
    for (const [index, { part, isOpen }] of ordered) {
      if (!isOpen || !isObject(part)) continue
      const place = { item_id: item.id ?? '', output_index: outputIndex, [`${list}_index`]: index }
      const stem = list === 'summary' ? 'response.reasoning_summary_text' : `response.${String(part.type)}`
      const key = part.type === 'refusal' ? 'refusal' : 'text'
      const tokens = part.type === 'output_text' ? { logprobs: [] } : {}
      events.push({ type: `${stem}.done`, ...place, [key]: part[key] ?? '', ...tokens })
      const whole = list === 'summary' ? 'response.reasoning_summary_part.done' : 'response.content_part.done'
      events.push({ type: whole, ...place, part })
    }
  }
  events.push({ type: 'response.output_item.done', output_index: outputIndex, item: closed })
  return closed
}
