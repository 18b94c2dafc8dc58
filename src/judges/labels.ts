/** Default mapping of each judge's labels to our categories. */

import type { JudgeSettings, JudgeType } from '../base/settings.js'
import type { Coverage } from '../policy/escalate/judges.js'
import { type Category, categories } from '../policy/evaluation.js'
import type { Labels } from './adapter.js'

export const publishedLabels: Readonly<Record<JudgeType, Labels>> = {
  // platform.openai.com/docs/guides/moderation, "Content classifications".
  'openai-moderation': {
    harassment: ['harassment'],
    'harassment/threatening': ['harassment', 'violence'],
    hate: ['hate'],
    'hate/threatening': ['hate', 'violence'],
    illicit: ['illicit', 'cyber_misuse'],
    'illicit/violent': ['illicit', 'weapons'],
    'self-harm': ['self_harm'],
    'self-harm/intent': ['self_harm'],
    'self-harm/instructions': ['self_harm'],
    sexual: ['sexual'],
    'sexual/minors': ['sexual_minors'],
    violence: ['violence'],
    'violence/graphic': ['violence']
  },
  // The hazards of the model cards of Llama Guard 3 and 4, which are MLCommons' and code interpreter abuse. Defamation
  // (S5), specialized advice (S6) and intellectual property (S8) are no concern of a constitution's categories.
  'llama-guard': {
    S1: ['violence'],
    S2: ['illicit', 'cyber_misuse'],
    S3: ['sexual'],
    S4: ['sexual_minors'],
    S5: [],
    S6: [],
    S7: ['personal_data'],
    S8: [],
    S9: ['weapons'],
    S10: ['hate', 'harassment'],
    S11: ['self_harm'],
    S12: ['sexual'],
    S13: ['misinformation'],
    S14: ['cyber_misuse']
  },
  // The four policies of ShieldGemma's model card (arXiv:2407.21772).
  shieldgemma: {
    dangerous_content: ['violence', 'self_harm', 'weapons'],
    harassment: ['harassment'],
    hate_speech: ['hate'],
    sexually_explicit: ['sexual', 'sexual_minors']
  },
  // The harms of Granite Guardian's model cards (arXiv:2412.07724); `harm` is its umbrella.
  'granite-guardian': {
    harm: ['harassment', 'self_harm', 'weapons'],
    social_bias: ['hate'],
    jailbreak: ['jailbreak', 'prompt_injection'],
    violence: ['violence', 'weapons'],
    profanity: ['profanity'],
    sexual_content: ['sexual', 'sexual_minors'],
    unethical_behavior: ['illicit', 'cyber_misuse']
  },
  // Its labels are our categories: it reads the constitution's words about each.
  'gpt-oss-safeguard': Object.fromEntries(categories.map((category) => [category, [category]])),
  // The labels of a classifier depend on its training.
  onnx: {}
}

/** The categories that each configured judge covers, from the configuration alone. */
export function coverageOf(judges: Readonly<Record<string, Pick<JudgeSettings, 'labels'>>>): Coverage {
  return Object.fromEntries(
    Object.entries(judges).map(([name, { labels }]) => [name, [...new Set<Category>(Object.values(labels).flat())]])
  )
}
