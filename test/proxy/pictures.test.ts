/** Pictures by every way in which a dialect carries one, through the proxy on a socket. */
import t from 'tap'
import type { DialectId, RouteSettings } from '../../src/base/settings.js'
import { openFiles } from '../../src/files/files.js'
import { docx } from '../files/make.js'
import { drawn } from '../files/pictures.js'
import { fileSettings, gatewayAt, type Place, type Tap } from './carriers.js'

const files = await openFiles(fileSettings, true, () => undefined)
t.teardown(() => files.close())

const base64 = (name: string) => drawn(name).toString('base64')
const url = (data: string) => `data:image/png;base64,${data}`
const remote = 'https://pictures.example.com/a.png'

interface Carrier {
  dialect: DialectId
  path: string
  role: string
  body(data: string): object
  /** What says where a picture is, without its bytes. */
  references: readonly object[]
}

const look = { type: 'text', text: 'look' }
const chat = (role: string, ...content: object[]) => ({ model: 'm', messages: [{ role, content }] })
const tool = (...content: object[]) => ({ model: 'm', messages: [{ role: 'tool', tool_call_id: 'c', content }] })
const imageUrl = (address: string) => ({ type: 'image_url', image_url: { url: address, detail: 'high' } })
const claude = (...content: object[]) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] })
const block = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
const responses = (item: object) => ({ model: 'm', input: [item] })
const gemini = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] })
const inlineData = (data: string) => ({ inlineData: { mimeType: 'image/png', data } })
const converse = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const bedrockImage = (data: string) => ({ image: { format: 'png', source: { bytes: data } } })
const bedrockResult = (...content: object[]) => ({ toolResult: { toolUseId: 't', content } })
const geminiPath = '/v1beta/models/{model}:generateContent'
const conversePath = '/model/{model}/converse'

const carriers: Record<string, Carrier> = {
  'chat, user': {
    dialect: 'openai-chat',
    path: '/v1/chat/completions',
    role: 'user',
    body: (data) => chat('user', look, imageUrl(url(data))),
    references: [
      chat('user', imageUrl(remote)),
      chat('user', { type: 'image_url', image_url: { file_id: 'file-1' } }),
      chat('user', { type: 'image_url', image_url: remote })
    ]
  },
  'chat, tool': {
    dialect: 'openai-chat',
    path: '/v1/chat/completions',
    role: 'tool',
    body: (data) => tool(imageUrl(url(data))),
    references: [tool(imageUrl(remote))]
  },
  'Azure, user': {
    dialect: 'azure-openai',
    path: '/openai/deployments/{deployment}/chat/completions',
    role: 'user',
    body: (data) => chat('user', imageUrl(url(data))),
    references: [chat('user', imageUrl(remote))]
  },
  'Responses, user': {
    dialect: 'openai-responses',
    path: '/v1/responses',
    role: 'user',
    body: (data) =>
      responses({ role: 'user', content: [{ type: 'input_image', image_url: url(data), detail: 'auto' }] }),
    references: [
      responses({ role: 'user', content: [{ type: 'input_image', image_url: remote }] }),
      responses({ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] })
    ]
  },
  'Responses, function': {
    dialect: 'openai-responses',
    path: '/v1/responses',
    role: 'tool',
    body: (data) =>
      responses({
        type: 'function_call_output',
        call_id: 'c',
        output: [{ type: 'input_image', image_url: url(data) }]
      }),
    references: []
  },
  'Responses, computer': {
    dialect: 'openai-responses',
    path: '/v1/responses',
    role: 'tool',
    body: (data) =>
      responses({
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', image_url: url(data) }
      }),
    references: []
  },
  'Anthropic, image': {
    dialect: 'anthropic',
    path: '/v1/messages',
    role: 'user',
    body: (data) => claude(look, { ...block(data), cache_control: { type: 'ephemeral' } }),
    references: [
      claude({ type: 'image', source: { type: 'url', url: remote } }),
      claude({ type: 'image', source: { type: 'file', file_id: 'file_1' } })
    ]
  },
  'Anthropic, tool result': {
    dialect: 'anthropic',
    path: '/v1/messages',
    role: 'tool',
    body: (data) => claude({ type: 'tool_result', tool_use_id: 't', content: [block(data)] }),
    references: []
  },
  'Gemini, inlineData': {
    dialect: 'gemini',
    path: geminiPath,
    role: 'user',
    body: (data) => gemini({ text: 'look' }, inlineData(data)),
    references: [gemini({ fileData: { mimeType: 'image/png', fileUri: remote } })]
  },
  'Gemini, function response': {
    dialect: 'gemini',
    path: geminiPath,
    role: 'tool',
    body: (data) => gemini({ functionResponse: { name: 'f', response: {}, parts: [inlineData(data)] } }),
    references: []
  },
  'Bedrock, image': {
    dialect: 'bedrock',
    path: conversePath,
    role: 'user',
    body: (data) => converse({ text: 'look' }, bedrockImage(data)),
    references: [converse({ image: { format: 'png', source: { s3Location: { uri: 's3://bucket/a.png' } } } })]
  },
  'Bedrock, tool result': {
    dialect: 'bedrock',
    path: conversePath,
    role: 'tool',
    body: (data) => converse(bedrockResult(bedrockImage(data))),
    references: []
  },
  'Cohere, image': {
    dialect: 'cohere',
    path: '/v2/chat',
    role: 'user',
    body: (data) => chat('user', look, imageUrl(url(data))),
    references: [chat('user', imageUrl(remote))]
  },
  'Ollama, chat': {
    dialect: 'ollama',
    path: '/api/chat',
    role: 'user',
    body: (data) => ({ model: 'm', stream: false, messages: [{ role: 'user', content: 'look', images: [data] }] }),
    references: [{ model: 'm', stream: false, messages: [{ role: 'user', content: 'look', images: [remote] }] }]
  },
  'Ollama, generate': {
    dialect: 'ollama',
    path: '/api/generate',
    role: 'user',
    body: (data) => ({ model: 'm', stream: false, prompt: 'look', images: [data] }),
    references: []
  }
}

const gatewayFor = (t: Tap, carrier: Place, own: Partial<RouteSettings> = {}) =>
  gatewayAt(t, files, carrier, { unscannable: { image: 'scan' }, ...own })

for (const [carried, carrier] of Object.entries(carriers)) {
  t.test(`${carried}: text is read, judged with its sender's role, and the picture forwarded as it came`, async (t) => {
    const { upstream, gateway, post } = await gatewayFor(t, carrier)
    const harmless = carrier.body(base64('harmless'))
    const response = await post(harmless)
    t.equal(response.status, 200, await response.clone().text())
    t.equal(response.headers.get('x-safety-not-evaluated'), 'image_content', 'what it shows was judged by nobody')
    t.equal(upstream.requests.at(-1)!.body.toString(), JSON.stringify(harmless))
    const { parts } = gateway.evaluator.inputs.findLast(({ direction }) => direction === 'request')!
    const found = parts.filter(({ text }) => text.includes('harmless words'))
    t.ok(found.length > 0 && found.every(({ role }) => role === carrier.role), `judged as ${carrier.role}`)
    t.match(found[0]!.pointer, /#xywh=\d+,\d+,\d+,\d+$/)
    const before = upstream.requests.length
    t.equal((await post(carrier.body(base64('forbidden')))).status, 400)
    for (const body of carrier.references) {
      const refused = await post(body)
      t.equal(refused.status, 422)
      t.match(await refused.text(), /\((?:image|file)[:)]/)
    }
    t.equal(upstream.requests.length, before, 'nothing else was forwarded')
  })
}

const user = carriers['chat, user']!
const picture = (name: string) => imageUrl(url(base64(name)))

t.test('what is said half in one picture and half in the next is judged as one', async (t) => {
  const { post } = await gatewayFor(t, user)
  t.equal((await post(chat('user', picture('first-half'), picture('second-half')))).status, 400)
  t.equal((await post(chat('user', { type: 'text', text: 'forbid' }, picture('second-half')))).status, 400)
  t.equal((await post(chat('user', picture('first-half')))).status, 200)
  const ollama = carriers['Ollama, chat']!
  const other = await gatewayFor(t, ollama)
  const images = [base64('first-half'), base64('second-half')]
  const body = { model: 'm', stream: false, messages: [{ role: 'user', content: 'look', images }] }
  t.equal((await other.post(body)).status, 400)
})

t.test(
  'a place for pictures holds a picture of the kind that it is said to be, and fields that somebody knows',
  async (t) => {
    const { post } = await gatewayFor(t, user)
    const rows: [part: object, reason: string][] = [
      [imageUrl(`data:image/jpeg;base64,${base64('harmless')}`), 'type_mismatch'],
      [imageUrl(`data:application/pdf;base64,${Buffer.from('%PDF-1.7').toString('base64')}`), 'type_mismatch'],
      [imageUrl(`data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`), 'picture_unread'],
      [imageUrl(`data:image/png,${base64('harmless')}`), 'bad_encoding'],
      [imageUrl(url(`${base64('harmless')}!`)), 'bad_encoding'],
      [{ ...picture('harmless'), other: 'x' }, 'unknown_field'],
      [{ type: 'image_url', image_url: { url: url(base64('harmless')), data: base64('forbidden') } }, 'unknown_field']
    ]
    for (const [part, reason] of rows) {
      const response = await post(chat('user', part))
      t.equal(response.status, 422, reason)
      t.match((await response.json()).error.details, { pointer: '/messages/0/content/0', reason }, reason)
    }
  }
)

t.test('kinds have their own acts: a file with a picture is read where pictures are', async (t) => {
  const office = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  const bytes = (name: string) => docx('a', { more: [{ name: 'word/media/a.png', content: drawn(name) }] })
  const file = (name: string) =>
    chat('user', {
      type: 'file',
      file: { filename: 'a.docx', file_data: `data:${office};base64,${bytes(name).toString('base64')}` }
    })
  const scan = await gatewayFor(t, user, { unscannable: 'scan' })
  const read = await scan.post(file('harmless'))
  t.equal(read.status, 200)
  t.equal(read.headers.get('x-safety-not-evaluated'), 'image_content')
  t.equal((await scan.post(file('forbidden'))).status, 400)
  const filesOnly = await gatewayFor(t, user, { unscannable: { file: 'scan' } })
  t.match((await (await filesOnly.post(file('harmless'))).json()).error.details, { reason: 'picture_unread' })
  t.equal((await filesOnly.post(chat('user', picture('harmless')))).status, 422)
  const permit = await gatewayFor(t, user, { unscannable: { image: 'permit', file: 'scan' } })
  t.equal((await permit.post(chat('user', picture('forbidden')))).headers.get('x-safety-not-evaluated'), 'image')
  const observe = await gatewayFor(t, user, { mode: 'observe' })
  const passed = await observe.post(chat('user', picture('forbidden')))
  t.equal(passed.status, 200)
  t.equal(passed.headers.get('x-safety-decision'), 'forbid', 'judged, and not refused')
})

t.test('what a route redacts is not forwarded in a picture', async (t) => {
  const { post } = await gatewayFor(t, user, { redact: ['personal_data'] })
  t.equal((await post(chat('user', picture('address')))).status, 400)
})
