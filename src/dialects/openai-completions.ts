/** OpenAI's legacy completions, as vLLM, llama.cpp and LM Studio still speak them: a text in, its continuation out. */
import type { ChatReply, ChatRequest, JsonObject } from '../base/chat.js'
import { invalid } from '../base/errors.js'
import type { Dialect } from './dialect.js'
import { stringField } from './fields.js'
import { HeldStream } from './held-stream.js'
import { offenderBy } from './offender.js'
import { choiceFields } from './openai/choices.js'
import { ChoicesStreamShape } from './openai/choices-stream.js'
import { writeChoices } from './openai/choices-write.js'
import { family } from './openai/family.js'
import { names } from './openai/names.js'
import { readPrompts } from './openai/prompts.js'
import { readOptions } from './openai/request.js'
import { readTokenFields } from './openai/token-fields.js'
import { forgetTokens } from './openai/tokens.js'
import { isObject } from './rewrite.js'
import { readFields, walked } from './taken.js'
import { Collector } from './walk.js'

const bodyFields = new Set(['prompt', 'suffix'])

function readRequest(body: JsonObject): ChatRequest {
  const { prompt } = body
  const { model, stream, metadata } = readOptions(body)
  const suffix = stringField(body, 'suffix')
  if (prompt === undefined) throw invalid('prompt', 'missing', 'The field prompt is required.')
  const out = new Collector(names)
  // Null is the API's own word for the start of a document.
  if (prompt !== null) readPrompts(out, prompt, 'prompt')
  if (suffix !== undefined) {
    const prompts = out.parts.map((_, index) => index)
    const end = out.text('user', suffix, '/suffix')
    // The model fills in what stands between each prompt and the suffix.
    for (const index of prompts) out.join([index, end])
  }
  readTokenFields(out, body)
  out.rest('parameter', body, '', bodyFields)
  return { model, stream, metadata, parts: out.parts, joined: out.joined, media: out.media, session: undefined }
}

const replyFields = new Set(['choices'])

function readReply(body: JsonObject): ChatReply | undefined {
  if (!Array.isArray(body.choices)) return undefined
  const out = new Collector(names)
  for (const [i, choice] of body.choices.entries()) {
    if (!isObject(choice)) return undefined
    readFields(choiceFields, choice, `/choices/${i}`, out, walked(out, 'assistant'))
  }
  out.rest('parameter', body, '', replyFields)
  return out
}

const { turn, turnStream, filtered, filteredStream } = writeChoices({
  idPrefix: 'cmpl-',
  object: 'text_completion',
  chunkObject: 'text_completion',
  // The API knows no refusal: in a turn of its own the text is the sentence, behind a text of the model's it is not.
  saying: (sentence) => ({ text: sentence }),
  increments: (sentence) => [{ text: sentence }],
  withheld: (sentence) => ({ text: '', refusal: sentence }),
  withheldIncrements: (sentence) => [{ text: '', refusal: sentence }],
  nothing: { text: '' }
})

export const openaiCompletions: Dialect = {
  ...family,
  id: 'openai-completions',
  suffix: '',
  paths: ['/v1/completions'],
  readRequest,
  readReply,
  openStream: () => new HeldStream(new ChoicesStreamShape(filteredStream)),
  offender: offenderBy(/^\/prompt\/\d+/, names),
  turn,
  turnStream,
  filtered,
  forgetTokens
}
