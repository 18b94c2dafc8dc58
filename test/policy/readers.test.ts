/**
 * What is put to the encoder, and what its readings do to a verdict. The encoder here answers by fixed words, so that
 * each test says what is read and what is not; what the real one says of texts is measured elsewhere.
 */
import t, { type Test } from 'tap'
import type { ChatPart } from '../../src/base/chat.js'
import { systemClock } from '../../src/base/clock.js'
import {
  EncoderError,
  type EncoderFinding,
  type EncoderQuestion,
  type EncoderReading,
  type Stretch
} from '../../src/encoder/index.js'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import type { ConstitutionError } from '../../src/policy/constitution/problems.js'
import { entryOf, loadPolicy } from '../../src/policy/evaluate/entry.js'
import { EvaluatorError, type EvaluatorOptions, evaluatorOf } from '../../src/policy/evaluate/evaluator.js'
import type { Evaluation } from '../../src/policy/evaluation.js'
import { type DryRunTask, dryRun, runDry } from '../../src/policy/explain/dry-run.js'
import { type CallOptions, call, part, source } from './support.js'

t.setTimeout(300_000)

const rules = `
  - { name: boom, category: weapons, weight: 0.9, nominate: true, any: [boom] }
  - { name: hint, category: weapons, weight: 0, nominate: true, any: [fuse] }
  - { name: weak, category: weapons, weight: 0.5, nominate: true, raises: false, any: [spark] }
  - { name: willing, category: weapons, weight: 0.5, nominate: true, agreed_from: 0.2, any: [powder] }
  - { name: own, category: weapons, weight: 0.5, any: [mine alone] }
  - { name: beside, category: hate, weight: 0.9, any: [there], when: { all: [boom] } }
  - { name: lonely, category: violence, weight: 0.9, nominate: true, any: [smash] }
  - { name: cross, category: weapons, weight: 0.9, nominate: true, any: [blast cap] }
  - { name: mail, category: personal_data, weight: 1, detector: personal_data }
  - { name: reader, category: weapons, weight: 1, detector: encoder, kinds: [weapons], roles: [user, assistant, tool],
      context: { permit: { topic: [mining] }, settles: middle } }
  - { name: reader_hate, category: hate, weight: 0.9, detector: encoder, kinds: [hate], min_confidence: 0.3, roles: [user] }
  - { name: reader_need, category: self_harm, weight: 1, detector: encoder, kinds: [in_need], roles: [user] }`

const withReaders = (mode: string) => `readers: ${mode}\n${source({ rules })}`

/** Answers by the words in a text: `evil`, `faint`, `fainter` and `vague` are of weapons, `foul` is hate, who says `adieu` is in need. */
const answers = {
  evil: ['weapons', 0.95],
  faint: ['weapons', 0.2],
  fainter: ['weapons', 0.19],
  vague: ['weapons', 0.5],
  foul: ['hate', 0.95],
  adieu: ['in_need', 0.6]
} as const

function findingsIn(text: string): EncoderFinding[] {
  return Object.entries(answers).flatMap(([word, [kind, confidence]]) => {
    const start = text.search(new RegExp(`\\b${word}\\b`))
    return start < 0 ? [] : [{ kind, confidence, start, end: start + word.length }]
  })
}

class Fixed {
  readonly asked: (readonly EncoderQuestion[])[] = []
  /** Taken for unread in every text. */
  unread: Stretch[] = []
  failure: Error | undefined

  async read(questions: readonly EncoderQuestion[]): Promise<EncoderReading[]> {
    this.asked.push(questions)
    if (this.failure !== undefined) throw this.failure
    return questions.map(({ text }) => ({ findings: findingsIn(text), unread: this.unread }))
  }

  /** What was asked since the last time. */
  take() {
    return this.asked.splice(0).map((questions) => questions.map(({ role, text, spans }) => ({ role, text, spans })))
  }
}

async function start(t: Test, text = source({ rules }), options: Partial<EvaluatorOptions> = {}) {
  const encoder = new Fixed()
  const entry = entryOf(await loadPolicy(text, 'default.yaml'))
  const evaluator = evaluatorOf([entry], { clock: systemClock, deadlineMs: 60_000, encoder, ...options })
  t.teardown(() => evaluator.close())
  const evaluate = (texts: Parameters<typeof call>[0], options?: CallOptions) =>
    evaluator.evaluate(call(texts, options))
  return { encoder, evaluator, evaluate, entry }
}

const said = ({ decision, matched_rules, risk_score }: Evaluation) => [decision, risk_score, ...matched_rules]

t.test('a match counts after all where the encoder agrees, be it unsure', async (t) => {
  const { encoder, evaluate } = await start(t)
  t.same(said(await evaluate('powder')), ['permit', 0])
  t.same(said(await evaluate('powder, fainter')), ['permit', 0.19])
  t.same(said(await evaluate('powder, faint')), ['depends', 0.6, 'willing', 'reader'])
  t.same(said(await evaluate('powder, how foul')), ['forbid', 0.855, 'reader_hate'], 'of its own category only')
  t.same(said(await evaluate('powder, how evil')), ['forbid', 0.975, 'reader', 'willing'])
  encoder.unread = [{ start: 0, end: 6 }]
  t.same(said(await evaluate('powder unread')), ['depends', 0.5, 'willing'], 'unread counts as raised')
})

t.test('what is raised is decided by the encoder, in both directions', async (t) => {
  const { encoder, evaluate } = await start(t)
  t.same(said(await evaluate('boom, how nice')), ['permit', 0])
  t.same(encoder.take(), [[{ role: 'user', text: 'boom, how nice', spans: [{ start: 0, end: 4 }] }]])
  const stopped = await evaluate('boom, how evil')
  t.same(said(stopped), ['forbid', 0.95, 'reader'])
  t.match(stopped.detections, [{ rule: 'reader', span: { start: 10, end: 14 }, layer: 'plain', confidence: 0.95 }])
  t.same(said(await evaluate('the fuse is evil')), ['forbid', 0.95, 'reader'], 'a rule of no weight raises')
  t.same(said(await evaluate('boom, how foul')), ['forbid', 0.855, 'reader_hate'], 'every category of a raised text')
  t.equal(encoder.take().length, 3)
  t.same(said(await evaluate('how evil')), ['permit', 0], 'what nothing raises is not read')
  t.same(said(await evaluate('mine alone')), ['depends', 0.5, 'own'], 'other rules decide alone')
  t.same(said(await evaluate('smash')), ['forbid', 0.9, 'lonely'], 'and so do those of a category that has no reader')
  t.same(encoder.take(), [])
  t.match((await evaluate('boom, mail ada@example.org')).detections, [{ rule: 'mail' }], 'and count beside a reading')
})

t.test('a short text that both readers would stop is stopped with the confidence of both', async (t) => {
  const { evaluate } = await start(t)
  t.same(said(await evaluate('fuse, vague')), ['depends', 0.5, 'reader'], 'the encoder alone')
  t.same(said(await evaluate('boom, vague')), ['forbid', 0.9102, 'reader'], 'both')
  const filling = 'And so the day went by. '.repeat(25)
  t.same(said(await evaluate(`${filling}boom, vague`)), ['depends', 0.5, 'reader'], 'long texts hold something of all')
  t.same((await evaluate('boom, adieu')).scores.self_harm, 0.6, 'words of harm make nobody surer in need')
})

t.test('a weak sign has nothing read, and counts where no encoder decides', async (t) => {
  const { encoder, evaluate } = await start(t)
  t.same(said(await evaluate('an evil spark')), ['permit', 0])
  t.same(encoder.take(), [])
  t.same(said(await evaluate('boom, a spark')), ['permit', 0])
  const calm = 'These are some words that are long enough to be remembered by their digest, as they come again.'
  for (let i = 0; i < 2; i++) t.same(said(await evaluate([`${calm} A spark.`, `${calm} More.`])), ['permit', 0])
  t.same(said(await evaluate([part('a spark', 'system')])), ['depends', 0.5, 'weak'], 'or none reads such words')
  const { evaluate: alone } = await start(t, source({ rules }), { encoder: undefined })
  t.same(said(await alone('an evil spark')), ['depends', 0.5, 'weak'])
})

t.test('without an encoder, and where the constitution is fast, what nominates counts by itself', async (t) => {
  const alone = await start(t, source({ rules }), { encoder: undefined })
  const fast = await start(t, withReaders('fast'))
  for (const { evaluate } of [alone, fast]) {
    t.same(said(await evaluate('boom, how nice')), ['forbid', 0.9, 'boom'])
    const hinted = await evaluate('the fuse is evil')
    t.same(said(hinted), ['permit', 0])
    t.same(hinted.detections, [], 'a rule of no weight shows nothing')
  }
  t.same(fast.encoder.take(), [])
})

t.test('a thorough constitution has every text read that its rules read', async (t) => {
  const { encoder, evaluate } = await start(t, withReaders('thorough'))
  const parts: ChatPart[] = [
    part('You are kind.', 'system', '/0'),
    part('how evil', 'user', '/1'),
    part('boom', 'tool', '/2'),
    part('42 ...', 'user', '/3'),
    { ...part('name', 'user', '/4'), isKey: true },
    part('gpt', 'parameter', '/5')
  ]
  t.match(await evaluate(parts), { decision: 'forbid', detections: [{ rule: 'reader', pointer: '/1' }] })
  t.same(encoder.take(), [
    [
      { role: 'user', text: 'how evil', spans: undefined },
      { role: 'tool', text: 'boom', spans: undefined }
    ]
  ])
})

t.test('a thorough constitution has prompts read, and definitions and fields only where they are raised', async (t) => {
  const wide = withReaders('thorough').replace(
    'roles: [user, assistant, tool]',
    'roles: [user, system, definition, parameter]'
  )
  const { encoder, evaluate } = await start(t, wide)
  const parts = (['system', 'definition', 'parameter'] as const).map((role, i) => part('how evil', role, `/${i}`))
  t.match(await evaluate(parts), { decision: 'forbid', detections: [{ rule: 'reader', pointer: '/0' }] })
  t.match(encoder.take(), [[{ role: 'system', text: 'how evil' }]])
  await evaluate(parts.map(({ role, pointer }) => part('boom', role, pointer)))
  t.match(encoder.take(), [[{ role: 'system' }, { role: 'definition' }, { role: 'parameter' }]])
})

t.test('the encoder decides where its rules read, and nowhere else', async (t) => {
  const { encoder, evaluate } = await start(t)
  for (const role of ['system', 'definition', 'parameter'] as const)
    t.same(said(await evaluate([part('boom', role)])), ['forbid', 0.9, 'boom'], role)
  t.same(encoder.take(), [])
  for (const role of ['user', 'assistant', 'tool'] as const) {
    t.same(said(await evaluate([part('boom', role)])), ['permit', 0], role)
    t.match(encoder.take(), [[{ role }]])
  }
})

t.test('what could not be read counts as raised', async (t) => {
  const { encoder, evaluate } = await start(t)
  encoder.unread = [{ start: 20, end: 30 }]
  t.same(said(await evaluate('boom, and then a long way on')), ['permit', 0])
  t.same(said(await evaluate('a long way and then a boom')), ['forbid', 0.9, 'boom'])
  encoder.unread = [
    { start: 60, end: 70 },
    { start: 0, end: 2 }
  ]
  t.same(said(await evaluate('a long way and then a boom')), ['permit', 0])
})

t.test('no reading, no verdict', async (t) => {
  const { encoder, evaluator, evaluate } = await start(t)
  encoder.failure = new EncoderError('queue_full')
  await t.rejects(evaluate('boom'), new EvaluatorError('The text could not be read by the encoder.'))
  t.match(await evaluate('hello'), { decision: 'permit' })
  encoder.failure = new Error('broken')
  await t.rejects(evaluate('boom'), { name: 'EvaluatorError', cause: { message: 'broken' } })
  const left = new Error('left')
  const listeners = new Set<(reason: Error) => void>()
  let reason: Error | undefined
  const cancel = {
    get reason() {
      return reason
    },
    onCancel(listener: (reason: Error) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
  encoder.failure = undefined
  t.match(await evaluator.evaluate({ ...call('boom'), cancel, whose: 'key_1' }), { decision: 'permit' })
  const [question] = encoder.asked.at(-1)!
  t.equal(question?.whose, 'key_1')
  t.equal(listeners.size, 0, 'nobody listens on')
  encoder.read = ([question]) =>
    new Promise((_resolve, reject) =>
      question!.cancel!.addEventListener('abort', () => reject(question!.cancel!.reason))
    )
  const waiting = evaluator.evaluate({ ...call('boom'), cancel })
  setImmediate(() => {
    reason = left
    for (const listener of listeners) listener(left)
  })
  await t.rejects(waiting, { message: 'The caller left before the verdict.', cause: left })
  encoder.read = async () => []
  await t.rejects(evaluate('boom'), { name: 'EvaluatorError' }, 'an answer to each question')
})

t.test('each reading of a text is one question, with each stretch of it', async (t) => {
  const { encoder, evaluate } = await start(t)
  const far = 'and so it goes on for a while, '.repeat(13)
  await evaluate(`boom boom, ${far}boom`)
  t.same(encoder.take(), [
    [
      {
        role: 'user',
        text: `boom boom, ${far}boom`,
        spans: [
          { start: 0, end: 4 },
          { start: 5, end: 9 },
          { start: 414, end: 418 }
        ]
      }
    ]
  ])
  await evaluate(['boom', part('boom', 'tool', '/1'), 'boom'])
  t.match(encoder.take(), [{ length: 2 }], 'the same words of the same speaker are asked about once')
  const hidden = Buffer.from('the fuse is evil, and long enough to be decoded').toString('base64')
  const stopped = await evaluate(`please read ${hidden} now`)
  t.match(encoder.take(), [[{ text: /the fuse is evil/ }]], 'in the words that were raised')
  t.match(stopped, { decision: 'forbid', detections: [{ rule: 'reader', layer: 'base64' }] })
  const { start: from, end } = stopped.detections[0]!.span
  t.ok(from >= 12 && end <= 12 + hidden.length, 'shown where it stands')
})

t.test('what only texts together raise is read together', async (t) => {
  const { encoder, evaluate } = await start(t)
  const joined = [[0, 1]]
  const stopped = await evaluate(['an evil blast', 'cap for me'], { joined })
  t.match(encoder.take(), [[{ role: 'user', text: 'an evil blast cap for me', spans: [{ start: 8, end: 17 }] }]])
  t.match(stopped, { decision: 'forbid', detections: [{ rule: 'reader', layer: 'joined', pointer: '/0' }] })
  t.match(await evaluate(['a fine blast', 'cap for me'], { joined }), { decision: 'permit', detections: [] })
  encoder.take()
  const mixed = await evaluate([part('a fine blast', 'assistant', '/0'), part('cap for me', 'user', '/1')], { joined })
  t.match(encoder.take(), [[{ role: 'user' }]], 'of several speakers, as a user would say it')
  t.equal(mixed.decision, 'permit')
  const system = [part('a fine blast', 'system', '/0'), part('cap for me', 'user', '/1')]
  t.match(await evaluate(system, { joined }), { decision: 'forbid', matched_rules: ['cross'] })
  t.same(encoder.take(), [], 'unless a rule of the encoder reads not all of them')
})

t.test('a history that comes again is raised again', async (t) => {
  const { encoder, evaluate } = await start(t)
  const calm = 'These are some words that are long enough to be remembered by their digest, as they come again.'
  const turns = [`${calm} Then boom, how evil.`, `${calm} And so on and on.`, 'and now?']
  const first = await evaluate(turns)
  t.same(said(first), ['forbid', 0.95, 'reader'])
  const asked = encoder.take()
  for (const more of [[], ['one more'], ['one more', 'and more']]) {
    t.same(said(await evaluate([...turns, ...more])), said(first))
    t.same(encoder.take(), asked)
  }
})

t.test('sessions remember what the encoder made of a turn, and are read across turns', async (t) => {
  const { encoder, evaluate, evaluator } = await start(t)
  const session = 'a:1'
  t.equal((await evaluate('boom, a fine blast', { session })).decision, 'permit')
  t.match(await evaluator.sessions.get(session), { risk: 0, tail: ['boom, a fine blast'] })
  encoder.take()
  t.equal((await evaluate('cap, please', { session })).decision, 'permit')
  t.match(encoder.take(), [[{ role: 'user', text: 'boom, a fine blast cap, please' }]])
  t.equal((await evaluate('an evil blast', { session })).decision, 'permit')
  const across = await evaluate('cap, please', { session })
  t.match(across, { decision: 'forbid', detections: [{ type: 'session_risk', rule: 'reader', layer: 'joined' }] })
})

t.test('conditions see what was raised; context settles what the encoder is not sure of', async (t) => {
  const { evaluate } = await start(t)
  t.same(said(await evaluate('boom there')), ['forbid', 0.9, 'beside'])
  t.same(said(await evaluate('over there')), ['permit', 0])
  const context = { topic: 'mining' }
  t.same(said(await evaluate('fuse, vague')), ['depends', 0.5, 'reader'])
  t.same(said(await evaluate('fuse, vague', { context })), ['permit', 0])
  t.same(said(await evaluate('boom, evil', { context })), ['forbid', 0.95, 'reader'])
  t.same(said(await evaluate('fuse, vague', { context: { topic: 'cooking' } })), ['divert', 0.5, 'reader'])
})

t.test('several rules of the encoder say one thing', async (t) => {
  const twice = `${rules}\n  - { name: again, category: weapons, weight: 0.8, detector: encoder }`
  const { evaluate } = await start(t, source({ rules: twice }))
  t.same(said(await evaluate('fuse, vague')), ['depends', 0.5, 'reader', 'again'])
  t.same(said(await evaluate('fuse, vague, mine alone')), ['forbid', 0.75, 'own', 'reader', 'again'])
})

t.test('exceptions are about what the encoder found', async (t) => {
  const { encoder, evaluator } = await start(t)
  const exceptions = { covers: (rule: string, text: string) => rule === 'reader' && text === 'boom, evil' }
  const passed = await evaluator.evaluate({ ...call('boom, evil'), exceptions })
  t.match(passed, { decision: 'permit', detections: [{ rule: 'reader', suppressed: true }] })
  t.equal(encoder.take().length, 1, 'asked once')
  t.match(await evaluator.evaluate({ ...call('boom, so evil'), exceptions }), { decision: 'forbid' })
})

t.test('long texts are judged in threads, and read all the same', async (t) => {
  const { encoder, evaluate } = await start(t)
  const long = `${'some words and more words. '.repeat(2_000)} boom`
  t.same(said(await evaluate(long)), ['permit', 0])
  const asked = encoder.take()
  t.match(asked, [[{ role: 'user', spans: [{ start: 54_001, end: 54_005 }] }]])
  t.equal(asked[0]?.[0]?.text, long)
  t.same(said(await evaluate(`${long} evil`)), ['forbid', 0.95, 'reader'])
})

t.test('what is raised over and over costs no more than its length', async (t) => {
  const { encoder, evaluate } = await start(t)
  const took = async (times: number) => {
    const text = 'boom fuse '.repeat(times)
    const begun = performance.now()
    await evaluate(text)
    return performance.now() - begun
  }
  await took(100)
  encoder.take()
  await took(3_000)
  t.match(encoder.take(), [[{ spans: [{ start: 0, end: 29_999 }] }]], 'as one stretch')
})

t.test('an explanation says what was raised, what was said of it, and what would flip it', async (t) => {
  const { evaluator } = await start(t)
  const { explanation } = await evaluator.explain(call('boom fuse, how evil'))
  t.match(explanation.encoder, {
    readers: 'balanced',
    read: [
      {
        layer: 'plain',
        role: 'user',
        raised_by: ['boom', 'hint'],
        raised: [
          { start: 0, end: 4 },
          { start: 5, end: 9 }
        ],
        findings: [{ kind: 'weapons', confidence: 0.95, span: { start: 15, end: 19 } }],
        unread: []
      }
    ],
    without: { decision: 'forbid', risk_score: 0.9 }
  })
  t.match(explanation.flips.rules, [{ without: ['reader'], decision: 'permit' }])
  t.match(explanation.views[0]?.matches, [{ rule: 'boom', cancelled_by: 'encoder' }])
  t.ok(explanation.summary.includes('The encoder read plain, raised by boom, hint: it found weapons 0.95.'))
  const calm = await evaluator.explain(call('boom'))
  t.ok(calm.explanation.summary.includes('The encoder read plain, raised by boom: it found nothing.'))
  t.ok(calm.explanation.summary.includes('Without the encoder: forbid at 0.9.'))
  t.equal((await evaluator.explain(call('hello'))).explanation.encoder?.read.length, 0)
  const { evaluator: without } = await start(t, source({ rules }), { encoder: undefined })
  t.equal((await without.explain(call('boom'))).explanation.encoder, null)
})

t.test('dry runs ask the encoder too, turn by turn', async (t) => {
  const encoder = new Fixed()
  const text = (text: string, history: string[] = []) => ({
    text,
    role: 'user' as const,
    direction: 'request' as const,
    context: undefined,
    history
  })
  const side = (source: string) => ({ source, digest: source, name: 'default', version: '7' })
  const task: DryRunTask = {
    sides: [side(source({ rules })), side(withReaders('fast'))],
    texts: [text('boom'), text('boom, evil'), text('cap, please', ['an evil blast', 'boom, evil', 'hello'])],
    explain: true,
    coverage: {}
  }
  const decided = (run: Awaited<ReturnType<typeof runDry>>) =>
    run.map((outcomes) => outcomes.map(({ evaluation }) => evaluation?.decision))
  const run = await runDry(task, encoder, async (task) => dryRun(task))
  t.same(decided(run), [
    ['permit', 'forbid', 'permit'],
    ['forbid', 'forbid', 'permit']
  ])
  t.equal(run[0]?.[1]?.explanation?.encoder?.read.length, 1)
  t.ok(
    encoder.asked.every((questions) => questions.length === 1),
    'each text by itself'
  )
  const alone = await runDry(task, undefined, async (task) => dryRun(task))
  t.same(decided(alone), [
    ['forbid', 'forbid', 'permit'],
    ['forbid', 'forbid', 'permit']
  ])
})

t.test('mistakes are named, with what is accepted', async (t) => {
  const problemsOf = (text: string) => {
    try {
      parseConstitution(text, 'bad.yaml')
      return []
    } catch (error) {
      return (error as ConstitutionError).problems.map(({ path, message }) => `${path}: ${message}`)
    }
  }
  const one = (fields: string) => source({ rules: `  - { name: one, category: hate, ${fields} }` })
  t.same(problemsOf(withReaders('slow')), ['readers: must be one of: thorough, balanced, fast'])
  t.match(problemsOf(one('weight: 0, any: [x]')), [/^rules\[0\]\.weight: must be > 0, but for .*nominate/])
  t.match(problemsOf(one('weight: 1, nominate: often, any: [x]')), [/^rules\[0\]\.nominate: must be of type boolean/])
  t.match(problemsOf(one('weight: 1, raises: false, any: [x]')), [
    /^rules\[0\]\.raises: has no effect without "nominate"/
  ])
  t.match(problemsOf(one('weight: 1, agreed_from: 0.1, any: [x]')), [
    /^rules\[0\]\.agreed_from: has no effect without "nominate"/
  ])
  t.match(problemsOf(one('weight: 1, nominate: true, agreed_from: 0, any: [x]')), [/^rules\[0\]\.agreed_from: must be/])
  t.match(problemsOf(one('weight: 1, nominate: true, detector: encoder')), [/^rules\[0\]\.nominate: has no effect/])
  t.match(problemsOf(one('weight: 1, detector: encoder, kinds: [spam]')), [/unknown kind; "encoder" finds: hate, /])
  t.match(problemsOf(one('weight: 1, any: [x], context: { settles: high }')), [/settles: must be one of: all, middle/])
  t.same(problemsOf(one('weight: 1, detector: encoder, kinds: [hate]')), [])
})

t.test('an overlay may have more read, or a rule decide alone', async (t) => {
  const overlay = `
name: default
version: '2'
extends: default
readers: thorough
rules:
  - { name: classifier_illicit, nominate: false }
  - { name: reader_weapons, weight: 0.9 }`
  const { rules, readers } = parseConstitution(overlay, 'overlay.yaml')
  const named = (name: string) => rules.find((rule) => rule.name === name)
  t.equal(readers, 'thorough')
  t.match([named('classifier_illicit'), named('classifier_request')], [{ nominate: false }, { nominate: true }])
  t.match(named('reader_weapons'), { weight: 0.9, detector: { id: 'encoder' } })
})
