/** The demo backend's texts in every dialect, and its token counts: each word is a token. */
import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../base/chat.js'

/** Longest part of the last message that is repeated, in UTF-16 units. */
const echoLength = 160
const defaultDimensions = 16
const mostDimensions = 3072

/** One turn as the demo reads it, whatever the dialect. */
export interface Turn {
  role: string
  text: string
}

/** A whole answer: its words, each with the white space before it, and its token counts. */
export interface Said {
  tokens: readonly string[]
  text: string
  /** Whether the client's limit cut it. */
  isCut: boolean
  promptTokens: number
}

/** @param limit of tokens, as the client gives it; anything but a positive number is none */
export function answerTo(turns: readonly Turn[], limit?: unknown): Said {
  const all = splitTokens(reply(turns))
  const tokens = typeof limit === 'number' && limit >= 1 ? all.slice(0, Math.trunc(limit)) : all
  return { tokens, text: tokens.join(''), isCut: tokens.length < all.length, promptTokens: countTokens(turns) }
}

export function countTokens(turns: readonly Turn[]): number {
  return turns.reduce((sum, { text }) => sum + splitTokens(text).length, 0)
}

/** A list of messages with `role` and `content` (or Gemini's `parts`). */
export function turnsOf(messages: readonly Json[]): Turn[] {
  return messages.map((message) => {
    const { role, content, parts } = objectOf(message)
    return { role: typeof role === 'string' ? role : '', text: textOf(content ?? parts) }
  })
}

/** A content: a text, or the text parts of a list. */
export function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((part) => (typeof part === 'string' ? part : objectOf(part).text) ?? []).join(' ')
}

export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

/** A unit vector that is the same for the same text, and means nothing. */
export function vectorOf(text: string, dimensions: unknown): number[] {
  const size =
    typeof dimensions === 'number' && dimensions >= 1
      ? Math.min(Math.trunc(dimensions), mostDimensions)
      : defaultDimensions
  const bytes: number[] = []
  for (let round = 0; bytes.length < size; round++) {
    bytes.push(...createHash('sha256').update(`${round}\n${text}`).digest())
  }
  const values = bytes.slice(0, size).map((byte) => byte - 127.5)
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}

function reply(turns: readonly Turn[]): string {
  const count = turns.length === 1 ? '1 message' : `${turns.length} messages`
  const said = shorten(turns.findLast(({ role }) => role === 'user')?.text ?? '')
  const echo = said === '' ? 'None of them is a text of yours.' : `The last one from you reads: "${said}"`
  return `This is the built-in demo backend: no model is connected, but your chat was evaluated, permitted and forwarded. It holds ${count}. ${echo} The first steps of the dashboard, or SLUICEGATE_UPSTREAM, connect a real model.`
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  // By code points: half of a surrogate pair is no text.
  return line.length <= echoLength
    ? line
    : `${Array.from(line.slice(0, echoLength + 1))
        .slice(0, -1)
        .join('')}…`
}

/** Words with the white space before them; joined they are the text again. */
function splitTokens(text: string): string[] {
  return text.match(/\s*\S+/g) ?? []
}
