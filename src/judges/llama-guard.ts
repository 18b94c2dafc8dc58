/**
 * Llama Guard 3 and 4 behind an OpenAI-compatible chat endpoint (vLLM, Ollama, and most hosts of it). The chat template of
 * the model wraps the conversation in its task and its list of hazards, so that plain messages are sent; it judges the
 * last one. The answer is `safe`, or `unsafe` and in a second line the codes, separated by commas.
 * llama.com/docs/model-cards-and-prompt-formats/llama-guard-3 and …/llama-guard-4
 */

import type { RemoteJudgeSettings } from '../base/settings.js'
import type { Category } from '../policy/evaluation.js'
import { type Adapter, type Answer, JudgeFailure, type Labels, scoresOf } from './adapter.js'
import { complete, conversation } from './chat.js'
import { createClient } from './http.js'

/** `unsafe` and all fourteen codes take some sixty. */
const maxTokens = 80

export function createLlamaGuard(settings: RemoteJudgeSettings): Adapter {
  const client = createClient(settings)
  return {
    async ask(asked, signal) {
      const messages = conversation(asked)
      const { text, finish } = await complete(
        client,
        { model: settings.model, messages, max_tokens: maxTokens },
        signal
      )
      if (finish !== 'stop') throw new JudgeFailure('invalid_answer', 'the answer of the judge was cut')
      return readVerdict(text, settings.labels, asked.categories)
    },
    close: () => client.close()
  }
}

/**
 * @param asked the categories of which `safe` says that they are clear
 * @throws JudgeFailure for anything but the two forms: an unknown code is an unreadable verdict
 */
export function readVerdict(text: string, labels: Labels, asked: readonly Category[]): Answer {
  const [, verdict, codes] =
    /^\s*(safe|unsafe)(?:[ \t]*\n\s*(S\d{1,2}(?:[ \t]*,[ \t]*S\d{1,2})*))?\s*$/.exec(text) ?? []
  if (verdict === 'safe' && codes === undefined) {
    return { scores: Object.fromEntries(asked.map((category) => [category, 0])), flagged: false }
  }
  if (verdict !== 'unsafe' || codes === undefined) {
    throw new JudgeFailure('invalid_answer', 'the answer of the judge is neither safe nor unsafe with its codes')
  }
  const given = codes.split(',').map((code) => code.trim())
  const unknown = given.find((code) => !Object.hasOwn(labels, code))
  if (unknown !== undefined) throw new JudgeFailure('invalid_answer', 'the judge names a hazard that has no label')
  // The other categories are unknown: 0 does not clear them, since the text is flagged.
  const none = Object.fromEntries(asked.map((category) => [category, 0]))
  return {
    scores: {
      ...none,
      ...scoresOf(
        labels,
        given.map((code) => [code, 1])
      )
    },
    flagged: true
  }
}
