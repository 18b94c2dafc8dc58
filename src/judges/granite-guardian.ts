/**
 * Granite Guardian behind an OpenAI-compatible chat endpoint. The chat template of the model has the definition of each
 * risk, selected by `guardian_config` (vLLM: `chat_template_kwargs`, with `risk_name` up to 3.2 and `criteria_id` from
 * 3.3 on; both are sent), or by a system message that is its name (Ollama's templates, 4.1 included). One request per
 * risk, at once. Answers: `Yes` or `No` (3.0, 3.1), the same with `<confidence>` (3.2), `<score> yes </score>` with an
 * empty `<think>` before it (from 3.3 on, asked not to think). github.com/ibm-granite/granite-guardian and the model
 * cards, arXiv:2412.07724
 */
import type { JsonObject } from '../base/chat.js'
import type { RemoteJudgeSettings } from '../base/settings.js'
import { type Adapter, JudgeFailure, labelsFor, scoresOf } from './adapter.js'
import { type ChatAsk, type Completion, complete, conversation, probabilityOfYes } from './chat.js'
import { createClient } from './http.js'

/** The longest form, `<think>\n</think>\n<score> yes </score>`, takes some twenty. */
const maxTokens = 48

export function createGraniteGuardian(settings: RemoteJudgeSettings): Adapter {
  const client = createClient(settings)
  const { model, labels, criteria } = settings
  return {
    async ask(asked, signal) {
      const messages = conversation(asked)
      const found = await Promise.all(
        labelsFor(labels, asked.categories).map(async (risk): Promise<[string, number]> => {
          const ask = {
            model,
            max_tokens: maxTokens,
            logprobs: true,
            top_logprobs: 10,
            ...naming(risk, messages, criteria)
          } as const
          return [risk, scoreOf(await complete(client, ask, signal))]
        })
      )
      return { scores: scoresOf(labels, found), flagged: false }
    },
    close: () => client.close()
  }
}

function naming(
  risk: string,
  messages: JsonObject[],
  criteria: RemoteJudgeSettings['criteria']
): Pick<ChatAsk, 'messages' | 'chat_template_kwargs'> {
  if (criteria === 'system') return { messages: [{ role: 'system', content: risk }, ...messages] }
  const guardian_config = { risk_name: risk, criteria_id: risk }
  return { messages, chat_template_kwargs: { guardian_config, think: false } }
}

const scored = /^<score>\s*(yes|no)\s*<\/score>$/i
const plain = /^(yes|no)(?:\s*<confidence>\s*(?:high|low)\s*<\/confidence>)?$/i

/** 0..1. Without probabilities the word alone counts. @throws JudgeFailure for anything but the published forms */
export function scoreOf(completion: Completion): number {
  if (completion.finish !== 'stop') throw new JudgeFailure('invalid_answer', 'the answer of the judge was cut')
  const answer = completion.text.trim().replace(/^<think>[\s\S]*?<\/think>\s*/, '')
  const [, word] = scored.exec(answer) ?? plain.exec(answer) ?? []
  if (word === undefined) throw new JudgeFailure('invalid_answer', 'the answer of the judge is neither yes nor no')
  const after = answer.startsWith('<') ? '<score>' : ''
  return probabilityOfYes(completion, after) ?? (word.toLowerCase() === 'yes' ? 1 : 0)
}
