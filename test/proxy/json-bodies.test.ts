/** What readers of JSON differ on: refused, or forwarded with the meaning that was judged; never a 5xx. */
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { either, no, yes } from '../fixtures/json-texts.js'
import { completion, fakeUpstream, json } from '../support/upstream.js'
import { harness, route, upstreamSettings } from './harness.js'

/** The text as a whole body, and as a value within a chat that is valid. */
const whole = (text: string | Buffer) => Buffer.from(text)
const within = (text: string | Buffer) =>
  Buffer.concat([Buffer.from('{"messages":[{"role":"user","content":"hi"}],"x":'), Buffer.from(text), Buffer.from('}')])
const named = (text: string | Buffer) =>
  JSON.stringify(text.toString('latin1'))
    .replace(/[^ -~]/g, '?')
    .slice(0, 80)

/** Every string and key of a value. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const each of value) yield* textsOf(each)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      yield key
      yield* textsOf(each)
    }
  }
}

t.test('JSON', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  const gateway = await harness(t, [route()], { default: upstreamSettings(upstream.url) })
  const pairs: [sent: Buffer, forwarded: Buffer][] = []

  async function ask(text: string | Buffer, put: (text: string | Buffer) => Buffer): Promise<number> {
    upstream.requests.length = 0
    gateway.evaluator.inputs.length = 0
    const sent = put(text)
    const response = await gateway.post(sent)
    await response.text()
    const { status } = response
    if (status !== 200) {
      t.equal(upstream.requests.length, 0, named(text))
      return status
    }
    const forwarded = upstream.requests[0]!.body
    pairs.push([sent, forwarded])
    const judged = new Set(gateway.evaluator.inputs.flatMap(({ parts }) => parts.map((part) => part.text)))
    const { x } = JSON.parse(forwarded.toString()) as { x: unknown }
    const unseen = [...textsOf(x)].filter((each) => each !== '' && !judged.has(each))
    // Names that the API itself uses carry no message.
    t.same(
      unseen.filter((each) => !/^[a-z_]+$/.test(each)),
      [],
      `all of it judged: ${named(text)}`
    )
    return status
  }

  t.ok(no.length + yes.length + either.length > 300)
  for (const text of no) {
    for (const put of [whole, within]) t.equal(await ask(text, put), 400, `refused: ${named(text)}`)
  }
  for (const text of yes) t.equal(await ask(text, within), 200, `taken: ${named(text)}`)
  for (const text of either) {
    const status = await ask(text, within)
    t.ok(status === 200 || status === 400 || status === 422, `either: ${named(text)}: ${status}`)
  }

  const skip = spawnSync('python3', ['-V']).error !== undefined && 'python3 is not installed'
  t.test('another reader takes what was forwarded for what was sent', { skip }, async (t) => {
    const script = [
      'import json, sys, re',
      'def clean(v):',
      '  if isinstance(v, str): return re.sub("[\\ud800-\\udfff]", "\\ufffd", v)',
      '  if isinstance(v, list): return [clean(x) for x in v]',
      '  if isinstance(v, dict): return {clean(k): clean(x) for k, x in v.items()}',
      '  return v',
      'pairs = json.load(sys.stdin)',
      'load = lambda h: clean(json.loads(bytes.fromhex(h).decode("utf-8")))',
      'print(json.dumps([i for i, (a, b) in enumerate(pairs) if load(a) != load(b)]))'
    ].join('\n')
    const input = JSON.stringify(pairs.map((pair) => pair.map((each) => each.toString('hex'))))
    const ran = spawnSync('python3', ['-c', script], { input })
    const different = JSON.parse(ran.stdout.toString() || `"${ran.stderr}"`) as number[]
    t.same(
      different.map((at) => pairs[at]!.map(String)),
      []
    )
    t.ok(pairs.length >= yes.length)
  })
})
