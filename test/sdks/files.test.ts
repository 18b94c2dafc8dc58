/** Files as the makers' packages send them, to a real gateway that reads them and judges with the shipped constitution. */
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import t from 'tap'
import { docx, mail, ods, odt, pdf, png, pptx, xlsx } from '../files/make.js'
import { drawn } from '../files/pictures.js'
import { build } from '../support/gateway.js'
import { texts } from '../support/texts.js'
import { type Answer, completion, fakeUpstream, json } from '../support/upstream.js'

interface File {
  name: string
  type: string
  bytes: Buffer
}

const office = 'application/vnd.openxmlformats-officedocument.'
const open = 'application/vnd.oasis.opendocument.'
const kinds: readonly [ending: string, type: string, make: (text: string) => Buffer | Promise<Buffer>][] = [
  ['txt', 'text/plain', (text) => Buffer.from(text)],
  ['csv', 'text/csv', (text) => Buffer.from(`a\n${text}`)],
  ['json', 'application/json', (text) => Buffer.from(JSON.stringify([text]))],
  ['html', 'text/html', (text) => Buffer.from(`<p>${text}</p>`)],
  ['pdf', 'application/pdf', (text) => pdf([text])],
  ['docx', `${office}wordprocessingml.document`, (text) => docx(text)],
  ['pptx', `${office}presentationml.presentation`, (text) => pptx([text])],
  ['xlsx', `${office}spreadsheetml.sheet`, (text) => xlsx([{ rows: [[text]] }])],
  ['odt', `${open}text`, (text) => odt(text)],
  ['ods', `${open}spreadsheet`, (text) => ods([[text]])],
  ['eml', 'message/rfc822', (text) => mail([{ type: 'text/plain', content: text }])]
]

const asked = 'Summarise the file.'
const base64 = ({ bytes }: File) => bytes.toString('base64')
const url = (file: File) => `data:${file.type};base64,${base64(file)}`

type Ask = (client: { url: string; key: string }, file: File) => Promise<string | null | undefined>

const sdks: Record<string, Ask> = {
  'openai, chat': async ({ url: base, key }, file) => {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 })
    const content = [
      { type: 'text' as const, text: asked },
      { type: 'file' as const, file: { filename: file.name, file_data: url(file) } }
    ]
    const { choices } = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] })
    return choices[0]!.message.content
  },
  'openai, Responses': async ({ url: base, key }, file) => {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 })
    const content = [
      { type: 'input_text' as const, text: asked },
      { type: 'input_file' as const, filename: file.name, file_data: url(file) }
    ]
    return (await client.responses.create({ model: 'm', input: [{ role: 'user', content }] })).output_text
  },
  '@anthropic-ai/sdk': async ({ url: base, key }, file) => {
    const client = new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0 })
    const source = { type: 'base64' as const, media_type: file.type as 'application/pdf', data: base64(file) }
    const message = await client.messages.create({
      model: 'claude',
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source },
            { type: 'text', text: asked }
          ]
        }
      ]
    })
    const [block] = message.content
    return block?.type === 'text' ? block.text : undefined
  },
  '@google/genai': async ({ url: base, key }, file) => {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base } })
    const parts = [{ text: asked }, { inlineData: { mimeType: file.type, data: base64(file) } }]
    return (await client.models.generateContent({ model: 'gemini', contents: [{ role: 'user', parts }] })).text
  }
}

/** What an SDK throws. */
const refusal = (asking: Promise<unknown>) =>
  asking.then(
    () => undefined,
    (error: unknown) => error
  )

const said = 'a summary'
const answer: Answer = (res, request) => {
  const { url: path } = request
  const content = [{ type: 'text', text: said }]
  if (path.includes('/messages')) {
    const usage = { input_tokens: 1, output_tokens: 1 }
    json({ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content, stop_reason: 'end_turn', usage })(
      res,
      request
    )
  } else if (path.includes('/responses')) {
    const message = {
      type: 'message',
      id: 'm',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: said, annotations: [] }]
    }
    json({ id: 'resp_1', object: 'response', status: 'completed', output: [message] })(res, request)
  } else if (path.includes(':generateContent')) {
    json({ candidates: [{ content: { role: 'model', parts: [{ text: said }] }, finishReason: 'STOP' }] })(res, request)
  } else json(completion(said))(res, request)
}

t.test('each kind, harmless and not, and with a picture that nobody reads', async (t) => {
  const upstream = await fakeUpstream(t, answer)
  const yaml = `upstreams: { default: { url: "${upstream.origin}", key: k } }\ndefaults: { unscannable: { file: scan } }`
  const client = await build(t, { yaml })
  const unread = await pdf(['harmless'], async (document) =>
    document.getPage(0).drawImage(await document.embedPng(png))
  )
  for (const [name, ask] of Object.entries(sdks)) {
    for (const [ending, type, make] of kinds) {
      const file = async (text: string): Promise<File> => ({ name: `a.${ending}`, type, bytes: await make(text) })
      t.equal(await ask(client, await file('The meeting is on Monday at ten.')), said, `${name}: ${ending}`)
      const before = upstream.requests.length
      t.match(await refusal(ask(client, await file(texts.forbidden))), { status: 400 }, `${name}: ${ending}, forbidden`)
      t.equal(upstream.requests.length, before, `${name}: ${ending}, not forwarded`)
    }
    const picture = { name: 'a.pdf', type: 'application/pdf', bytes: unread }
    t.match(await refusal(ask(client, picture)), { status: 422, message: /picture_unread/ }, `${name}: a picture`)
  }
  t.match(client.logs.join(''), /files are read in processes of their own/)
  t.notMatch(client.logs.join(''), /Monday|pipe bomb/)
})

t.test('pictures: text in them is judged, and the receipt says that nothing else was', async (t) => {
  const upstream = await fakeUpstream(t, answer)
  const yaml = `upstreams: { default: { url: "${upstream.origin}", key: k } }\ndefaults: { unscannable: { image: scan } }`
  const { url: base, key, logs } = await build(t, { yaml })
  const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 })
  const anthropic = new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0 })
  const gemini = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base } })
  const image = (name: string) => ({
    type: 'image_url' as const,
    image_url: { url: `data:image/png;base64,${drawn(name).toString('base64')}` }
  })
  const chat = (...names: string[]) =>
    openai.chat.completions
      .create({ model: 'm', messages: [{ role: 'user', content: names.map(image) }] })
      .withResponse()
  const asks: Record<string, (name: string) => Promise<unknown>> = {
    'openai, chat': (name) => chat(name),
    'openai, Responses': (name) => {
      const { url } = image(name).image_url
      const content = [{ type: 'input_image' as const, image_url: url, detail: 'auto' as const }]
      return openai.responses.create({ model: 'm', input: [{ role: 'user', content }] })
    },
    '@anthropic-ai/sdk': (name) => {
      const data = drawn(name).toString('base64')
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data }
      const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, source }] }]
      return anthropic.messages.create({ model: 'claude', max_tokens: 9, messages })
    },
    '@google/genai': (name) => {
      const parts = [{ inlineData: { mimeType: 'image/png', data: drawn(name).toString('base64') } }]
      return gemini.models.generateContent({ model: 'gemini', contents: [{ role: 'user', parts }] })
    }
  }
  for (const [name, ask] of Object.entries(asks)) {
    t.equal(await refusal(ask('harmless')), undefined, `${name}: harmless`)
    const before = upstream.requests.length
    t.match(await refusal(ask('bomb')), { status: 400 }, `${name}: forbidden`)
    t.equal(upstream.requests.length, before, `${name}: not forwarded`)
  }
  const { response } = await chat('harmless')
  t.equal(response.headers.get('x-safety-not-evaluated'), 'image_content')
  t.notMatch(logs.join(''), /pipe bomb|harmless words/)
})

t.test('what a route redacts is replaced within a text file', async (t) => {
  const upstream = await fakeUpstream(t, answer)
  const yaml = `upstreams: { default: { url: "${upstream.origin}", key: k } }\ndefaults: { unscannable: scan, redact: [personal_data] }`
  const client = await build(t, { yaml })
  const ask = sdks['openai, chat']!
  const words = 'Please write to anna.schmidt@posteo.de before Monday.'
  t.equal(await ask(client, { name: 'a.txt', type: 'text/plain', bytes: Buffer.from(words) }), said)
  const { messages } = JSON.parse(upstream.requests.at(-1)!.body.toString())
  const [, data] = messages[0].content[1].file.file_data.split(',')
  t.match(Buffer.from(data, 'base64').toString(), /^Please write to <[A-Z_]+> before Monday\.$/)
  const type = `${office}wordprocessingml.document`
  t.match(await refusal(ask(client, { name: 'a.docx', type, bytes: docx(words) })), { status: 400 })
})
