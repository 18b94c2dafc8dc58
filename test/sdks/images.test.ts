/** Pictures through OpenAI's SDK: the prompt is judged, what is said of a picture is judged, and the picture is named as unread. */
import OpenAI, { APIError, toFile } from 'openai'
import t from 'tap'
import { boundaryOf, readForm } from '../../src/dialects/form.js'
import { build } from '../support/gateway.js'
import { prompts } from '../support/outcomes.js'
import { texts } from '../support/texts.js'
import { fakeUpstream, json } from '../support/upstream.js'

const noise = Buffer.from(Array.from({ length: 90 }, (_, i) => (i * 67 + 190) % 256))
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), noise]).toString('base64')

t.test('image generation', async (t) => {
  const upstream = await fakeUpstream(t, (res, request) => {
    const { prompt } = JSON.parse(request.body.toString()) as { prompt: string }
    const revised_prompt = prompt.includes('«forbidden»') ? texts.forbiddenAnswer : `${prompt}, at sea`
    return json({ created: 1_700_000_000, data: [{ b64_json: png, revised_prompt }] })(res, request)
  })
  const path = '/v1/images/generations'
  const yaml = [
    `upstreams: { default: { url: "${upstream.url}", key: upstream-secret } }`,
    'routes:',
    `  - { path: "${path}", dialect: openai-images }`,
    ...['permit', 'review'].map(
      (unscannable) =>
        `  - { path: "/${unscannable}${path}", upstream_path: "${path}", dialect: openai-images, unscannable: ${unscannable} }`
    ),
    `  - { path: "/said${path}", upstream_path: "${path}", dialect: openai-images, unscannable: permit, respond: message }`
  ].join('\n')
  const { url, key } = await build(t, { yaml })
  const at = (base: string) => new OpenAI({ baseURL: `${url}${base}/v1`, apiKey: key, maxRetries: 0 })
  const generate = (base: string, prompt: string) => at(base).images.generate({ model: 'gpt-image-1', prompt })
  const refused = (base: string, prompt: string) =>
    generate(base, prompt).then(
      () => undefined,
      (error: unknown) => (error instanceof APIError ? { status: error.status, code: error.code } : error)
    )

  t.test('where pictures pass, they come with what is said of them, and the header names them', async (t) => {
    const { data, response } = await at('/permit')
      .images.generate({ model: 'gpt-image-1', prompt: 'A red boat' })
      .withResponse()
    t.match(data.data, [{ b64_json: png, revised_prompt: 'A red boat, at sea' }])
    t.equal(response.headers.get('x-safety-not-evaluated'), 'image')
    t.equal(response.headers.get('x-safety-decision'), 'permit')
    t.equal(upstream.requests.at(-1)!.url, path)
  })

  t.test('where they do not, nothing is asked for that nobody may see', async (t) => {
    const before = upstream.requests.length
    t.same(await refused('', 'A red boat'), { status: 422, code: 'unscannable_content' })
    t.equal(upstream.requests.length, before)
    t.same(await refused('/review', 'A red boat'), { status: 403, code: 'review_required' }, 'a person sees it')
  })

  t.test('prompts are judged, and what a backend says of its picture', async (t) => {
    for (const base of ['/permit', '/said']) {
      const before = upstream.requests.length
      t.same(await refused(base, prompts.forbid), { status: 400, code: 'content_filter' })
      t.same(await refused(base, prompts.divert), { status: 403, code: 'review_required' })
      t.same(await refused(base, prompts.depends), { status: 422, code: 'context_required' })
      t.equal(upstream.requests.length, before)
      t.same(await refused(base, prompts.answerForbid), { status: 400, code: 'content_filter' }, 'of the answer')
    }
    await t.rejects(at('/permit').images.generate({ prompt: 'A red boat', stream: true }).then(), {
      status: 400,
      code: 'validation_error'
    })
  })
})

t.test('edits of pictures', async (t) => {
  const files = { image: 'image', 'image[]': 'image', mask: 'image' } as const
  const upstream = await fakeUpstream(t, (res, request) => {
    const { prompt } = readForm(request.body, boundaryOf(request.headers['content-type'] ?? '') ?? '', files)
    const revised_prompt = String(prompt).includes('«forbidden»') ? texts.forbiddenAnswer : `${prompt}, at sea`
    return json({ created: 1_700_000_000, data: [{ b64_json: png, revised_prompt }] })(res, request)
  })
  const path = '/v1/images/edits'
  const yaml = [
    `upstreams: { default: { url: "${upstream.url}", key: upstream-secret } }`,
    'routes:',
    `  - { path: "${path}", dialect: openai-images }`,
    `  - { path: "/permit${path}", upstream_path: "${path}", dialect: openai-images, unscannable: permit }`
  ].join('\n')
  const { url, key } = await build(t, { yaml })
  const picture = (name: string) => toFile(Buffer.from(png, 'base64'), name, { type: 'image/png' })
  const edit = async (base: string, prompt: string) =>
    new OpenAI({ baseURL: `${url}${base}/v1`, apiKey: key, maxRetries: 0 }).images
      .edit({ model: 'gpt-image-1', image: [await picture('a.png'), await picture('b.png')], prompt })
      .withResponse()
  const refused = (base: string, prompt: string) =>
    edit(base, prompt).then(
      () => undefined,
      (error: unknown) => (error instanceof APIError ? { status: error.status, code: error.code } : error)
    )

  const { data, response } = await edit('/permit', 'Add a red boat')
  t.match(data.data, [{ b64_json: png, revised_prompt: 'Add a red boat, at sea' }])
  t.equal(response.headers.get('x-safety-not-evaluated'), 'image')
  const sent = upstream.requests.at(-1)!
  t.match(readForm(sent.body, boundaryOf(sent.headers['content-type'] ?? '') ?? '', files), {
    'image[]': ['a.png', 'b.png'].map((filename) => ({ filename, mime_type: 'image/png', data: png }))
  })
  const before = upstream.requests.length
  t.same(await refused('', 'Add a red boat'), { status: 422, code: 'unscannable_content' })
  t.same(await refused('/permit', prompts.forbid), { status: 400, code: 'content_filter' })
  t.same(await refused('/permit', prompts.divert), { status: 403, code: 'review_required' })
  t.equal(upstream.requests.length, before)
  t.same(await refused('/permit', prompts.answerForbid), { status: 400, code: 'content_filter' }, 'of the answer')
})
