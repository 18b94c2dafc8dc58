/** Every kind of file, by every way in which a dialect carries one, through the proxy on a socket. */
import t from 'tap'
import type { DialectId, RouteSettings } from '../../src/base/settings.js'
import type { Files } from '../../src/files/file.js'
import { openFiles } from '../../src/files/files.js'
import { docx, mail, odp, ods, odt, pdf, png, pptx, xlsx } from '../files/make.js'
import { completion, fakeUpstream, json } from '../support/upstream.js'
import { fileSettings, gatewayAt, type Place, type Tap } from './carriers.js'
import { harness, route, upstreamSettings } from './harness.js'

const files: Files = await openFiles(fileSettings, false, () => undefined)
t.teardown(() => files.close())

interface Sent {
  name: string
  type: string
  data: string
}

type Make = (text: string) => Buffer | Promise<Buffer>
const office = 'application/vnd.openxmlformats-officedocument.'
const open = 'application/vnd.oasis.opendocument.'
const kinds: Record<string, { type: string; make: Make; picture?: Make }> = {
  txt: { type: 'text/plain', make: (text) => Buffer.from(text) },
  csv: { type: 'text/csv', make: (text) => Buffer.from(`a,b\n1,${text}`) },
  json: { type: 'application/json', make: (text) => Buffer.from(JSON.stringify({ a: text })) },
  html: {
    type: 'text/html',
    make: (text) => Buffer.from(`<p>${text}</p>`),
    picture: (text) => Buffer.from(`<p>${text}</p><img src="data:image/png;base64,AAAA">`)
  },
  pdf: {
    type: 'application/pdf',
    make: (text) => pdf(['first', text]),
    picture: (text) => pdf([text], async (document) => document.getPage(0).drawImage(await document.embedPng(png)))
  },
  docx: {
    type: `${office}wordprocessingml.document`,
    make: (text) => docx(text),
    picture: (text) => docx(text, { more: [{ name: 'word/media/a.png', content: png }] })
  },
  pptx: {
    type: `${office}presentationml.presentation`,
    make: (text) => pptx([text]),
    picture: (text) => pptx([text], { more: [{ name: 'ppt/media/a.png', content: png }] })
  },
  xlsx: {
    type: `${office}spreadsheetml.sheet`,
    make: (text) => xlsx([{ rows: [[text]] }]),
    picture: (text) => xlsx([{ rows: [[text]] }], { more: [{ name: 'xl/media/a.png', content: png }] })
  },
  odt: {
    type: `${open}text`,
    make: (text) => odt(text),
    picture: (text) => odt(text, { more: [{ name: 'Pictures/a.png', content: png }] })
  },
  ods: { type: `${open}spreadsheet`, make: (text) => ods([[text]]) },
  odp: { type: `${open}presentation`, make: (text) => odp([text]) },
  eml: {
    type: 'message/rfc822',
    make: (text) => mail([{ type: 'text/plain', content: text }]),
    picture: (text) =>
      mail([
        { type: 'text/plain', content: text },
        { type: 'image/png', content: png, name: 'a.png' }
      ])
  }
}

interface Carrier {
  dialect: DialectId
  path: string
  upstreamPath?: string
  role: string
  body(sent: Sent): object
  /** What says where a file is, without its bytes. */
  references: readonly object[]
}

const url = ({ type, data }: Sent) => `data:${type};base64,${data}`
const filePart = (sent: Sent) => ({ type: 'file', file: { filename: sent.name, file_data: url(sent) } })
const inputFile = (sent: Sent) => ({ type: 'input_file', filename: sent.name, file_data: url(sent) })
const document = ({ type, data }: Sent) => ({ type: 'document', source: { type: 'base64', media_type: type, data } })
const inlineData = ({ type, data }: Sent) => ({ inlineData: { mimeType: type, data } })

const chat = (...content: object[]) => ({ model: 'm', messages: [{ role: 'user', content }] })
const claude = (...content: object[]) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] })
const gemini = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] })
const responses = (item: object) => ({ model: 'm', input: [item] })
const look = { type: 'text', text: 'look' }
const remote = 'https://files.example.com/a.pdf'
const geminiPath = '/v1beta/models/{model}:generateContent'

const carriers: Record<string, Carrier> = {
  'chat, user': {
    dialect: 'openai-chat',
    path: '/v1/chat/completions',
    role: 'user',
    body: (sent) => chat(look, filePart(sent)),
    references: [
      chat({ type: 'file', file: { file_id: 'file-1' } }),
      chat({ type: 'file', file: { filename: 'a.pdf', file_data: remote } })
    ]
  },
  'chat, tool': {
    dialect: 'openai-chat',
    path: '/v1/chat/completions',
    role: 'tool',
    body: (sent) => ({ model: 'm', messages: [{ role: 'tool', tool_call_id: 'c', content: [filePart(sent)] }] }),
    references: []
  },
  'Azure, user': {
    dialect: 'azure-openai',
    path: '/openai/deployments/{deployment}/chat/completions',
    role: 'user',
    body: (sent) => chat(filePart(sent)),
    references: [chat({ type: 'file', file: { file_id: 'file-1' } })]
  },
  'Responses, user': {
    dialect: 'openai-responses',
    path: '/v1/responses',
    role: 'user',
    body: (sent) => responses({ role: 'user', content: [inputFile(sent)] }),
    references: [
      { type: 'input_file', file_id: 'file-1' },
      { type: 'input_file', file_url: remote }
    ].map((part) => responses({ role: 'user', content: [part] }))
  },
  'Responses, function': {
    dialect: 'openai-responses',
    path: '/v1/responses',
    role: 'tool',
    body: (sent) => responses({ type: 'function_call_output', call_id: 'c', output: [inputFile(sent)] }),
    references: [
      responses({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_url: remote }] })
    ]
  },
  'Anthropic, document': {
    dialect: 'anthropic',
    path: '/v1/messages',
    role: 'tool',
    body: (sent) => claude(look, document(sent)),
    references: [
      claude({ type: 'document', source: { type: 'url', url: remote } }),
      claude({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
      claude({ type: 'container_upload', file_id: 'file_1' })
    ]
  },
  'Anthropic, tool result': {
    dialect: 'anthropic',
    path: '/v1/messages',
    role: 'tool',
    body: (sent) => claude({ type: 'tool_result', tool_use_id: 't', content: [document(sent)] }),
    references: [
      claude({
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'document', source: { type: 'url', url: remote } }]
      })
    ]
  },
  'Gemini, inlineData': {
    dialect: 'gemini',
    path: geminiPath,
    role: 'user',
    body: (sent) => gemini({ text: 'look' }, inlineData(sent)),
    references: [gemini({ fileData: { mimeType: 'application/pdf', fileUri: remote } })]
  },
  'Gemini, function response': {
    dialect: 'gemini',
    path: geminiPath,
    role: 'tool',
    body: (sent) => gemini({ functionResponse: { name: 'f', response: {}, parts: [inlineData(sent)] } }),
    references: [gemini({ functionResponse: { name: 'f', response: {}, parts: [{ fileData: { fileUri: remote } }] } })]
  }
}

const gatewayFor = (t: Tap, carrier: Place, own: Partial<RouteSettings> = {}) =>
  gatewayAt(t, files, carrier, { unscannable: { file: 'scan' }, ...own })

for (const [carried, carrier] of Object.entries(carriers)) {
  t.test(`${carried}: each kind is read, judged with its sender's role, and forwarded as it came`, async (t) => {
    const { upstream, gateway, post } = await gatewayFor(t, carrier)
    for (const [ending, { type, make, picture }] of Object.entries(kinds)) {
      const send = async (bytes: Buffer) => {
        const body = carrier.body({ name: `a.${ending}`, type, data: bytes.toString('base64') })
        return { body, response: await post(body) }
      }
      const harmless = await send(await make('harmless words'))
      t.equal(harmless.response.status, 200, `${ending}: ${await harmless.response.text()}`)
      t.equal(
        upstream.requests.at(-1)!.body.toString(),
        JSON.stringify(harmless.body),
        `${ending}: forwarded as it came`
      )
      const { parts } = gateway.evaluator.inputs.findLast(({ direction }) => direction === 'request')!
      const found = parts.filter(({ text }) => text.includes('harmless words'))
      t.ok(found.length > 0 && found.every(({ role }) => role === carrier.role), `${ending}: judged as ${carrier.role}`)
      if (ending === 'pdf') t.match(found[0]!.pointer, /#page=2$/)
      const before = upstream.requests.length
      t.equal((await send(await make('please forbidme now'))).response.status, 400, `${ending}: forbidden`)
      if (picture !== undefined) {
        const unread = await send(await picture('harmless words'))
        t.equal(unread.response.status, 422, `${ending}: with a picture`)
        t.match(await unread.response.text(), /picture_unread/)
      }
      t.equal(upstream.requests.length, before, `${ending}: nothing else was forwarded`)
    }
    for (const body of carrier.references) {
      const response = await post(body)
      t.equal(response.status, 422)
      t.match(await response.text(), /\(file: (?:reference|unknown_field)\)/)
    }
  })
}

const user = carriers['chat, user']!
const sent = (bytes: Buffer | string, name = 'a.txt', type = 'text/plain'): Sent => ({
  name,
  type,
  data: Buffer.from(bytes as string).toString('base64')
})

t.test('what is said half in a message and half in its file is judged as one', async (t) => {
  const { post } = await gatewayFor(t, user)
  t.equal((await post(chat({ type: 'text', text: 'forbid' }, filePart(sent('me please'))))).status, 400)
  t.equal((await post(chat(filePart(sent('forbid')), { type: 'text', text: 'me please' }))).status, 400)
  t.equal(
    (await post(chat(filePart(sent(await pdf(['forbid', 'me']), 'a.pdf', 'application/pdf'))))).status,
    400,
    'over two pages'
  )
})

t.test('the refusal says why a file is unread, and the log says nothing of what is in it', async (t) => {
  const { gateway, post } = await gatewayFor(t, user)
  const response = await post(chat(look, filePart(sent('secretword {', 'a.pdf', 'application/pdf'))))
  t.match((await response.json()).error, {
    code: 'unscannable_content',
    details: { pointer: '/messages/0/content/1', reason: 'type_mismatch' }
  })
  t.equal(response.headers.get('x-safety-pointer'), '/messages/0/content/1')
  t.notMatch(gateway.logLines.join(), /secretword/)
})

t.test('fields that nobody knows, and two files in one part, are not passed over', async (t) => {
  const { post } = await gatewayFor(t, user)
  const file = { filename: 'a.txt', file_data: url(sent('harmless')) }
  for (const part of [
    { type: 'file', file: { ...file, extra: 'x' } },
    { type: 'file', file: { ...file, data: url(sent('other')) } },
    { type: 'file', file: { ...file, file_id: 'file-1' } },
    { type: 'file', file: { ...file, file_data: `${file.file_data}!` } },
    { type: 'file', file: { ...file, file_data: 'data:text/plain,harmless' } }
  ]) {
    t.equal((await post(chat(part))).status, 422, JSON.stringify(part))
  }
  t.equal((await post(chat({ type: 'file', file: { ...file, file_id: null } }))).status, 200)
  const named = {
    type: 'file',
    file: { ...file, file_data: url({ ...sent('harmless'), type: 'text/plain;name=forbidme' }) }
  }
  t.equal((await post(chat(named))).status, 400, 'parameters of a type are text')
})

t.test('redaction rewrites text files, and refuses others', async (t) => {
  const { upstream, gateway, post } = await gatewayFor(t, user, { redact: ['personal_data'] })
  const response = await post(chat(filePart(sent('write to me@example.com, äh'))))
  t.equal(response.status, 200)
  t.equal(response.headers.get('x-safety-redacted'), '1')
  const [part] = JSON.parse(upstream.requests.at(-1)!.body.toString()).messages[0].content
  const [head, data] = part.file.file_data.split(',')
  t.equal(head, 'data:text/plain;base64')
  t.equal(Buffer.from(data, 'base64').toString(), 'write to <PERSONAL_DATA>, äh')
  const before = upstream.requests.length
  t.equal((await post(chat(filePart(sent(docx('me@example.com'), 'a.docx', kinds.docx!.type))))).status, 400)
  t.equal((await post(chat(filePart(sent('{"a":"m\\u0065@example.com"}', 'a.json', 'application/json'))))).status, 400)
  t.equal(upstream.requests.length, before)
  t.ok(gateway.evaluator.inputs.length > 0)
})

t.test('kinds have their own acts, and observe refuses nothing', async (t) => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } }
  const file = filePart(sent('harmless'))
  const both = await gatewayFor(t, user, { unscannable: { image: 'permit', file: 'scan' } })
  t.equal((await both.post(chat(image, file))).status, 200)
  const passed = await both.post(chat(image, file))
  t.equal(passed.headers.get('x-safety-not-evaluated'), 'image', 'a file that was read is no part of what was not')
  const scan = await gatewayFor(t, user)
  t.equal((await scan.post(chat(image, file))).status, 422, 'pictures are not read')
  const review = await gatewayFor(t, user, { unscannable: { image: 'review', file: 'scan' } })
  t.equal((await review.post(chat(image, file))).status, 403)
  const observe = await gatewayFor(t, user, { mode: 'observe' })
  const unread = await observe.post(chat(filePart(sent(png, 'a.txt'))))
  t.equal(unread.status, 200)
  t.equal(unread.headers.get('x-safety-not-evaluated'), 'file')
})

t.test('without readers nothing passes, and a queue that is full says when to come again', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('ok')))
  const { path } = user
  const none = await harness(t, [route({ path, unscannable: 'scan' })], { default: upstreamSettings(upstream.url) })
  t.equal((await none.post(chat(filePart(sent('harmless'))))).status, 422)
  const { Fault } = await import('../../src/base/errors.js')
  const full = { read: () => Promise.reject(new Fault('overloaded', { headers: { 'retry-after': '2' } })) }
  const busy = await harness(
    t,
    [route({ path, unscannable: 'scan' })],
    { default: upstreamSettings(upstream.url) },
    full
  )
  const response = await busy.post(chat(filePart(sent('harmless'))))
  t.equal(response.status, 503)
  t.equal(response.headers.get('retry-after'), '2')
  t.equal(upstream.requests.length, 0)
})
