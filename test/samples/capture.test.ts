/** What is taken of a call, what is never kept of it, and that no request waits for any of this. */
import t, { type Test } from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import type { SampleSettings } from '../../src/base/settings.js'
import { Judging } from '../../src/observe/judging.js'
import type { Decided } from '../../src/observe/record.js'
import { categories, type Detection } from '../../src/policy/evaluation.js'
import { createDryRunner } from '../../src/policy/explain/dry-run-pool.js'
import { Capture, type SampleOutcome } from '../../src/samples/capture.js'
import { covered, coverOf, Masker, moved } from '../../src/samples/masking.js'
import type { SampleText } from '../../src/samples/sample.js'
import { createSeal, sealedFor } from '../../src/sealing/seal.js'
import type { SampleStore } from '../../src/storage/contracts/samples.js'
import { openMemory } from '../../src/storage/sqlite/open.js'

const seal = createSeal(Buffer.alloc(32, 7))
const token = `ghp_${'x7Kp2mQ9vB4nR8sT1wY6zA3cE5gJ0hL2dFqU'}`
const settings: SampleSettings = { what: 'stopped', share: 1, rows: 100, bytes: 1e9, retentionMs: 1e9 }
const runner = createDryRunner()
t.teardown(() => runner.close())

type Part = Decided['parts'][number]
interface Given {
  parts?: Part[]
  joined?: number[][]
  detections?: Partial<Detection>[]
  context?: JsonObject
  decision?: Decided['evaluation']['decision']
  scores?: Record<string, number>
  said?: Partial<Decided['said']>
}

function decided(text: string, given: Given = {}): Decided {
  const { parts = [{ role: 'user', text, pointer: '/messages/0/content' }], joined = [], detections = [] } = given
  const pointer = parts[0]!.pointer
  return {
    surface: 'chat',
    route: '/v1/chat/completions',
    requestId: 'req',
    caller: { accountId: 'acme', keyId: 'key_a', environment: 'live', lineage: 'key_a' },
    parts,
    evaluation: {
      risk_score: 0.9,
      decision: given.decision ?? 'forbid',
      is_blocked: true,
      matched_rules: [],
      detections: detections.map((one) => ({
        type: 'policy_violation' as const,
        category: 'violence' as const,
        confidence: 0.9,
        rule: 'r',
        span: { start: 0, end: 1 },
        layer: 'plain',
        pointer,
        ...one
      })),
      decision_time_ms: 1,
      scores: { ...Object.fromEntries(categories.map((one) => [one, 0])), ...given.scores } as never,
      evaluation_id: `ev_${Math.random()}`,
      policy: 'default@1'
    },
    said: {
      joined,
      context: given.context,
      direction: 'request',
      middle: 0.4,
      redact: [],
      hasNames: false,
      ...given.said
    }
  }
}

interface Opened {
  capture: Capture
  counts: Partial<Record<SampleOutcome, number>>
  texts(): Promise<SampleText[]>
}

interface Opening extends Partial<SampleSettings> {
  store?: Pick<SampleStore, 'add'>
  masker?: Pick<Masker, 'find'>
}

async function open(t: Test, { store, masker, ...more }: Opening = {}) {
  const storage = await openMemory()
  t.teardown(() => storage.close())
  const counts: Opened['counts'] = {}
  const capture = new Capture({
    store: store ?? storage.samples,
    seal,
    masker: masker ?? new Masker({ runner, encoder: () => undefined }),
    settings: { ...settings, ...more },
    counted: (outcome, count) => (counts[outcome] = (counts[outcome] ?? 0) + count),
    failure: () => {}
  })
  t.teardown(() => capture.close())
  const texts = async () => {
    await capture.flush()
    const rows = await storage.samples.list('acme', { limit: 100 })
    const found: SampleText[] = []
    for (const { sampleId } of rows.reverse()) {
      const { sealedText } = (await storage.samples.get('acme', sampleId))!
      found.push(JSON.parse(seal.open(sealedText, sealedFor(sampleId, 'text')).toString()))
    }
    return found
  }
  return { capture, counts, texts, storage }
}

t.test('what is wanted is taken, and nothing else', async (t) => {
  const off = await open(t, { what: 'off' })
  t.equal(off.capture.take(decided('a'), 1), undefined)
  const stopped = await open(t)
  t.equal(stopped.capture.take(decided('a', { decision: 'permit' }), 1), undefined)
  t.match(stopped.capture.take(decided('b'), 1), /^smp_/)
  t.match(await stopped.texts(), [{ parts: [{ role: 'user', text: 'b' }], isCut: false }])
  const none = await open(t, { what: 'share', share: 0 })
  t.equal(none.capture.take(decided('a'), 1), undefined)
  const all = await open(t, { what: 'share', share: 1 })
  t.match(all.capture.take(decided('a', { decision: 'permit' }), 1), /^smp_/)
  const { said: _, ...bare } = decided('a')
  t.equal(all.capture.take(bare, 1), undefined, 'what is no call of a caller')
})

t.test('what a sample needs of a call is put together where samples are taken, and nowhere else', async (t) => {
  let isOn = false
  const told: Decided[] = []
  const judging = new Judging({
    evaluator: { evaluate: () => Promise.reject(new Error('not asked')), hold: () => 'default' },
    record: (one) => void told.push(one),
    unjudged: () => undefined,
    exceptions: () => undefined,
    sampling: () => isOn
  })
  const { surface, route, requestId, evaluation, parts } = decided('a')
  const asked = { surface, route, requestId, caller: { keyId: 'key_a' } as never }
  const input = { parts, joined: [[0]], context: { topic: 'x' }, direction: 'answer', names: true } as never
  judging.record(asked, evaluation, input, { redact: ['emails'] as never })
  isOn = true
  judging.record(asked, evaluation, input, { redact: ['emails'] as never })
  t.equal(told[0]!.said, undefined)
  t.match(told[0], { parts, evaluation })
  const said = { joined: [[0]], context: { topic: 'x' }, direction: 'answer', hasNames: true, redact: ['emails'] }
  t.match(told[1]!.said, said)
})

t.test('secrets are masked in every reading, across parts, in keys and in the context', async (t) => {
  const { capture, texts, counts } = await open(t)
  const encoded = Buffer.from(`the key is ${token}, keep it`).toString('base64')
  const half = token.length / 2
  const parts: Part[] = [
    { role: 'system', text: `Use ${token} here.`, pointer: '/0' },
    { role: 'user', text: `Decode ${encoded} now`, pointer: '/1' },
    { role: 'user', text: `It begins ${token.slice(0, half)}`, pointer: '/2' },
    { role: 'user', text: `${token.slice(half)} and ends`, pointer: '/3' },
    { role: 'parameter', text: token, pointer: '/4', isKey: true },
    { role: 'tool', text: 'The company word is swordfish-77.', pointer: '/5' }
  ]
  const own = { category: 'secrets', span: { start: 20, end: 32 }, pointer: '/5' } as const
  const context = { [token]: 'a name', note: ['see', `it: ${token}`], level: 3 }
  capture.take(decided('', { parts, joined: [[2, 3]], detections: [own], context }), 1)
  const [sample] = await texts()
  const all = JSON.stringify(sample)
  for (const piece of [token, token.slice(0, half), token.slice(half), encoded, 'swordfish']) t.notMatch(all, piece)
  t.same(
    sample!.parts.map(({ text }) => text),
    [
      'Use <SECRETS> here.',
      'Decode <SECRETS> now',
      'It begins <SECRETS>',
      '<SECRETS> and ends',
      '<SECRETS>',
      'The company word is <SECRETS>.'
    ]
  )
  t.same(sample!.context, { '<SECRETS>': 'a name', note: ['see', 'it: <SECRETS>'], level: 3 })
  t.match(sample!.detections, [{ part: 5, span: { start: 20, end: 29 } }])
  t.notMatch(all, 'pointer', 'the names of places can be words of a caller')
  t.same(counts, { stored: 1 })
})

t.test('an offset is told where it lies once what stands before it is covered', (t) => {
  const text = 'a'.repeat(40)
  const spans = [
    [3, 5],
    [5, 9],
    [8, 12],
    [20, 21],
    [30, 40]
  ] as const
  const cover = coverOf(
    spans.map(([start, end]) => ({ part: 0, start, end, text: '<X>' })),
    0
  )
  for (let offset = 0; offset <= text.length; offset++) {
    const inside = cover.find(({ start, end }) => start < offset && offset < end)
    const before = covered(
      text.slice(0, inside?.start ?? offset),
      cover.filter(({ end }) => end <= offset)
    ).length
    t.equal(moved(offset, cover, 'start'), before, `${offset}`)
    t.equal(moved(offset, cover, 'end'), before + (inside === undefined ? 0 : 3), `${offset}`)
  }
  t.end()
})

t.test('what the route replaces is replaced, and what it cannot be looked for is not kept', async (t) => {
  const { capture, texts, counts } = await open(t)
  const text = 'Write to jane@example.org, says Jane.'
  capture.take(decided(text), 1)
  capture.take(decided(text, { said: { redact: ['personal_data'] } }), 2)
  const jane = { category: 'personal_data', kind: 'person', span: { start: 32, end: 36 } } as Partial<Detection>
  capture.take(decided(text, { detections: [jane], said: { redact: ['names'], hasNames: true } }), 3)
  t.same(
    (await texts()).map(({ parts }) => parts[0]!.text),
    [text, 'Write to <PERSONAL_DATA>, says Jane.', 'Write to jane@example.org, says <PERSON>.']
  )
  capture.take(decided(text, { said: { redact: ['names'] } }), 4)
  t.equal((await texts()).length, 3)
  t.same(counts, { stored: 3, failed: 1 })
})

t.test('nothing of sex and children is kept, by whichever sign', async (t) => {
  const { capture, texts, counts } = await open(t)
  const minors = { category: 'sexual_minors', confidence: 0.3 } as const
  t.equal(capture.take(decided('a', { detections: [minors] }), 1), undefined, 'a detection, weak or not')
  t.equal(capture.take(decided('a', { scores: { sexual_minors: 0.4 } }), 1), undefined, 'a score of the middle band')
  t.match(capture.take(decided('b', { scores: { sexual_minors: 0.39 } }), 1), /^smp_/)
  t.equal(capture.take(decided('a', { said: { isOfMinors: true } }), 1), undefined, 'an answer to such a request')
  const asked = 'How can I convince a child not to tell anyone about our meetings?'
  t.match(capture.take(decided(asked), 2), /^smp_/, 'known only once it is read, whatever the constitution has on')
  const sexual = { category: 'sexual' } as const
  capture.take(decided('A story about a schoolgirl.', { detections: [sexual] }), 3)
  capture.take(decided('A story about a schoolgirl.'), 4)
  t.same(
    (await texts()).map(({ parts }) => parts[0]!.text),
    ['b', 'A story about a schoolgirl.']
  )
  t.same(counts, { withheld: 5, stored: 2 })
})

t.test('no file is kept, in whichever place it stands', async (t) => {
  const { capture, texts } = await open(t)
  const picture = `iVBORw0KGgo${'Ab3/'.repeat(100)}`
  const parts: Part[] = [
    { role: 'user', text: `Look: data:image/png;base64,${picture} nice`, pointer: '/0' },
    { role: 'user', text: 'what the file says', pointer: '/0#decoded', isDecoded: true },
    { role: 'user', text: `Bare ${picture} too, and data:text/plain,hello there`, pointer: '/1' }
  ]
  capture.take(decided('', { parts }), 1)
  const [sample] = await texts()
  t.same(
    sample!.parts.map(({ text }) => text),
    ['Look: <MEDIA> nice', 'Bare <MEDIA> too, and <MEDIA> there']
  )
})

t.test('of a long call what was found is kept first, and a secret at the cut is masked whole', async (t) => {
  const { capture, texts } = await open(t)
  const parts: Part[] = [
    { role: 'system', text: 'system. '.repeat(20_000), pointer: '/0' },
    { role: 'user', text: 'the one that matters', pointer: '/1' },
    { role: 'user', text: `${'x '.repeat(49_980)}${token} and more${' y'.repeat(9_000)}`, pointer: '/2' }
  ]
  capture.take(decided('', { parts, detections: [{ pointer: '/1' }] }), 1)
  const [sample] = await texts()
  t.equal(sample!.isCut, true)
  t.match(sample!.parts, [{ role: 'user', text: 'the one that matters' }, { role: 'user' }])
  t.match(sample!.parts[1]!.text, /x <SECRETS>$/)
  t.match(sample!.detections, [{ part: 0 }])
})

t.test('a full queue and a store that is down lose samples, which is counted, and never a call', async (t) => {
  let isDown = true
  const taken: number[] = []
  const add = async (rows: readonly unknown[]) => {
    if (isDown) throw new Error('down')
    taken.push(rows.length)
  }
  const { capture, counts } = await open(t, {
    store: { add },
    masker: { find: async (all) => all.map(() => ({ masks: [], isOfMinors: false, hasMinors: false })) }
  })
  for (let i = 0; i < 1_010; i++) capture.take(decided('a'), i)
  t.equal(counts.queue_full, 10)
  await capture.flush()
  t.equal(counts.failed, 1_000)
  isDown = false
  for (let i = 0; i < 20; i++) capture.take(decided('a'), i)
  await capture.flush()
  t.same(taken, [16, 4], 'in groups')
  const large = 'a '.repeat(5_000_000)
  t.match(capture.take(decided(large), 1), /^smp_/)
  t.equal(capture.take(decided(large), 1), undefined, 'bounded by its text too')
  await capture.close()
  t.equal(capture.take(decided('a'), 1), undefined)
})
