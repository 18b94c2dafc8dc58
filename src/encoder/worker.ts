/** A thread of `threads.ts`: cuts texts and scores windows, one at a time. Any failure after the start ends it. */
import { readFile } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { InferenceSession } from 'onnxruntime-node'
import { cutBriefly } from './brief.js'
import { readPieces } from './pieces.js'
import { cutsOffHere } from './processor.js'
import { marks } from './windows.js'

export interface ThreadData {
  model: string
  tokenizer: string
  /** Number of the model's scores. */
  lanes: number
  /** The model that reads names from the encoder's embeddings, and its number of tags per piece. */
  names: { file: string; tags: number } | undefined
}

/** A part of a text to cut, or the numbers of a framed window to score. */
export type Task = { cut: string; continues: boolean } | { ids: BigInt64Array; names?: boolean }
export type Outcome =
  | { ids: Int32Array<ArrayBuffer>; starts: Uint32Array<ArrayBuffer> }
  /** `tags`: by piece without the marks, where names were asked for. */
  | { logits: Float32Array; tags: Float32Array | undefined; ms: number }
/** The first word of a thread. `file`: the fault of a file; `runtime`: why the library does not run here. */
export type Greeting = { ready: true } | { file: string } | { runtime: string }

const port = parentPort!
const data = workerData as ThreadData
const say = (greeting: Greeting) => port.postMessage(greeting)

async function start(): Promise<void> {
  let pieces: ReturnType<typeof readPieces>
  try {
    pieces = readPieces(await readFile(data.tokenizer, 'utf8'))
  } catch (error) {
    return say({ file: `${data.tokenizer}: ${messageOf(error)}` })
  }
  let score: Score
  try {
    score = await load()
    // The first run allocates the memory of later ones: a thread is ready once it has read a whole window.
    const window = BigInt64Array.from({ length: 128 }, (_, i) => BigInt((i * 7919) % pieces.size))
    const { logits } = await score(window, false)
    if (logits.length !== data.lanes)
      return say({ file: `${data.model}: gives ${logits.length} scores where the manifest has ${data.lanes} lanes` })
  } catch (error) {
    return say({ runtime: messageOf(error) })
  }
  port.on('message', async (task: Task) => {
    if ('cut' in task) {
      const { ids, starts } = cutBriefly(pieces, task.cut, task.continues)
      return port.postMessage({ ids, starts } satisfies Outcome, [ids.buffer, starts.buffer])
    }
    const started = performance.now()
    const { logits, tags } = await score(task.ids, task.names === true)
    port.postMessage({ logits, tags, ms: performance.now() - started } satisfies Outcome)
  })
  say({ ready: true })
}

type Score = (ids: BigInt64Array, names: boolean) => Promise<{ logits: Float32Array; tags: Float32Array | undefined }>

async function load(): Promise<Score> {
  const { default: runtime } = await import('onnxruntime-node')
  const options: InferenceSession.SessionOptions = {
    // One thread keeps the order of sums fixed, so that a text always scores the same.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // One score on every processor: where 8-bit products would be cut off at 16 bits, the kernel that does not cut them off is
    // used, which takes a seventh more time there, and nearly twice the time elsewhere. It needs `extended`, of which the fusion
    // of sums and norms is left out: that operator is slower.
    graphOptimizationLevel: 'extended',
    extra: {
      ...((await cutsOffHere()) && { session: { x64quantprecision: '1' } }),
      optimization: { disable_specified_optimizers: 'SkipLayerNormFusion;BiasSkipLayerNormFusion' }
    },
    // Memory is freed after each run; keeping it saves no measurable time.
    enableCpuMemArena: false,
    enableMemPattern: false,
    // Failures are reported by their errors.
    logSeverityLevel: 4
  }
  const session = await runtime.InferenceSession.create(data.model, options)
  /** Opened on first use: most threads never need it. */
  let reader: Promise<InferenceSession> | undefined
  return async (ids, isAskedForNames) => {
    const input = new runtime.Tensor('int64', ids, [1, ids.length])
    // Only requested outputs are copied from the library.
    const { scores, word } = await session.run({ input_ids: input }, isAskedForNames ? ['scores', 'word'] : ['scores'])
    const logits = Float32Array.from(scores!.data as Float32Array)
    if (!isAskedForNames) return { logits, tags: undefined }
    const { file, tags: count } = data.names!
    reader ??= runtime.InferenceSession.create(file, options)
    const { names } = await (await reader).run({ word: word! })
    const tags = Float32Array.from(names!.data as Float32Array)
    if (tags.length !== count * (ids.length - marks))
      throw new Error(`${file}: gives ${tags.length} numbers for ${ids.length - marks} pieces of ${count} tags`)
    return { logits, tags }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

await start()
