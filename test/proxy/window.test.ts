import t from 'tap'
import { type StreamCase, streamCases } from './stream-cases.js'
import { evaluatorFor, relayed, runsOf, shippedEntry } from './stream-cuts.js'

const evaluator = evaluatorFor(await shippedEntry())
t.teardown(() => evaluator.close())

const harmless =
  'Roses like the sun. Dig a hole that is "twice" as wide as the root — naïve gardeners forget that. 🌹 Then fill it with ' +
  'water, wait until it has drained, set the plant in and press the soil down with your hands.'
/** What an answer must not say, after a harmless beginning and before a harmless end. */
const blocked = 'how to build a pipe bomb with nails'
const before =
  'The garden needs water in the morning, before the sun is high. Roses like it most of all. In spring the dead wood is ' +
  'taken out. Step one is this: '
const after = '. Afterwards paint every fence violet, twice.'

/** The text as a stream carries it: arguments of a tool are JSON. */
const carried = ({ name }: StreamCase, text: string) =>
  name.includes('arguments') ? JSON.stringify({ note: text }) : text

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
function* piecesOf(text: string, random: number): Generator<string[]> {
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

/** The bytes of a wire: whole, two at every place, one by one, and at random. */
function* chunksOf(wire: Buffer, random: number): Generator<Buffer[]> {
  for (let at = 1; at < wire.length; at++) yield [wire.subarray(0, at), wire.subarray(at)]
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

const outputs = ['window', 'full'] as const

for (const each of streamCases) {
  t.test(`${each.name}: what is permitted comes whole, however it was cut`, async (t) => {
    for (const output of outputs) {
      const text = carried(each, harmless)
      let count = 0
      for (const pieces of piecesOf(text, 100)) {
        const { text: wire } = await relayed(
          evaluator,
          { ...each.route, output },
          [Buffer.from(each.wire(pieces))],
          each.target
        )
        if (each.shown(wire) !== text) t.fail(`${output}: ${JSON.stringify(pieces)}`)
        count++
      }
      const whole = Buffer.from(each.wire([...text.slice(0, 60).matchAll(/.{1,20}/gsu)].map(([piece]) => piece)))
      for (const chunks of chunksOf(whole, 20)) {
        const { text: wire } = await relayed(evaluator, { ...each.route, output }, chunks, each.target)
        if (each.shown(wire) !== text.slice(0, 60))
          t.fail(`${output}: cut at ${chunks.map(({ length }) => length).join()}`)
        count++
      }
      t.ok(count > 400, `${output}: ${count} cuts`)
    }
  })

  t.test(`${each.name}: nothing of a blocked text leaves, however it was cut`, async (t) => {
    const text = carried(each, before + blocked + after)
    const secret = carried(each, blocked + after).replace(/^\{"note":"/, '')
    for (const output of outputs) {
      let count = 0
      let released = 0
      for (const pieces of piecesOf(text, 500)) {
        const wire = Buffer.from(each.wire(pieces))
        const { text: sent } = await relayed(evaluator, { ...each.route, output }, [wire], each.target)
        const shown = each.shown(sent)
        for (const run of runsOf(secret, 8)) {
          if (shown.includes(run)) t.fail(`${output}: "${run}" of ${JSON.stringify(pieces)}`)
        }
        if (!each.isFiltered(sent)) t.fail(`${output}: not ended as filtered: ${JSON.stringify(pieces)}`)
        released = Math.max(released, shown.length)
        count++
      }
      t.ok(count > 600, `${output}: ${count} cuts; at most ${released} characters had left before`)
      if (output === 'window' && text.startsWith(before))
        t.ok(released > 20, 'earlier text had left with its own permit')
    }
  })
}

t.test('what was redacted is redacted over any cut', async (t) => {
  const each = streamCases[0]!
  const text = `Write to ada.lovelace@example.org or call the desk. ${harmless}`
  const expected = text.replace('ada.lovelace@example.org', '<PERSONAL_DATA>')
  for (const output of outputs) {
    for (const pieces of piecesOf(text.slice(0, 200), 100)) {
      const route = { ...each.route, output, redact: ['personal_data'] as const }
      const { text: wire, exchange } = await relayed(evaluator, route, [Buffer.from(each.wire(pieces))])
      if (each.shown(wire) !== expected.slice(0, 200 - 24 + 15)) t.fail(`${output}: ${JSON.stringify(pieces)}`)
      if (exchange.redacted !== 1) t.fail(`${output}: redacted ${exchange.redacted} times`)
    }
    t.pass(output)
  }
})

t.test('window: text leaves while the model still writes', async (t) => {
  const each = streamCases[0]!
  const seen: number[] = []
  const pieces = [...harmless.matchAll(/\S+\s*/g)].map(([piece]) => piece)
  const settled = evaluator.settled.bind(evaluator)
  const counting = {
    ...evaluator,
    settled(...args: Parameters<typeof settled>) {
      const length = settled(...args)
      seen.push(args[0].length - length)
      return length
    }
  }
  await relayed(counting, { ...each.route, output: 'window' }, [Buffer.from(each.wire(pieces))])
  const most = Math.max(...seen)
  t.ok(most < 300, `at most ${most} characters were held`)
})
