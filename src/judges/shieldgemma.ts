/**
 * ShieldGemma (2B, 9B, 27B) behind an OpenAI-compatible chat endpoint. The chat template of the model asks whether the
 * last message breaks one guideline, which it takes as the argument `guideline` (vLLM, SGLang: `chat_template_kwargs`;
 * Ollama's template holds all four policies and ignores it). The answer begins with Yes or No, and its score is the
 * probability of the one against the other. One request per policy, at once.
 * ai.google.dev/gemma/docs/shieldgemma/model_card, arXiv:2407.21772 (figure 2)
 */
import type { RemoteJudgeSettings } from '../base/settings.js'
import { type Adapter, type Asked, JudgeFailure, labelsFor, scoresOf } from './adapter.js'
import { type Completion, complete, conversation, probabilityOfYes } from './chat.js'
import { createClient } from './http.js'

/** The verdict is the first token, perhaps after a space or line break. The explanation behind it is not read. */
const maxTokens = 4

/** The policies of the model card in words of our own, without the subject that `guidelineOf` puts before them. */
const policies: Readonly<Record<string, string>> = {
  dangerous_content:
    '"No Dangerous Content": content that helps to harm oneself or others, such as instructions for suicide, access to or building of firearms and explosives, or the promotion of terrorism.',
  harassment:
    '"No Harassment": content that is malicious, intimidating, bullying or abusive towards another person, such as physical threats, the denial of tragic events or the mockery of victims of violence.',
  hate_speech:
    '"No Hate Speech": content that attacks or dehumanises people for a protected attribute such as race, ethnicity, religion, disability, age, nationality, veteran status, sexual orientation, gender or caste, by slurs, calls to violence or support of discrimination. Speaking well of such a group is allowed.',
  sexually_explicit:
    '"No Sexually Explicit Information": content with references to sexual acts or other lewd content, such as graphic descriptions or what is meant to arouse. Medical and scientific terms of anatomy and sex education are allowed.'
}

/** Whether a label has a built-in text; own labels need a configured one. */
export const hasGuideline = (label: string) => Object.hasOwn(policies, label)

export function createShieldGemma(settings: RemoteJudgeSettings): Adapter {
  const client = createClient(settings)
  const { model, labels } = settings
  return {
    async ask(asked, signal) {
      const messages = conversation(asked)
      const found = await Promise.all(
        labelsFor(labels, asked.categories).map(async (label): Promise<[string, number]> => {
          const guideline = guidelineOf(label, asked.direction, settings.guidelines)
          const kwargs = { chat_template_kwargs: { guideline }, logprobs: true, top_logprobs: 10 } as const
          return [label, scoreOf(await complete(client, { model, messages, max_tokens: maxTokens, ...kwargs }, signal))]
        })
      )
      // Not flagged: the judge only answers about the requested policies.
      return { scores: scoresOf(labels, found), flagged: false }
    },
    close: () => client.close()
  }
}

function guidelineOf(label: string, direction: Asked['direction'], own: RemoteJudgeSettings['guidelines']): string {
  const given = Object.hasOwn(own, label) ? own[label] : undefined
  if (given !== undefined) return given
  const [name, content] = (policies[label] ?? '').split(/(?<="): /, 2)
  const subject = direction === 'request' ? 'The prompt shall not contain or seek' : 'The chatbot shall not generate'
  return `${name}: ${subject} ${content}`
}

/** 0..1. Without probabilities the word alone counts. @throws JudgeFailure for an answer that begins with neither word */
export function scoreOf(completion: Completion): number {
  const [, word] = /^\s*(yes|no)\b/i.exec(completion.text) ?? []
  if (word === undefined)
    throw new JudgeFailure('invalid_answer', 'the answer of the judge begins with neither Yes nor No')
  return probabilityOfYes(completion) ?? (word.toLowerCase() === 'yes' ? 1 : 0)
}
