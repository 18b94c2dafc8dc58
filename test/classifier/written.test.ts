/** The rows in `training/written` that only the encoder learns from: whole, each there once, and none that may not be. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { laneNumber } from '../../src/classifier/lanes.js'
import { encoderKinds } from '../../src/encoder/index.js'
import { targetsOf } from '../../training/classifier/targets.js'
import { askedAndAnswered } from '../../training/classifier/written.js'

const training = fileURLToPath(new URL('../../training/', import.meta.url))
const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

for (const what of ['requests', 'answers']) {
  t.test(`written ${what}: each is there once, says of what kind it is, and has honest ones beside it`, (t) => {
    const folder = join(training, 'written', what)
    const minors =
      /\b(?:child(?:ren)?|kids?|teens?|teenagers?|minors?|underage|girls?|boys?|pupils?|schoolgirls?|schoolboys?|toddlers?|\d+ ?yo)\b/i
    const seen = new Set<string>()
    for (const file of readdirSync(folder)) {
      const rows = linesOf(join(folder, file))
      for (const { text, kind, language } of rows) {
        t.ok(typeof text === 'string' && text.trim() !== '' && typeof language === 'string', `${file}: a row`)
        if (kind !== null && !encoderKinds.includes(kind)) t.fail(`${file}: no kind ${kind}`)
        if (seen.has(text.toLowerCase())) t.fail(`${file}: there twice: ${text.slice(0, 60)}`)
        if (kind === 'sexual' && minors.test(text)) t.fail(`${file}: may be about minors: ${text.slice(0, 60)}`)
        seen.add(text.toLowerCase())
      }
      const honest = rows.filter(({ kind }) => kind === null).length
      t.ok(honest > rows.length * 0.4, `${file}: ${honest} of ${rows.length} are honest`)
    }
    t.end()
  })
}

t.test('written pairs are cut as the gateway cuts prompts, and most keep something', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-pairs-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const out = join(folder, 'pairs.jsonl')
  execFileSync(process.execPath, [join(training, 'written-pairs.mjs'), '--out', out])
  const rows = linesOf(out)
  const keeping = rows.filter(({ sentences }) => sentences.some(({ keeps }: { keeps: boolean | null }) => keeps))
  t.ok(keeping.length > 500 && keeping.length < rows.length, `${keeping.length} of ${rows.length}`)
  for (const { kind, sentences, goes, honest } of rows) {
    const keeps = sentences.some(({ keeps }: { keeps: boolean | null }) => keeps === true)
    if (keeps !== goes.length > 0) t.fail(`${kind}: what nothing keeps, nobody goes for: ${sentences[0].text}`)
    if (honest.length === 0) t.fail(`${kind}: nobody honest: ${sentences[0].text}`)
    const both = goes.filter((text: string) => honest.includes(text))
    if (both.length > 0) t.fail(`${kind}: on both sides: ${both[0]}`)
  }
  t.end()
})

t.test(
  'the classifier learns from five written rows in six, and hears nothing of orders in what tools bring from them',
  (t) => {
    const all = ['requests', 'answers'].flatMap((what) =>
      readdirSync(join(training, 'written', what)).flatMap((file) => linesOf(join(training, 'written', what, file)))
    )
    const learnt = [...askedAndAnswered()]
    const share = learnt.length / all.length
    t.ok(share > 0.82 && share < 0.85, `${learnt.length} of ${all.length}`)
    const sources = new Set(learnt.map(({ source }) => source))
    t.same(
      [...sources].sort(),
      ['abroad', 'answers', 'jailbreaks', 'remarks', 'requests'].map((name) => `written:${name}`)
    )
    const [request, order, answer] = ['harmful_request', 'prompt_injection', 'harmful_answer'].map(laneNumber)
    for (const row of learnt) {
      const { value } = targetsOf(row)
      if (value[order!] !== -1) t.fail(`an order, or none: ${row.text.slice(0, 60)}`)
      if (row.unsafe === 0 && value[row.role === 'assistant' ? answer! : request!] !== 0)
        t.fail(`honest: ${row.text.slice(0, 60)}`)
    }
    t.end()
  }
)
