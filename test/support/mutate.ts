/** Ways to make a valid input odd: of JSON values, and of bytes. */
import fc from 'fast-check'

type Value = unknown

const odd: readonly Value[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  '',
  ' ',
  'x',
  '\u0000',
  '\ud800',
  '😀',
  '__proto__',
  'constructor',
  '/',
  '~1',
  [],
  {},
  [[]],
  [null],
  [[['x']]],
  { a: null },
  { type: 'text' },
  { type: 'text', text: 5 },
  { '': '' },
  { length: 5 },
  { text: { text: 'x' } }
]

/** Every place of a value, as a path. */
function placesOf(value: Value, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, each]) => placesOf(each, [...path, key]))]
}

function withAt(value: Value, path: readonly (string | number)[], change: (old: Value) => Value): Value {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  const copy: Record<string, Value> | Value[] = Array.isArray(value) ? [...value] : { ...(value as object) }
  ;(copy as Record<string, Value>)[key] = withAt((value as Record<string, Value>)[key], rest, change)
  return copy
}

/** A value with up to four of its places changed: replaced, wrapped, doubled, emptied, or with something beside it. */
export function mutated(seeds: readonly Value[]): fc.Arbitrary<Value> {
  const step = fc.record({
    at: fc.nat(),
    how: fc.nat(5),
    by: fc.oneof(fc.constantFrom(...odd), fc.jsonValue({ maxDepth: 2 }))
  })
  return fc.tuple(fc.constantFrom(...seeds), fc.array(step, { maxLength: 4 })).map(([seed, steps]) =>
    steps.reduce((value, { at, how, by }) => {
      const places = placesOf(value)
      return withAt(value, places[at % places.length]!, (old) => {
        if (how === 1) return [old]
        if (how === 2) return Array.isArray(old) ? [...old, by] : { text: old }
        if (how === 3 && typeof old === 'object' && old !== null && !Array.isArray(old))
          return { ...old, [typeof by === 'string' ? by : 'content']: by }
        if (how === 4) return Array.isArray(old) ? [...old, ...old] : old
        return by
      })
    }, seed)
  )
}

/** Bytes of a seed with pieces taken out, put in, doubled or turned; or any bytes at all. */
export function mutatedBytes(seeds: readonly (string | Buffer)[], pieces: readonly string[]): fc.Arbitrary<Buffer> {
  const piece = fc.oneof(
    fc.constantFrom(...pieces).map((each) => Buffer.from(each)),
    fc.uint8Array({ maxLength: 4 }).map((each) => Buffer.from(each))
  )
  const edit = fc.record({ at: fc.nat(), length: fc.nat(8), by: piece, doubled: fc.boolean() })
  const fromSeed = fc.tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 5 })).map(([seed, edits]) =>
    edits.reduce((bytes, { at, length, by, doubled }) => {
      const from = at % (bytes.length + 1)
      const gone = bytes.subarray(from, from + length)
      return Buffer.concat([
        bytes.subarray(0, from),
        by,
        doubled ? Buffer.concat([gone, gone]) : Buffer.alloc(0),
        bytes.subarray(from + length)
      ])
    }, Buffer.from(seed))
  )
  const fromPieces = fc.array(piece, { maxLength: 20 }).map((each) => Buffer.concat(each))
  return fc.oneof(
    { weight: 3, arbitrary: fromSeed },
    { weight: 2, arbitrary: fromPieces },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((each) => Buffer.from(each)) }
  )
}
