import fc from 'fast-check'
import t from 'tap'
import { afterPrefix, bech32 } from '../../src/detectors/secrets/checks.js'
import { compileForm } from '../../src/detectors/secrets/form.js'
import { groups, rows } from '../../src/detectors/secrets/kinds/index.js'
import { FormScanner } from '../../src/detectors/secrets/scan.js'
import { secrets } from '../../src/detectors/secrets.js'
import { loadPolicy } from '../../src/policy/evaluate/entry.js'
import { source } from '../policy/support.js'

const alphabets: Record<string, string> = {
  digit: '0192837465',
  hex: '0a1b2c3d4e5f6789',
  anyhex: '0a1B2c3D4e5F6789',
  lower: 'qwertzuiopasdfghjk',
  upper: 'QWERTZUIOPASDFGHJK',
  letter: 'qWeRtZuIoPaSdFgHjK',
  base32: 'Q2W3E4R5T6Z7UIOPAS',
  lower36: 'q1w2e3r4t5z6u7i8o9p',
  upper36: 'Q1W2E3R4T5Z6U7I8O9P'
}

/** A token of the form: characters without meaning, of the alphabet that each run names. */
function tokenOf(form: string): string {
  let at = 0
  return form.replace(/<(\d+)(?:-(\d+))? (\w+)>/g, (_, fewest: string, most: string | undefined, name: string) => {
    const alphabet = alphabets[name] ?? 'aB3dE5gH7jK9mN2pQ4rS6tU8vW1xY0zC'
    const length = Math.min(Math.max(Number(fewest), 24), Number(most ?? fewest))
    return Array.from({ length }, () => alphabet[(at++ * 7 + ((at * at) % 11)) % alphabet.length]).join('')
  })
}

t.test('every documented form is found, whole, in prose, code and addresses', async (t) => {
  t.ok(new Set(rows.map(({ kind }) => kind)).size >= 150, 'kinds')
  for (const { kind, form, only, docs } of rows) {
    t.match(docs, /^https:\/\/|^docs\//, `${kind}: documented`)
    let token = tokenOf(form)
    // What must decode is made by hand below.
    if (only !== undefined && !only(token))
      token = token.replace(/.{24}(?=\.)|^eyJ[\w-]*/, (part) => `M${part.slice(1)}`)
    if (only !== undefined && !only(token)) continue
    for (const [before, after] of [
      ['see ', ' please'],
      ['x = "', '";'],
      ['{"a":"', '"}'],
      ['<b>', '</b>']
    ] as const) {
      const found = secrets.find(before + token + after)
      const covers = found.some(({ start, end }) => start <= before.length && end >= before.length + token.length)
      t.ok(covers, `${kind}: ${form} after ${before}`)
    }
    const isWithin = secrets.find(`q${token}`).some((finding) => finding.kind === kind && finding.confidence > 0.7)
    if (/^[A-Za-z]/.test(form) && !form.includes('=') && !form.startsWith('SB-'))
      t.notOk(isWithin, `${form} inside a word`)
  }
})

t.test('groups name kinds that there are, and what they stood for before', async (t) => {
  for (const [group, kinds] of groups)
    t.same(
      kinds.filter((kind) => !secrets.kinds.includes(kind)),
      [],
      group
    )
  const yaml = source({
    rules: '  - { name: one, category: secrets, weight: 1, detector: secrets, kinds: [provider_token, jwt] }'
  })
  const { detectors } = await loadPolicy(yaml, 'x.yaml')
  const [rule] = detectors[0]!.rules
  t.ok(rule!.detector!.kinds!.has('shopify_token'))
  t.ok(rule!.detector!.kinds!.has('jwt'))
  t.notOk(rule!.detector!.kinds!.has('npm_token'))
})

t.test('checksums are those of the issuers', async (t) => {
  // Published by GitHub and by age as samples of their formats.
  t.ok(afterPrefix('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'))
  t.notOk(afterPrefix('ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18'))
  t.ok(bech32('AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX'))
  t.notOk(bech32('AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEZ'))
  const [whole] = secrets.find('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')
  const [damaged] = secrets.find('ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18')
  t.ok(whole!.confidence > damaged!.confidence, 'a wrong checksum counts less')
})

t.test('a form that cannot be read in one direction is refused', async (t) => {
  t.throws(() => compileForm('ab_<2-9 base62>x'), /outside its alphabet/)
  t.throws(() => compileForm('<2-9 base62>'), /needs literal text/)
  t.throws(() => compileForm('ab_<9 runes>'), /unknown alphabet runes/)
})

t.test('the scanner finds what a regular expression finds', async (t) => {
  const scanner = new FormScanner(['ab_<2-4 hex>', '<3 digit>:x<1-2 lower>', 'q.<2 upper>.z'])
  const pattern = /(?<![A-Za-z0-9])(?:ab_[0-9a-f]{2,4}(?![A-Za-z0-9])|q\.[A-Z]{2}\.z(?![A-Za-z0-9]))/g
  const pieces = fc.constantFrom('ab_', '0f', 'a', '9', '1', ':x', 'q.', 'AB', '.z', ' ', '-', 'G')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
      const text = parts.join('')
      const found: string[] = []
      let last = 0
      scanner.open(text)
      scanner.scan(0, text.length, (index, start, end) => {
        // A regular expression goes on after what it has found.
        if (index === 1 || start < last) return
        last = end
        found.push(`${start}-${end}`)
      })
      return (
        found.join() === [...text.matchAll(pattern)].map(({ 0: m, index }) => `${index}-${index + m.length}`).join()
      )
    }),
    { numRuns: 3000 }
  )
  t.pass()
})
