import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { Fault } from '../../src/base/errors.js'
import { createThrottle } from '../../src/users/throttle.js'
import { loginOf } from '../../src/users/user.js'
import { steppedClock } from '../identity/support.js'

/** What one cookie can be made into by whoever holds it. */
function variants(cookie: string): fc.Arbitrary<string> {
  const [nonce = '', tag = ''] = cookie.split('.')
  const last = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
  return fc.oneof(
    fc.constant(cookie),
    // Node's decoder takes four spellings of the last character, and skips what is no digit.
    last.map((character) => cookie.slice(0, -1) + character),
    last.map((character) => `${nonce.slice(0, -1)}${character}.${tag}`),
    fc.string({ maxLength: 6 }).map((more) => `${cookie}.${more}`),
    fc.string({ maxLength: 6 }).map((more) => cookie + more),
    fc.constantFrom('=', ' ', '\t', '\n', '%', '\u0000').map((more) => `${nonce}.${tag}${more}`),
    fc.nat({ max: 66 }).map((at) => `${cookie.slice(0, at)}=${cookie.slice(at)}`),
    fc.constant(`${nonce}.${Buffer.from(tag, 'base64url').toString('base64')}`),
    fc.string({ maxLength: 70 })
  )
}

/** What one login can be typed as. */
const typed = fc
  .array(fc.constantFrom('', ' ', '\t', '\n', '\u00a0', '\u0000', '\u0000x', '\u200b', '\ud800'), { maxLength: 2 })
  .chain((around) =>
    fc.constantFrom('jane@k.example', 'JANE@K.example', 'jane@\u212a.example').map((login) => login + around.join(''))
  )

t.test('a name and a device have so many guesses, however both are spelt and wherever they come from', async (t) => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const throttle = createThrottle(steppedClock(), randomBytes(32))
      const cookie = throttle.deviceOf('jane@k.example')
      const sent = fc.sample(fc.tuple(variants(cookie), typed, fc.ipV4()), { numRuns: 80, seed })
      let looked = 0
      for (const [device, text, address] of sent) {
        const login = loginOf(text)
        const outcome = throttle.begin({ login: login ?? '', address, device })
        if (outcome instanceof Fault) continue
        outcome(false)
        // What nobody is called is not looked up: it is no guess at anybody.
        if (login !== undefined) looked++
      }
      return looked <= 20
    }),
    { numRuns: 200 }
  )
  t.pass('200 sequences of 80 guesses')
})

t.test('a device of its owner is known by its one spelling, and by that alone', async (t) => {
  const throttle = createThrottle(steppedClock(), randomBytes(32))
  const cookie = throttle.deviceOf('jane')
  const stranger = { login: 'jane', address: '192.0.2.1' }
  for (let i = 0; i < 10; i++) {
    const outcome = throttle.begin({ ...stranger, device: undefined })
    if (!(outcome instanceof Fault)) outcome(false)
  }
  const isKnown = (device: string, login = 'jane') =>
    !(throttle.begin({ ...stranger, login, device, address: '192.0.2.2' }) instanceof Fault)
  t.equal(isKnown(cookie), true)
  fc.assert(
    fc.property(variants(cookie), (device) => device === cookie || !isKnown(device)),
    { numRuns: 1_000 }
  )
})
