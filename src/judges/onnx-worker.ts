/** The thread's side of `onnx.ts`: loads the model once, classifies texts. */
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { workerData } from 'node:worker_threads'
import type { Tokenizer } from '@huggingface/tokenizers'
import type * as Runtime from 'onnxruntime-node'
import { windowsOf } from './windows.js'

export interface OnnxThreadData {
  model: string
  tokenizer: string
  outputs: string[]
  activation: 'softmax' | 'sigmoid'
  maxTokens: number
  overlap: number
}

export interface OnnxTask {
  texts: string[]
  /** Deadline, wall time in ms. */
  until: number
}

const settings = workerData as OnnxThreadData
let loading: Promise<Classify> | undefined

/** @returns the score of each label, the worst of all texts and windows; undefined after the deadline */
export default async function classify({ texts, until }: OnnxTask): Promise<number[]> {
  loading ??= load(settings)
  const classifyWindow = await loading
  return classifyWindow(texts, until)
}

type Classify = (texts: readonly string[], until: number) => Promise<number[]>

async function load({ model, tokenizer, outputs, activation, maxTokens, overlap }: OnnxThreadData): Promise<Classify> {
  const { default: runtime } = await import('onnxruntime-node')
  const { Tokenizer } = await import('@huggingface/tokenizers')
  const encoder = new Tokenizer(JSON.parse(await readFile(tokenizer, 'utf8')) as object, {})
  const { before, after } = specialTokens(encoder)
  const size = maxTokens - before.length - after.length
  if (size <= overlap)
    throw new Error(`max_tokens leaves ${size} tokens for text, which must be more than overlap (${overlap})`)
  const session = await runtime.InferenceSession.create(model, {
    // One thread less than the machine has, at most four, which leaves room for the gateway.
    intraOpNumThreads: Math.max(1, Math.min(4, availableParallelism() - 1)),
    logSeverityLevel: 3
  })
  const feed = feeds(session, runtime)
  const output = session.outputNames.includes('logits') ? 'logits' : session.outputNames[0]!
  const activate = activation === 'softmax' ? softmax : sigmoid

  return async (texts, until) => {
    const worst = new Array<number>(outputs.length).fill(0)
    for (const text of texts) {
      for (const window of windowsOf(encoder.encode(text, { add_special_tokens: false }).ids, size, overlap)) {
        if (Date.now() > until) return []
        const logits = (await session.run(feed([...before, ...window, ...after])))[output]
        const row = Array.from(logits?.data ?? [], Number)
        if (row.length !== outputs.length || !row.every(Number.isFinite)) {
          throw new Error(`the model gives ${row.length} outputs where labels names ${outputs.length}`)
        }
        for (const [i, score] of activate(row).entries()) worst[i] = Math.max(worst[i]!, score)
      }
    }
    return worst
  }
}

/** The special tokens around a text, such as [CLS] and [SEP], found by tokenizing a sample. */
function specialTokens(tokenizer: Tokenizer): { before: number[]; after: number[] } {
  const text: number[] = tokenizer.encode('a', { add_special_tokens: false }).ids
  const whole: number[] = tokenizer.encode('a').ids
  const start = whole.findIndex((_, i) => text.every((id, j) => whole[i + j] === id))
  if (start < 0) return { before: [], after: [] }
  return { before: whole.slice(0, start), after: whole.slice(start + text.length) }
}

/** The inputs that exported transformers take. @throws an Error that names any other */
function feeds(
  session: Runtime.InferenceSession,
  { Tensor }: Pick<typeof Runtime, 'Tensor'>
): (ids: readonly number[]) => Record<string, Runtime.Tensor> {
  const values: Record<string, (ids: readonly number[]) => readonly number[]> = {
    input_ids: (ids) => ids,
    attention_mask: (ids) => ids.map(() => 1),
    token_type_ids: (ids) => ids.map(() => 0)
  }
  const unknown = session.inputNames.find((name) => !Object.hasOwn(values, name))
  if (unknown !== undefined)
    throw new Error(`the model has an input "${unknown}" (known: ${Object.keys(values).join(', ')})`)
  return (ids) =>
    Object.fromEntries(
      session.inputNames.map((name, i) => {
        const list = values[name]!(ids)
        const known = session.inputMetadata[i]
        const tensor =
          known?.isTensor && known.type === 'int32'
            ? new Tensor('int32', Int32Array.from(list), [1, list.length])
            : new Tensor('int64', BigInt64Array.from(list, BigInt), [1, list.length])
        return [name, tensor]
      })
    )
}

function softmax(row: readonly number[]): number[] {
  const most = Math.max(...row)
  const exponents = row.map((value) => Math.exp(value - most))
  const sum = exponents.reduce((total, value) => total + value, 0)
  return exponents.map((value) => value / sum)
}

function sigmoid(row: readonly number[]): number[] {
  return row.map((value) => 1 / (1 + Math.exp(-value)))
}
