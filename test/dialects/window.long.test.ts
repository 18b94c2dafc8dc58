/** The suites of the dialects over every cut of their streams; `npm test` tries a share of the cuts. */
import { tryEveryCut } from './window-suite.js'

tryEveryCut()
for (const dialect of ['anthropic', 'cohere', 'gemini', 'ollama', 'openai-chat', 'openai-responses'])
  await import(`./${dialect}.test.js`)
