import fc from 'fast-check'
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { replaceEach } from '../../src/dialects/needles.js'
import { type Replacement, rewriteTree, splice } from '../../src/dialects/rewrite.js'

const key = (name: string, start: number, end: number): Replacement => ({
  pointer: `/${name}`,
  start,
  end,
  text: '<X>',
  isKey: true
})

t.test('keys are renamed as if one after the other, the longest first, and nothing is lost', async (t) => {
  const names = fc.uniqueArray(
    fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '@', '_', '2'), minLength: 1, maxLength: 5 }),
      fc.constantFrom('__proto__', '<X>', '<X>_2', '<X>_3', '7', 'toString')
    ),
    { minLength: 1, maxLength: 12 }
  )
  fc.assert(
    fc.property(names, (names) => {
      const object = Object.fromEntries(names.map((name, i) => [name, i])) as JsonObject
      const named = names.filter((name) => name.includes('@'))
      const order = Object.keys(object)
      // Straightforward, and quadratic.
      const expected = [...order]
      for (const old of [...named].sort((a, b) => b.length - a.length)) {
        const base = splice(old, [key(old, 0, old.length - 1)])
        let name = base
        for (let n = 2; name !== old && expected.includes(name); n++) name = `${base}_${n}`
        expected[expected.indexOf(old)] = name
      }
      const values = order.map((name) => object[name])
      const out = rewriteTree(
        object,
        named.map((name) => key(name, 0, name.length - 1))
      ) as JsonObject
      const found = new Map(Object.keys(out).map((name) => [name, Object.getOwnPropertyDescriptor(out, name)!.value]))
      t.strictSame(
        new Map(expected.map((name, i) => [name, values[i]])),
        new Map(expected.map((name) => [name, found.get(name)])),
        JSON.stringify(names)
      )
      if (found.size !== names.length) throw new Error(`lost: ${JSON.stringify(names)}`)
    }),
    { numRuns: 300, seed: 1 }
  )
})

t.test('keys in great number are renamed at once, in their places', async (t) => {
  const object: JsonObject = { before: 1 }
  for (let i = 0; i < 20_000; i++) object[`me${i}@example.org`] = i
  object.after = 2
  const named = Object.keys(object).filter((name) => name.includes('@'))
  const out = rewriteTree(
    object,
    [...named].map((name) => key(name, 0, name.length))
  ) as JsonObject
  t.equal(out, object)
  const keys = Object.keys(out)
  t.same([keys[0], keys.at(-1), keys.length], ['before', 'after', 20_002])
  t.equal(new Set(keys).size, 20_002)
})

t.test('each of many strings is replaced wherever it stands, the longest first', (t) => {
  const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 }), { maxLength: 6 })
  fc.assert(
    fc.property(words, fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 }), (words, text) => {
      const needles = new Map(words.map((word) => [word, `<${word.length}>`]))
      const longest = [...needles.keys()].sort((a, b) => b.length - a.length)
      const expected =
        longest.length === 0 ? text : text.replace(new RegExp(longest.join('|'), 'g'), (found) => needles.get(found)!)
      if (replaceEach(text, needles) !== expected) throw new Error(`${JSON.stringify(words)} in ${text}`)
    }),
    { numRuns: 1000, seed: 1 }
  )
  t.pass('1,000 texts')
  t.end()
})

t.test('a secret that only the text of the arguments shows is replaced in it, however many there are', async (t) => {
  const text = JSON.stringify({ note: 'a "quoted" b', password: 'hunter2', other: 'hunter22' })
  const at = text.indexOf('hunter2')
  const longer = text.indexOf('hunter22')
  const out = rewriteTree({ args: text }, [
    { pointer: '/args', start: at, end: at + 7, text: '<S>' },
    { pointer: '/args', start: longer, end: longer + 8, text: '<S>' },
    { pointer: '/args/note', start: 3, end: 9, text: '<P>' }
  ]) as JsonObject
  t.same(JSON.parse(out.args as string), { note: 'a "<P>" b', password: '<S>', other: '<S>' })
})
