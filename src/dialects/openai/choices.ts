/** Fields of a choice in a whole answer beside its text. */
import { any, type Fields, number, word } from '../taken.js'
import { tokenTexts } from '../tokens.js'
import type { Collector } from '../walk.js'

export const choiceFields: Fields<Collector> = {
  logprobs: any((value, out, { at }) => {
    for (const text of tokenTexts(value, out, 'assistant', at)) out.text('assistant', text, at)
  }),
  finish_reason: word,
  index: number
}
