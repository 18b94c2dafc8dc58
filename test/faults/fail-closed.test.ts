/** Without a verdict nothing passes: whatever breaks the evaluator, on every surface, in both directions, streamed or not. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { source } from '../policy/support.js'
import { rules } from '../support/cli.js'
import { call, tempDir } from '../support/gateway.js'
import { startNode } from '../support/node.js'
import { fakeUpstream, json, sse } from '../support/upstream.js'
import { isSound, sentBy, templatesOf, type Wire, wholeOf, wires } from '../support/wires.js'
import { isFull, promise } from './report.js'

t.setTimeout(600_000)

/** Over the limit up to which a text is judged on the event loop: it is judged in a thread. */
const long = ' word'.repeat(8_000)
const canary = 'canary-5f3a'
/** What the judge does with a text; `inThread`: the fault ends the thread that it is in, or belongs to its messages. */
const causes: readonly { name: string; fault: string; inThread: boolean; slow?: boolean }[] = [
  { name: 'the judge throws', fault: 'throw', inThread: false },
  { name: 'the judge throws in its thread', fault: 'throw', inThread: true },
  { name: 'the judge hangs', fault: 'hang', inThread: true, slow: true },
  { name: 'the thread dies', fault: 'die', inThread: true, slow: true },
  { name: 'the thread runs out of memory', fault: 'memory', inThread: true, slow: true },
  { name: 'a part is not covered', fault: 'part', inThread: false },
  { name: 'no verdict', fault: 'none', inThread: false },
  { name: 'another word than a decision', fault: 'word', inThread: true },
  { name: 'a detector throws', fault: 'detector', inThread: false }
]
/** Nonsense of other kinds, for one cell each. */
const more = ['shape', 'score', 'unsendable', 'none', 'part']

const modes = ['closed', 'open', 'observe'] as const
type Mode = (typeof modes)[number]
const key = generateKey('live')

const textOf = (fault: string, inThread: boolean) => `«broken:${fault}» ${canary}${inThread ? long : ''}`

t.test('fail closed', async (t) => {
  const upstream = await fakeUpstream(t, json({}))
  const dir = tempDir(t)
  const detector = '\n  - { name: any_secret, category: secrets, weight: 0.9, detector: secrets }'
  writeFileSync(join(dir, 'default.yaml'), source({ rules: rules + detector }))
  const treatment: Record<Mode, string> = {
    closed: 'output: full',
    open: 'output: full, on_failure: open',
    observe: 'mode: observe'
  }
  const routes = modes.flatMap((mode) =>
    wires.flatMap((wire) => {
      const dialect = wire.name.split(',')[0]
      // Pictures and sound are asked about only where they may pass.
      const more = `dialect: ${dialect}, unscannable: { image: permit, audio: permit }, ${treatment[mode]}`
      return templatesOf(wire).map((at) => `  - { path: "/${mode}${at}", upstream_path: "${at}", ${more} }`)
    })
  )
  writeFileSync(
    join(dir, 'gateway.yaml'),
    [
      'constitutions: { default: default.yaml }',
      'limits: { live_per_minute: 1000000 }',
      `upstreams: { default: { url: "${upstream.url}", key: upstream-secret-0123456789 } }`,
      'routes:',
      ...new Set(routes)
    ].join('\n')
  )
  const node = await startNode(t, {
    NODE_OPTIONS: `--import ${new URL('../support/broken-judge.mjs', import.meta.url)}`,
    SLUICEGATE_CONFIG: join(dir, 'gateway.yaml'),
    SLUICEGATE_BOOTSTRAP_KEY: key
  })
  const counted = async (line: string) => {
    const text = await (await fetch(`${node.opsUrl}/metrics`)).text()
    return text
      .split('\n')
      .filter((each) => each.startsWith(line))
      .reduce((sum, each) => sum + Number(each.slice(each.lastIndexOf(' '))), 0)
  }
  const audited = async (kind: string) =>
    (await call(node.url, `/api/v1/audit?kind=${kind}&limit=1000`, { key })).body.rows as {
      subject: string
      data: Record<string, string>
    }[]

  async function ask(wire: Wire, mode: Mode, text: string, stream: boolean) {
    const { type, bytes } = sentBy(wire, text, stream)
    const response = await fetch(`${node.url}/${mode}${wire.path(stream)}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': type },
      body: bytes
    })
    let body = ''
    let isCut = false
    try {
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) body += Buffer.from(piece)
    } catch {
      isCut = true
    }
    return { status: response.status, headers: response.headers, body, isCut }
  }
  const answering = (wire: Wire, text: string, stream: boolean) => {
    const frames = wire.frames([text.slice(0, 200), text.slice(200), 'end'])
    const { type, bytes } = wholeOf(wire, text)
    upstream.answer = stream
      ? sse(frames.join(''), { type: wire.type, piece: 20_000, encoding: wire.encoding })
      : (res) => res.writeHead(200, { 'content-type': type }).end(bytes)
  }

  let failures = 0
  let passes = 0
  let wrong = 0
  let cells = 0
  /** One cell: what the client and the upstream see, and what is counted. */
  async function cell(wire: Wire, fault: string, inThread: boolean, mode: Mode, isAnswer: boolean, stream: boolean) {
    cells++
    const label = `${wire.name}, ${fault}${inThread ? ' in a thread' : ''}, ${mode}, ${isAnswer ? 'answer' : 'request'}, ${stream ? 'streamed' : 'whole'}`
    const bad = textOf(fault, inThread)
    answering(wire, isAnswer ? bad : 'fine', stream)
    upstream.requests.length = 0
    const { status, headers, body, isCut } = await ask(wire, mode, isAnswer ? 'hello' : bad, stream)
    const problems: string[] = []
    const check = (holds: boolean, what: string) => {
      if (!holds) problems.push(what)
    }
    if (mode === 'open') {
      passes++
      check(status === 200 && !isCut, `passed with ${status}`)
      check(upstream.requests.length === 1, `${upstream.requests.length} requests`)
    } else {
      check(
        upstream.requests.length === (isAnswer ? 1 : 0),
        `${upstream.requests.length} requests reached the upstream`
      )
      if (mode === 'observe' && isAnswer && stream) {
        // It has left before it is judged; it must not look complete.
        check(status === 200 && isCut && !wire.isComplete(body.replace(bad, '')), `a clean end, cut: ${isCut}`)
      } else {
        check(status === 503, `status ${status}`)
        check(headers.get('retry-after') === '1', 'no Retry-After')
        check(!body.includes(canary) && !body.includes('broken'), 'the text is told')
        let code: unknown
        try {
          code = wire.codeOf(JSON.parse(body))
        } catch {
          code = body.slice(0, 80)
        }
        check(code === 'evaluator_unavailable', `code ${code}`)
      }
    }
    failures++
    if (problems.length > 0) {
      wrong++
      t.fail(`${label}: ${problems.join('; ')}`)
    }
  }

  for (const { name, fault, inThread, slow } of causes) {
    for (const [m, mode] of modes.entries()) {
      for (const isAnswer of [false, true]) {
        for (const stream of [false, true]) {
          // A thread takes a second or two to end and to start: in the short form each slow fault is tried where it counts most.
          if (slow && !isFull && (mode !== 'closed' || isAnswer !== stream)) continue
          const fitting = wires.filter((wire) => !(stream && wire.isWhole) && !(isAnswer && isSound(wire)))
          const wire = fitting[(cells + m) % fitting.length]!
          await cell(wire, fault, inThread, mode, isAnswer, stream)
        }
      }
    }
    t.pass(name)
  }
  for (const wire of wires) {
    await cell(wire, 'throw', false, 'closed', false, false)
    if (!isSound(wire)) await cell(wire, 'throw', false, 'closed', true, wire.isWhole !== true)
  }
  for (const fault of more) await cell(wires[0]!, fault, true, 'closed', true, true)
  promise(
    t,
    'fail closed, cell by cell',
    `${wrong} of ${cells} cells wrong`,
    isFull ? '0 of 108 and more' : '0',
    wrong === 0
  )

  // Whatever else judges says so too.
  const bad = textOf('throw', false)
  const messages = [{ role: 'user', content: bad }]
  for (const [path, body] of [
    ['/api/v1/safety/evaluate', { input_text: bad }],
    ['/v1/moderations', { input: bad }],
    ['/guards/flat', { text: bad }],
    ['/beta/litellm_basic_guardrail_api', { texts: [bad], input_type: 'request' }],
    ['/guards/agentgateway/request', { body: { messages } }],
    ['/guards/ext-authz/closed/v1/chat/completions', { model: 'm', messages }]
  ] as const) {
    const { status, body: answer } = await call(node.url, path, { key, body })
    t.equal(status, 503, path)
    t.match(JSON.stringify(answer), /evaluator_unavailable/)
    t.notMatch(JSON.stringify(answer), canary)
    failures++
  }
  const asked = await call(node.url, '/guards/auth-request', {
    key,
    headers: { 'x-safety-text': '%C2%ABbroken:throw%C2%BB' }
  })
  t.match([asked.status, asked.headers.get('x-safety-code')], [403, 'evaluator_unavailable'])
  // This peer takes an error for a pass: it is told in a 200.
  const asks = { requestType: 'chatComplete', eventType: 'beforeRequestHook', request: { json: { messages } } }
  const told = await call(node.url, '/guards/portkey', { key, body: asks })
  t.match([told.status, told.body.verdict], [200, false])
  failures += 2

  const open = await audited('fail_open')
  const closed = await audited('fail_closed')
  const figures = {
    failures: await counted('sluicegate_evaluator_failures_total'),
    timeouts: await counted('sluicegate_evaluator_failures_total{surface="chat",cause="timeout"}'),
    passes: await counted('sluicegate_fail_open_total'),
    open: open.length,
    closed: closed.length
  }
  promise(
    t,
    'every failure is counted and audited',
    `${figures.failures} of ${failures} counted, ${figures.passes} and ${figures.open} of ${passes} passes, ${figures.closed} refusals audited`,
    'all',
    figures.failures === failures &&
      figures.passes === passes &&
      figures.open === passes &&
      figures.closed === failures - passes
  )
  t.ok(figures.timeouts > 0, 'a deadline is told from a crash')
  t.match(open[0]!.data, { surface: /chat|answer/, cause: /error|timeout/, route: /^\/open\// })
  t.notMatch(JSON.stringify([open, closed, node.logs]), canary)
  await setTimeout(50)
  t.equal(node.child.exitCode, null, 'and the process serves on')
  const { body } = await call(node.url, '/api/v1/safety/evaluate', { key, body: { input_text: `kaboom${long}` } })
  t.equal(body.evaluation?.decision, 'forbid', 'threads too')
})
