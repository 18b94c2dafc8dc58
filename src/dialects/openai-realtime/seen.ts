/**
 * Tracks the part of a response that a client has seen: its announced items with their texts so far. A withheld
 * response is ended from it: open items are closed with their texts, and `response.done` repeats the sent texts.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { TurnFacts } from '../dialect.js'
import { isObject } from '../rewrite.js'
import { isIndex } from '../taken.js'
import { filteredResponse } from './write.js'

interface SeenPart {
  part: JsonObject
  isOpen: boolean
  /** Stems of the events that extended it, such as `response.output_text`. */
  stems: Set<string>
}

interface SeenItem {
  item: JsonObject
  isOpen: boolean
  parts: Map<number, SeenPart>
}

export class SeenRealtimeResponse {
  #response: JsonObject | undefined
  readonly #items = new Map<number, SeenItem>()

  /** Takes an event that has left. */
  add(event: JsonObject): void {
    const { type, response, item, part, output_index: at, content_index: index } = event
    if (typeof type !== 'string') return
    if (type === 'response.created' && isObject(response)) this.#response = structuredClone(response)
    if (!type.startsWith('response.') || !isIndex(at)) return
    if (isObject(item)) {
      const parts = this.#items.get(at)?.parts ?? new Map()
      this.#items.set(at, { item: structuredClone(item), isOpen: type.endsWith('.added'), parts })
      return
    }
    const seen = this.#items.get(at)
    if (seen === undefined || !isIndex(index)) return
    const known = seen.parts.get(index) ?? { part: {}, isOpen: true, stems: new Set() }
    seen.parts.set(index, known)
    if (isObject(part)) {
      known.part = structuredClone(part)
      known.isOpen = type.endsWith('.added')
    } else if (type.endsWith('.delta')) takeDelta(known, type.slice(0, -'.delta'.length), event.delta)
    else known.stems.delete(type.slice(0, -'.done'.length))
  }

  /**
   * The closing events of a withheld response.
   * @param id its name where none of it has left
   */
  close(facts: TurnFacts, id: string): JsonObject[] {
    const response = this.#response ?? emptyResponse(id)
    const responseId = response.id!
    const events: JsonObject[] = this.#response === undefined ? [{ type: 'response.created', response }] : []
    const output: JsonObject[] = []
    for (const [index, { item, isOpen, parts }] of [...this.#items].sort(([a], [b]) => a - b)) {
      if (!isOpen) {
        output.push(item)
        continue
      }
      // A cut call must not look executable: it ends without arguments.
      const closed: JsonObject = { ...item, status: 'incomplete' }
      if (item.type === 'message') {
        const place = { response_id: responseId, item_id: item.id ?? '', output_index: index }
        for (const [at, part] of parts)
          if (part.isOpen) events.push(...closePart(part, { ...place, content_index: at }))
        closed.content = [...parts].sort(([a], [b]) => a - b).map(([, { part }]) => part)
        output.push(closed)
      }
      events.push({ type: 'response.output_item.done', response_id: responseId, output_index: index, item: closed })
    }
    events.push({ type: 'response.done', response: filteredResponse(response, output, facts) })
    return events
  }
}

/** Sound is not kept: clients have played it already. */
function takeDelta(known: SeenPart, stem: string, delta: Json | undefined): void {
  known.stems.add(stem)
  const key = keyOf(stem)
  if (key === undefined || typeof delta !== 'string') return
  const before = known.part[key]
  known.part[key] = (typeof before === 'string' ? before : '') + delta
}

function keyOf(stem: string): 'text' | 'transcript' | undefined {
  if (stem.endsWith('_transcript')) return 'transcript'
  return stem.endsWith('audio') ? undefined : 'text'
}

function closePart({ part, stems }: SeenPart, place: JsonObject): JsonObject[] {
  const events = [...stems].map((stem) => {
    const key = keyOf(stem)
    return { type: `${stem}.done`, ...place, ...(key !== undefined && { [key]: part[key] ?? '' }) }
  })
  return [...events, { type: 'response.content_part.done', ...place, part }]
}

function emptyResponse(id: string): JsonObject {
  return {
    id,
    object: 'realtime.response',
    status: 'in_progress',
    status_details: null,
    output: [],
    usage: null
  }
}
