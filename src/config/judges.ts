/** Compiles the judges: fills in defaults, resolves files, and refuses keys that their type does not use. */
import { accessSync } from 'node:fs'
import { resolve } from 'node:path'
import type { JudgeCommon, JudgeSettings, JudgeType, OnnxJudgeSettings, RemoteJudgeSettings } from '../base/settings.js'
import { parseDuration } from '../base/units.js'
import { publishedLabels } from '../judges/labels.js'
import { hasGuideline } from '../judges/shieldgemma.js'
import { errorCode } from './file.js'
import type { Fail } from './problem.js'
import type { FileConfig, FileJudge } from './schema.js'
import { readTls } from './upstreams.js'

/** Keys that not every type takes, each with the types that do. */
const remote: readonly JudgeType[] = [
  'openai-moderation',
  'llama-guard',
  'shieldgemma',
  'granite-guardian',
  'gpt-oss-safeguard'
]
const takenBy = {
  base_url: remote,
  api_key: remote,
  tls: remote,
  guidelines: ['shieldgemma'],
  criteria: ['granite-guardian'],
  reasoning: ['gpt-oss-safeguard'],
  sees: ['openai-moderation', 'llama-guard'],
  tokenizer: ['onnx'],
  labels: ['onnx'],
  activation: ['onnx'],
  max_tokens: ['onnx'],
  overlap: ['onnx']
} as const satisfies Partial<Record<keyof FileJudge, readonly JudgeType[]>>

export function compileJudges(file: FileConfig, folder: string, fail: Fail): Record<string, JudgeSettings> {
  return Object.fromEntries(
    Object.entries(file.judges ?? {}).map(([name, judge]) => {
      const at: Fail = (path, reason) => fail(['judges', name, ...path], reason)
      for (const [key, types] of Object.entries(takenBy)) {
        if (judge[key as keyof FileJudge] !== undefined && !(types as readonly string[]).includes(judge.type)) {
          at([key], `has no effect with the type ${judge.type} (only with ${types.join(', ')})`)
        }
      }
      const common = compileCommon(name, judge, at)
      return [name, judge.type === 'onnx' ? onnx(common, judge, folder, at) : overHttp(common, judge, folder, fail, at)]
    })
  )
}

function compileCommon(name: string, judge: FileJudge, at: Fail): JudgeCommon {
  // Longer defaults for a model that reasons before it answers.
  const {
    timeout = judge.type === 'gpt-oss-safeguard' ? '15s' : '2s',
    cache = {},
    breaker = {},
    thresholds = {}
  } = judge
  const unsafe = thresholds.unsafe ?? 0.5
  const safe = thresholds.safe ?? Math.min(0.2, unsafe)
  if (safe > unsafe || unsafe === 0) at(['thresholds'], 'must have safe at most as high as unsafe, and unsafe above 0')
  const ms = (text: string) => parseDuration(text) as number
  return {
    name,
    labels: labelsOf(judge, at),
    thresholds: { unsafe, safe },
    timeoutMs: ms(timeout),
    maxConcurrent: judge.max_concurrent ?? 8,
    maxChars: judge.max_chars ?? 16_000,
    cache: { size: cache.size ?? 1000, ttlMs: ms(cache.ttl ?? '10m') },
    breaker: { failures: breaker.failures ?? 5, openMs: ms(breaker.open_for ?? '30s') }
  }
}

/** The published labels, overridden by the file. */
function labelsOf(judge: FileJudge, at: Fail): JudgeCommon['labels'] {
  const published = publishedLabels[judge.type]
  const given = judge.categories ?? {}
  const known = judge.type === 'onnx' ? judge.labels : Object.keys(published)
  for (const label of Object.keys(given)) {
    // Criteria of these two types are free texts, so own labels are possible.
    const isOwn =
      (judge.type === 'shieldgemma' && Object.hasOwn(judge.guidelines ?? {}, label)) ||
      judge.type === 'granite-guardian'
    if (!isOwn && known !== undefined && !known.includes(label)) {
      at(['categories', label], `is no label of this judge (${known.join(', ')})`)
    }
  }
  if (judge.type === 'onnx' && Object.values(given).flat().length === 0) {
    at(['categories'], 'is missing: without it no label stands for any category')
  }
  for (const label of Object.keys(judge.guidelines ?? {})) {
    if (!hasGuideline(label) && !Object.hasOwn(given, label)) {
      at(['guidelines', label], 'stands for no category (name its categories under "categories")')
    }
  }
  return { ...published, ...given }
}

function overHttp(common: JudgeCommon, judge: FileJudge, folder: string, fail: Fail, at: Fail): RemoteJudgeSettings {
  if (judge.base_url === undefined) at(['base_url'], 'is missing')
  return {
    ...common,
    type: judge.type as RemoteJudgeSettings['type'],
    baseUrl: judge.base_url ?? '',
    key: judge.api_key === '' ? undefined : judge.api_key,
    model: judge.model,
    tls: readTls(judge.tls ?? {}, folder, ['judges', common.name, 'tls'], fail),
    guidelines: judge.guidelines ?? {},
    sees: judge.sees ?? false,
    criteria: judge.criteria ?? 'template',
    reasoning: judge.reasoning ?? 'low'
  }
}

function onnx(common: JudgeCommon, judge: FileJudge, folder: string, at: Fail): OnnxJudgeSettings {
  const path = (key: 'model' | 'tokenizer'): string => {
    const file = judge[key]
    if (file === undefined) {
      at([key], 'is missing')
      return ''
    }
    const whole = resolve(folder, file)
    try {
      accessSync(whole)
    } catch (error) {
      at([key], `names a file that cannot be read (${errorCode(error)})`)
    }
    return whole
  }
  const { labels = [], max_tokens: maxTokens = 512, overlap = 64, activation = 'softmax' } = judge
  if (judge.labels === undefined) at(['labels'], 'is missing: the labels of the outputs, in their order')
  if (overlap * 2 > maxTokens) at(['overlap'], 'must be at most half of max_tokens')
  return {
    ...common,
    type: 'onnx',
    model: path('model'),
    tokenizer: path('tokenizer'),
    outputs: labels,
    activation,
    maxTokens,
    overlap
  }
}
