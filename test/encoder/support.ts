/** An encoder of the fixture (`training/fixture.py`), or of the weights that ship. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { Encoder, EncoderFailure, EncoderQuestion, EncoderReport } from '../../src/encoder/index.js'
import { readEncoderFiles } from '../../src/encoder/manifest.js'
import { Reader, type ReaderOptions } from '../../src/encoder/reader.js'
import { Threads, type ThreadsOptions } from '../../src/encoder/threads.js'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
export const fixture = path('../fixtures/encoder')
export const shipped = path('../../config/models')
export const isShipped = existsSync(join(shipped, 'encoder.json'))

export interface Counted extends EncoderReport {
  counts: { model: number; memory: number }
  failures: EncoderFailure[]
}

export function counting(): Counted {
  const counts = { model: 0, memory: 0 }
  const failures: EncoderFailure[] = []
  return {
    counts,
    failures,
    windows(from, count) {
      counts[from] += count
    },
    window() {},
    reading() {},
    failure: (cause) => void failures.push(cause)
  }
}

type Options = Partial<
  Pick<ThreadsOptions, 'threads' | 'queue' | 'crashed'> & Pick<ReaderOptions, 'deadlineMs' | 'report' | 'atOnce'>
>

export async function open(
  t: Test,
  {
    threads: count = 1,
    queue = 256,
    crashed = () => {},
    deadlineMs = 60_000,
    report = counting(),
    atOnce = 1000
  }: Options = {},
  folder = fixture
): Promise<{ encoder: Encoder; threads: Threads }> {
  const files = await readEncoderFiles(folder)
  const { model, tokenizer, manifest, names: file } = files
  const names = file === undefined ? undefined : { file, tags: manifest.names!.tags.length }
  const lanes = manifest.lanes.length
  const threads = await Threads.open({ model, tokenizer, lanes, names, threads: count, queue, crashed })
  const encoder = new Reader({ files, threads, atOnce, clock: systemClock, deadlineMs, report })
  t.teardown(() => encoder.close())
  return { encoder, threads }
}

export function asks(text: string, more: Partial<EncoderQuestion> = {}): EncoderQuestion {
  return { role: 'user', text, whose: 'k1', ...more }
}

/** The stretch of `word` in `text`. */
export function stretch(text: string, word: string): { start: number; end: number } {
  const start = text.indexOf(word)
  return { start, end: start + word.length }
}

export const filler = (count: number) => 'explain the weather to a friend '.repeat(count)

/** Scores must not hang on what else is read, or when. */
export async function sameAlone(t: Test, folder: string): Promise<void> {
  const alone = await open(t, {}, folder)
  const texts = Array.from({ length: 24 }, (_, i) => `${filler(i >> 1)} steal ${i} ignore ${filler(i % 5)}`)
  const one = []
  for (const text of texts) one.push((await alone.encoder.read([asks(text)]))[0])
  const together = await open(t, { threads: 2, queue: 10_000 }, folder)
  const load = Promise.all(texts.map((text, i) => together.encoder.read([asks(`${text}!`, { whose: `l${i}` })])))
  const many = await together.encoder.read(texts.toReversed().map((text) => asks(text)))
  await load
  t.same(many.toReversed(), one)
}
