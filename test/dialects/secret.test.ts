import fc from 'fast-check'
import t from 'tap'
import { Secret } from '../../src/dialects/secret.js'

/** As JSON undoes them; another character than JSON's own stands for itself. */
function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|(.))/gs, (_, code: string | undefined, plain: string) =>
    code === undefined ? plain : String.fromCharCode(Number.parseInt(code, 16))
  )
}

t.test('a secret is found across pieces, plain or with one layer of escapes, and nothing else is', async (t) => {
  const secrets = ['aab', 'aaa', 'abab', 'b', '\\a', 'aabaaab'] as const
  const units = ['a', 'b', 'c', '\\', '\\u0061', '\\u0062', '\\b', 'aab', 'abab', 'aa']
  const found = { yes: 0, no: 0 }
  fc.assert(
    fc.property(
      fc.constantFrom(...secrets),
      fc.array(
        fc.array(fc.constantFrom(...units), { maxLength: 6 }).map((each) => each.join('')),
        { maxLength: 5 }
      ),
      (secret, pieces) => {
        const whole = pieces.join('')
        // What stands behind a last backslash is not known.
        fc.pre(!/(?:^|[^\\])(?:\\\\)*\\(?:u[0-9a-f]{0,3})?$/.test(whole))
        const is = whole.includes(secret) || unescaped(whole).includes(secret)
        found[is ? 'yes' : 'no']++
        return new Secret(secret).isAcross(pieces) === is
      }
    ),
    { numRuns: 5000 }
  )
  t.ok(found.yes > 500 && found.no > 500)
})

t.test('long texts: of its beginnings alone, and with it at the end, in two pieces', async (t) => {
  t.notOk(new Secret('sk-0123456789abcdef').isAcross(['s'.repeat(100_000), 'sk-012345678'.repeat(10_000)]))
  t.ok(new Secret('sk-0123456789abcdef').isAcross(['x'.repeat(100_000), 'sk-01234', '56789abcdef']))
})
