/** Reads a backend's transcript: as JSON with or without segments and words, as a text, as subtitles. */
import type { ChatReply, Json, JsonObject } from '../../base/chat.js'
import { names } from '../openai/names.js'
import { isObject } from '../rewrite.js'
import { any, type Fields, readFields, string, type Taker, walked } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import { Collector } from '../walk.js'

interface Heard {
  out: Collector
  /** Indexes of the texts that follow each other. */
  run: number[]
}

const heard: Taker<Heard> = string((value, { out, run }, { at }) => {
  run.push(out.text('assistant', value, at))
})

/** Pieces with their times, one behind the other: a phrase that is cut between two is read as one. */
function pieces(field: string): Taker<Collector> {
  const fields: Fields<Heard> = { [field]: heard }
  return (value, out, { at }) => {
    if (!Array.isArray(value) || !value.every(isObject)) return false
    const run: number[] = []
    for (const [i, piece] of value.entries()) {
      const pointer = `${at}/${i}`
      readFields(fields, piece, pointer, { out, run }, walked(out, 'assistant'))
    }
    out.join(run)
    return true
  }
}

/** Token probabilities repeat the answer. */
export const probabilities: Taker<Collector> = any((value, out, { at }) => {
  for (const text of tokenTexts(value, out, 'assistant', at)) out.text('assistant', text, at)
})

const fields: Fields<Collector> = {
  text: string((value, out, { at }) => {
    out.text('assistant', value, at)
  }),
  segments: pieces('text'),
  words: pieces('word'),
  logprobs: probabilities,
  lines: readLines
}

export function readTranscript(body: JsonObject): ChatReply | undefined {
  if (typeof body.text !== 'string' && !Array.isArray(body.lines)) return undefined
  const out = new Collector(names)
  readFields(fields, body, '', out, walked(out, 'assistant'))
  return out
}

export function forgetTranscriptTokens(body: JsonObject): void {
  delete body.logprobs
}

/** The time of a subtitle line. */
const time = '(?:\\d{2,}:)?\\d{2}:\\d{2}[.,]\\d{3}'
const timing = new RegExp(`^(?:\\d+|WEBVTT|${time} --> ${time})?\\r?$`)
const arrow = '-->'

/** Joins the lines of subtitles between numbers and times. */
function readLines(value: Json, out: Collector, { at }: { at: string }): boolean {
  if (!Array.isArray(value) || !value.every((line) => typeof line === 'string')) return false
  const run: number[] = []
  for (let i = 0; i < value.length; i++) {
    if (!timing.test(value[i]!)) run.push(out.text('assistant', value[i]!, `${at}/${i}`))
  }
  out.join(run)
  return true
}

/** A text as an object: subtitles by their lines, any other as it stands. */
export function readSubtitles(text: string): JsonObject {
  return text.includes(arrow) ? { lines: text.split('\n') } : { text }
}

export function writeSubtitles({ text, lines }: JsonObject): string {
  return typeof text === 'string' ? text : (lines as string[]).join('\n')
}
