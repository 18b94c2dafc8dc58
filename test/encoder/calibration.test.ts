/** What windows and passages of one text come to together. */
import t from 'tap'
import { type Role, roles } from '../../src/base/chat.js'
import { Calibration, type Scored } from '../../src/encoder/calibration.js'
import type { Manifest } from '../../src/encoder/manifest.js'
import { windowOf } from '../../src/encoder/windows.js'

const digest = { sha256: '0'.repeat(64), bytes: 1 }
const lanes = ['unsafe', 'prompt_injection', 'violence', 'in_need']
const knots: [number, number][] = [
  [0, 0.1],
  [4, 0.9]
]
const groups = { prompt_injection: 'prompt_injection', violence: 'violence', in_need: 'in_need' }
const calibration = new Calibration({
  model: digest,
  tokenizer: digest,
  lanes,
  calibration: {
    user: { any: { prompt_injection: knots, violence: knots, in_need: knots } },
    tool: { any: { prompt_injection: knots, violence: knots } }
  },
  calibrated: { lengths: [{ name: 'any', most: null }], groups: { user: groups, tool: groups } }
} satisfies Manifest)

const window = (start: number, end: number, injection: number, violence: number, isPassage = false): Scored => ({
  start,
  end,
  isPassage,
  logits: Float32Array.of(0, injection, violence, -9)
})
const kinds = (role: Role, windows: Scored[]) => calibration.findings(role, 300, windows).map(({ kind }) => kind)

t.test("a user's passage alone says nothing of whom its words address", async (t) => {
  const calm = window(0, 500, -9, -9)
  const order = window(100, 150, 4, -9, true)
  t.same(kinds('user', [order, calm]), [], 'its window says nothing of it')
  t.same(kinds('tool', [order, calm]), ['prompt_injection'], "a tool's result is held to every sentence")
  t.same(kinds('user', [order, window(0, 500, -1, -9)]), ['prompt_injection'], 'its window says a little of it')
  t.same(kinds('user', [order, calm, window(90, 400, -1, -9)]), ['prompt_injection'], 'one of its windows does')
  t.same(kinds('user', [order, calm, window(200, 900, 4, -9)]), ['prompt_injection'], 'another window counts itself')
  t.equal(
    calibration.findings('user', 300, [order, calm, window(200, 900, -1, -9)])[0]!.start,
    200,
    'a window beside it does not speak for it'
  )
  t.same(kinds('user', [order]), ['prompt_injection'], 'no window around it was read')
  t.same(kinds('user', [window(100, 150, -9, 4, true), calm]), ['violence'], 'what a passage wishes it wishes alone')
})

t.test('whatever a caller writes is scored as a user says it, but for what tools and models said', async (t) => {
  const told = {
    user: 'user',
    system: 'user',
    definition: 'user',
    parameter: 'user',
    tool: 'tool',
    assistant: 'assistant'
  }
  const ids = (role: Role) => windowOf(Int32Array.of(7), role).key
  t.same(Object.keys(told).sort(), [...roles].sort())
  for (const [role, speaker] of Object.entries(told) as [Role, Role][]) t.equal(ids(role), ids(speaker), role)
  t.equal(new Set(roles.map(ids)).size, 3)
  const order = window(100, 150, 4, -9, true)
  t.same(kinds('system', [order, window(0, 500, -9, -9)]), [], 'its passages are backed as those of a user')
  t.same(kinds('definition', [window(0, 500, -9, 4)]), ['violence'])
})

t.test('a sentence by itself tells of nobody in need, whatever else is found around it', async (t) => {
  const need = (start: number, end: number, logit: number, isPassage = false, injection = -9): Scored => ({
    ...window(start, end, injection, -9, isPassage),
    logits: Float32Array.of(0, injection, -9, logit)
  })
  t.same(kinds('user', [need(100, 150, 4, true), need(0, 500, -9)]), [])
  t.same(kinds('user', [need(100, 150, 4, true), need(0, 500, -9, false, 4)]), ['prompt_injection'])
  t.same(kinds('user', [need(100, 150, 4, true), need(0, 500, -1)]), ['in_need'])
  t.same(kinds('tool', [need(0, 500, 4)]), [], 'only users are read for it')
})

t.test('what a user quotes has to sound surer of whom its words address, and of nothing else', async (t) => {
  const sure = (windows: Scored[], kind: string, role: 'user' | 'tool' = 'user') =>
    calibration.findings(role, 300, windows).find((finding) => finding.kind === kind)!.confidence
  const said = [window(0, 500, 3, 3)]
  const quoted = said.map((each) => ({ ...each, isQuoted: true }))
  t.ok(sure(said, 'prompt_injection') > 0.65)
  t.ok(sure(quoted, 'prompt_injection') < 0.5, `${sure(quoted, 'prompt_injection')}`)
  t.equal(sure(quoted, 'violence'), sure(said, 'violence'))
  t.ok(
    sure([{ ...window(0, 500, 4, -9), isQuoted: true }], 'prompt_injection') > 0.6,
    'what is sure stays doubtful at least'
  )
})
