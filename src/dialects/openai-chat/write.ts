/** Turns and filtered ends of chat completions. Shapes: platform.openai.com/docs/api-reference/chat. */
import { writeChoices } from '../openai/choices-write.js'

export const { turn, turnStream, filtered, filteredStream } = writeChoices({
  idPrefix: 'chatcmpl-',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  saying: (sentence, isRefusal) => ({
    message: isRefusal
      ? { role: 'assistant', content: null, refusal: sentence }
      : { role: 'assistant', content: sentence, refusal: null }
  }),
  increments: (sentence, isRefusal) => [
    { delta: { role: 'assistant', content: isRefusal ? null : '' } },
    { delta: isRefusal ? { refusal: sentence } : { content: sentence } }
  ],
  withheld: (sentence) => ({ message: { role: 'assistant', content: null, refusal: sentence } }),
  withheldIncrements: (sentence, begun) => [
    ...(begun ? [] : [{ delta: { role: 'assistant', content: null } }]),
    { delta: { refusal: sentence } }
  ],
  nothing: { delta: {} }
})
