/** Answers of an upstream that is out to tell what nobody judges, to show its credential, or to make a little into a lot. */
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import type { DialectId, RouteSettings } from '../../src/base/settings.js'
import { isCiphertext, isPackedVector, readBytes } from '../../src/dialects/media.js'
import { Cancel } from '../../src/proxy/cancel.js'
import { guard } from '../../src/proxy/guard.js'
import { buildProxy, caller, chat, route, upstreamSettings } from './harness.js'

const key = 'sk-upstream-0123456789abcdef'

type Body = JsonObject | readonly string[]

/** One exchange, without sockets. @returns what the client got: the status, its text, and whether it broke off */
async function ask(
  t: Test,
  {
    dialect = 'openai-chat',
    path = '/v1/chat/completions',
    request = chat('hello', { stream: true }),
    ...overrides
  }: {
    dialect?: DialectId
    path?: string
    request?: JsonObject
  } & Partial<RouteSettings>,
  answer: Body,
  status = 200
) {
  const settings = route({ path, upstreamPath: path, dialect, ...overrides })
  const { proxy } = buildProxy(t, [settings], { default: upstreamSettings('http://127.0.0.1:1') })
  const inbound = {
    entry: proxy.table.entries[0]!,
    headers: {},
    target: { params: {}, query: '' },
    caller,
    requestId: 'req',
    started: 0,
    cancel: new Cancel()
  }
  let sent: string | undefined
  const isStream = Array.isArray(answer)
  const outcome = await guard(proxy.deps, inbound, Buffer.from(JSON.stringify(request)), async (_, { bytes }) => {
    sent = bytes.toString()
    return {
      status,
      headers: { 'content-type': isStream ? 'text/event-stream' : 'application/json' },
      body: isStream ? Readable.from(answer.map((each) => Buffer.from(each))) : Buffer.from(JSON.stringify(answer)),
      key
    }
  })
  const { reply } = outcome!
  let text = String(reply.body)
  let isBroken = false
  try {
    for (let next = await reply.rest?.frames.next(); next !== undefined; next = await reply.rest?.frames.next()) {
      text += next.value ?? ''
      if (next.done) break
    }
  } catch {
    isBroken = true
  }
  return { status: reply.status, text, isBroken, sent }
}

const delta = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
const stop = [
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
  'data: [DONE]\n\n'
]
const said = (text: string) => ({
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }]
})
const escaped = key.replace(/./g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`)

t.test('the upstream’s credential', async (t) => {
  const streams: Record<string, readonly string[]> = {
    'in one delta': [delta(`It is ${key}.`)],
    'over two deltas': [delta(`It is ${key.slice(0, 14)}`), delta(key.slice(14))],
    'letter by letter': [...key].map(delta),
    'behind a false start': [delta(`sk-up${key.slice(0, 5)}`), delta(key.slice(5))],
    'in JSON escapes': [delta('X').replace('X', escaped)],
    'escaped in what is escaped': [delta(escaped)],
    'escaped, over two deltas': [delta(escaped.slice(0, 21)), delta(escaped.slice(21))],
    'as the name of a field': [`data: ${JSON.stringify({ choices: [], [key]: 1 })}\n\n`],
    'over the arguments of a call': [key.slice(0, 9), key.slice(9)].map(
      (piece) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] } }] })}\n\n`
    ),
    'over two channels': [
      delta(key.slice(0, 9)),
      delta('X').replace('"content":"X"', `"reasoning_content":"${key.slice(9)}"`)
    ]
  }
  for (const output of ['window', 'full', 'off'] as const) {
    for (const [what, frames] of Object.entries(streams)) {
      const { text, status, isBroken } = await ask(t, { output }, [delta('Well. '), ...frames, ...stop])
      t.ok(status === 502 || isBroken, `${what}, ${output}: an error`)
      const shown = text.replace(/\\+u00(..)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      const told = [...shown.matchAll(/"(?:content|arguments|reasoning_content)":"([^"]*)"/g)]
        .map((each) => each[1])
        .join('')
      t.notMatch(told, key.slice(0, 14), `${what}, ${output}: not the half of it`)
    }
    const harmless = [delta('sk-upstream is where'), delta(' it begins, sk-upstream-0123 too.')]
    const { text, isBroken } = await ask(t, { output }, [...harmless, ...stop])
    t.ok(!isBroken && text.includes('0123 too.') && text.includes('[DONE]'), 'what only begins like it passes')
  }
  const request = chat('hello')
  const parts = [key.slice(0, 9), key.slice(9)].map((text) => ({ type: 'text', text }))
  for (const answer of [said(key), said(escaped), { ...said('x'), [key]: 1 }, said(parts as never)]) {
    t.equal((await ask(t, { request }, answer)).status, 502)
  }
  const errors: JsonObject[] = [
    { message: `Bad key ${key}` },
    { message: escaped },
    { message: JSON.stringify(said(escaped)) },
    { message: key.slice(0, 9), param: key.slice(9) },
    { [key]: 'x' }
  ]
  for (const error of errors) t.equal((await ask(t, { request }, { error }, 400)).status, 502)
  t.equal((await ask(t, { request }, said(key.slice(0, 20)))).status, 200)
})

t.test('numbers of an upstream become no lists of that length', async (t) => {
  const responses = {
    dialect: 'openai-responses',
    path: '/v1/responses',
    request: { model: 'm', input: 'x', stream: true }
  } as const
  const message = { id: 'm', type: 'message', role: 'assistant', status: 'in_progress', content: [] }
  const run = (content_index: number, output_index = 0) =>
    [
      { type: 'response.created', response: { id: 'r', output: [] } },
      { type: 'response.output_item.added', output_index, item: message },
      { type: 'response.content_part.added', output_index, content_index, part: { type: 'output_text', text: '' } },
      { type: 'response.output_text.delta', output_index, content_index, delta: 'Hi there, you all. forbidme now' },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } }
    ].map((event, i) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: i })}\n\n`)
  for (const index of [30_000_000, -1, 1.5, 2 ** 31, 65_536]) {
    for (const events of [run(index), run(0, index)]) {
      const { text, status, isBroken } = await ask(t, responses, events)
      t.ok((status === 502 || isBroken) && text.length < 10_000, `${index}: ${text.length} bytes`)
    }
    const chunk = `data: ${JSON.stringify({ choices: [{ index, delta: { content: 'Hi.' } }] })}\n\n`
    t.equal((await ask(t, {}, [chunk, ...stop])).status, 502, `chat: ${index}`)
  }
  const { text } = await ask(t, responses, run(60_000))
  t.match(text, 'response.incomplete')
  t.ok(text.length < 10_000, `the largest index: ${text.length} bytes`)
})

t.test('media is what decodes as what it claims', async (t) => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const noise = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 2_654_435_761) >>> 24))
  const in64 = (...parts: (Buffer | string)[]) =>
    Buffer.concat(parts.map((each) => Buffer.from(each))).toString('base64')
  const bad = 'How do I forbidme? '.repeat(5)
  const url = (value: string, role = 'user') =>
    chat([{ type: 'image_url', image_url: { url: value } }], { role } as never)
  const permit = { unscannable: 'permit' } as const
  const passes = {
    'a picture': `data:image/png;base64,${in64(png, noise)}`,
    'a picture, in capitals': `DATA:IMAGE/PNG;BASE64,${in64(png, noise)}`,
    'an address': 'https://pictures.example/a.png'
  }
  for (const [what, value] of Object.entries(passes)) {
    t.ok((await ask(t, permit, stop, 200)) && (await ask(t, { ...permit, request: url(value) }, said('x'))).sent, what)
  }
  const refused = {
    'text that claims to be a picture': `data:image/png;base64,${in64(bad)}`,
    'text behind a picture’s head': `data:image/png;base64,${in64(png, bad)}`,
    'text behind a byte that is none': `data:application/octet-stream;base64,${in64(Buffer.from([255]), bad)}`,
    'text in base64': `data:text/plain;base64,${in64(bad)}`,
    'text in UTF-16': `data:text/plain;base64,${in64(Buffer.from(bad, 'utf16le'))}`,
    'in no base64': `data:image/png;base64,${bad}`,
    'with nothing claimed': `data:;base64,${bad}`,
    'percent-encoded': `data:text/html,${[...bad].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('')}`,
    'in a parameter': `data:image/png;forbidme;base64,${in64(png, noise)}`,
    'words run together': `${'forbidme_and_more_words_'.repeat(5)}`
  }
  for (const [what, value] of Object.entries(refused)) {
    t.equal((await ask(t, { ...permit, request: url(value) }, said('x'))).sent, undefined, `${what}, for a picture`)
    t.equal((await ask(t, { ...permit, request: chat(value) }, said('x'))).sent, undefined, `${what}, for a text`)
    const named = chat('x', { tools: [{ type: 'function', function: { name: 'f', description: value } }] })
    t.equal((await ask(t, { ...permit, request: named }, said('x'))).sent, undefined, `${what}, for a description`)
    t.notMatch(
      (await ask(t, { ...permit, request: chat('x') }, said(value))).text,
      value.slice(0, 60),
      `${what}, answered`
    )
    const failed = await ask(t, { ...permit, request: chat('x') }, { error: { message: value } }, 400)
    t.equal(failed.status, 502, `${what}, in an error`)
  }

  const mail = `data:text/plain;base64,${in64('Write to me@example.com, please.')}`
  for (const request of [chat(mail), url(mail)]) {
    t.ok((await ask(t, { ...permit, request }, said('x'))).sent, 'passes where nothing is redacted')
    const { sent, status } = await ask(t, { ...permit, redact: ['personal_data'], request }, said('x'))
    t.same([sent, status], [undefined, 400], 'what cannot be redacted in its encoding is refused')
  }

  const random = Buffer.from(Array.from({ length: 300 }, (_, i) => (Math.imul(i + 7, 2_654_435_761) ^ (i << 5)) >>> 13))
  t.ok(isCiphertext(in64(random)), 'ciphertext')
  t.notOk(isCiphertext('How_Do_I_Make_A_Bomb_At_Home_1_With_Words_Run_By_Underscores_And_More_Of_It_2'), 'words')
  const floats = Buffer.alloc(400)
  for (let i = 0; i < 100; i++) floats.writeFloatLE(Math.sin(i) / 30, i * 4)
  t.ok(isPackedVector(in64(floats)), 'a vector')
  t.notOk(
    isPackedVector('HowDoIMakeABombAtHomeWithWordsThatAreRunTogetherUntilTheyAreLongEnough12'),
    'words as a vector'
  )
})

t.test('deciding what a megabyte is takes time in proportion to it', (t) => {
  const cost = (size: number) => {
    const value = `data:image/png;base64,${Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(size, 7)]).toString('base64')}`
    let least = Number.POSITIVE_INFINITY
    for (let run = 0; run < 5; run++) {
      const { user } = process.cpuUsage()
      for (let i = 0; i < 4; i++) readBytes(value, 'image', undefined)
      least = Math.min(least, process.cpuUsage().user - user)
    }
    return least
  }
  cost(100_000)
  const exponent = Math.log2(cost(3_000_000) / cost(750_000)) / 2
  t.ok(exponent < 1.6, `grows with the power of ${exponent.toFixed(2)}`)
  t.end()
})
