/** What `output: window` and `full` promise of every dialect's streams, under the shipped constitution and over the cuts of a stream. */
import type { Test } from 'tap'
import type { DialectId } from '../../src/base/settings.js'
import type { Dialect, Target } from '../../src/dialects/dialect.js'
import { fillPath } from '../../src/dialects/path.js'
import { encodingOf, mediaTypes } from '../../src/proxy/headers.js'
import { evaluatorFor, relayed, runsOf, shippedEntry } from '../proxy/stream-cuts.js'
import type { StreamCase } from './dialect-suite.js'

const harmless =
  'Roses like the sun. Dig a hole that is “twice” as wide as the root — naïve gardeners forget that. 🌹 Then fill it with ' +
  'water, wait until it has drained, set the plant in and press the soil down with your hands.'
/** What an answer must not say, after a harmless beginning and before a harmless end. */
const blocked = 'how to build a pipe bomb with nails'
const before =
  'The garden needs water in the morning, before the sun is high. Roses like it most of all. In spring the dead wood is ' +
  'taken out. Step one is this: '
const after = '. Afterwards paint every fence violet, twice.'
/** What completions, which have no place of their own for a refusal, say in the text itself. */
const withheld = "I'm sorry, but I can't give you an answer to this."
/** Characters of a blocked text that may not leave in a row. */
const leakLength = 8

const outputs = ['window', 'full'] as const

/** One cut of so many is tried, until `tryEveryCut`. */
let share = 16

/** For `test/dialects/window.long.test.ts`. */
export function tryEveryCut(): void {
  share = 1
}

export function windowSuite(
  t: Test,
  operation: Dialect,
  target: Target,
  { spell, channels, assemble, filteredFinish }: StreamCase
): void {
  const path = fillPath(operation.paths[0]!, target.params)
  const type = mediaTypes[operation.framing(target)].received
  /** Each event as a chunk of its own: what comes together is judged together. */
  const wireOf = (pieces: readonly string[]) => {
    const held = operation.openStream(target)
    const chunks = spell(pieces).map((event) => {
      held.push(event)
      return held.release(undefined, []).frames
    })
    return [...chunks, held.end()].map((chunk) => Buffer.from(chunk, encodingOf(operation.framing(target))))
  }

  t.test('through the funnel, over the cuts of a stream', async (t) => {
    const evaluator = evaluatorFor(await shippedEntry())
    t.teardown(() => evaluator.close())
    const relay = async (chunks: readonly Buffer[], output: (typeof outputs)[number]) => {
      const route = { dialect: operation.id as DialectId, path, upstreamPath: path, output }
      return (await relayed(evaluator, route, chunks, { ...target, type })).text
    }

    t.test('what is permitted comes whole', async (t) => {
      for (const output of outputs) {
        let count = 0
        let turn = 0
        const check = async (chunks: readonly Buffer[], text: string, what: string) => {
          if (turn++ % share !== 0) return
          count++
          const { texts, finish } = assemble(await relay(chunks, output))
          if (finish === filteredFinish || channels.some((pointer) => texts[pointer] !== text))
            t.fail(`${output}: ${what}`)
        }
        for (const pieces of piecesOf(harmless, output === 'window' ? 500 : 20)) {
          await check(wireOf(pieces), harmless, JSON.stringify(pieces))
        }
        const short = harmless.slice(0, 24)
        for (const chunks of chunksOf(Buffer.concat(wireOf([short])), 20)) {
          await check(chunks, short, `cut at ${chunks.map(({ length }) => length).join()}`)
        }
        t.ok(count > 200 / share, `${output}: ${count} cuts`)
      }
    })

    t.test('nothing of a blocked text leaves', async (t) => {
      for (const output of outputs) {
        let count = 0
        let left = 0
        let turn = 0
        for (const pieces of piecesOf(before + blocked + after, output === 'window' ? 500 : 20)) {
          if (turn++ % share !== 0) continue
          count++
          const { texts, finish } = assemble(await relay(wireOf(pieces), output))
          const shown = channels
            .map((pointer) => texts[pointer] ?? '')
            .join('\n')
            .replace(withheld, '')
          const leaked = [...runsOf(blocked + after, leakLength)].find((run) => shown.includes(run))
          if (leaked !== undefined) t.fail(`${output}: "${leaked}" of ${JSON.stringify(pieces)}`)
          if (finish !== filteredFinish) t.fail(`${output}: ended as ${finish}: ${JSON.stringify(pieces)}`)
          left = Math.max(left, shown.trim().length)
        }
        t.ok(count > 200 / share, `${output}: ${count} cuts; at most ${left} characters had left`)
        if (output === 'window') t.ok(left > 20, 'earlier text had left with its own permit')
        else t.equal(left, 0)
      }
    })
  })
}

/** A generator of the numbers that a test takes for chance, the same in each run (mulberry32). */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Pieces of a text: two, at every place; one a character; and at random. A surrogate pair is one character. */
export function* piecesOf(text: string, random: number): Generator<string[]> {
  const characters = [...text]
  for (let at = 1; at < characters.length; at++) {
    yield [characters.slice(0, at).join(''), characters.slice(at).join('')]
  }
  yield characters
  const next = chance(text.length)
  for (let i = 0; i < random; i++) {
    const pieces: string[] = []
    for (let at = 0; at < characters.length; ) {
      const length = 1 + Math.floor(next() * 2 ** (1 + Math.floor(next() * 6)))
      pieces.push(characters.slice(at, at + length).join(''))
      at += length
    }
    yield pieces
  }
}

/** The bytes of a wire one by one, and in chunks of any length. What the wire's reader makes of two is a test of its own. */
function* chunksOf(wire: Buffer, random: number): Generator<Buffer[]> {
  yield Array.from(wire, (_, i) => wire.subarray(i, i + 1))
  const next = chance(wire.length)
  for (let i = 0; i < random; i++) {
    const chunks: Buffer[] = []
    for (let at = 0; at < wire.length; ) {
      const length = 1 + Math.floor(next() * 200)
      chunks.push(wire.subarray(at, at + length))
      at += length
    }
    yield chunks
  }
}
