/** Whoever reads the log learns which upstream failed, before an answer began and in the middle of one; no text stands there. */
import { createServer, type RequestListener } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../support/gateway.js'
import { open, realtimeUpstream, spoken } from '../support/realtime.js'
import { chunks, sseText } from '../support/upstream.js'

async function backend(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

t.test('an upstream that breaks is named in the log, in mid-stream too', async (t) => {
  let isStreaming = false
  const url = await backend(t, async (_request, response) => {
    if (!isStreaming) return void response.destroy()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(sseText(chunks('Zanzibar is an island.', 'It is large.')).replace('data: [DONE]\n\n', ''))
    await wait(200)
    response.destroy()
  })
  for (const output of ['off', 'window']) {
    const gate = await build(t, {
      yaml: `upstreams: { default: { url: "http://127.0.0.1:9" }, islands: { url: "${url}" } }
routes: [{ path: /v1/chat/completions, dialect: openai-chat, upstream: islands, output: ${output} }]`
    })
    const ask = async () => {
      const response = await fetch(`${gate.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gate.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hello' }] })
      })
      return { status: response.status, text: await response.text().catch(() => '') }
    }
    const lines = () => gate.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'upstream_error')
    isStreaming = false
    t.equal((await ask()).status, 502)
    t.match(lines(), [{ upstream: 'islands', request_id: /^req_/ }])
    isStreaming = true
    const { status } = await ask()
    while (lines().length < 2) await wait(20)
    t.equal(lines().length, 2, `once, after ${status}`)
    t.match(lines()[1], { upstream: 'islands', request_id: /^req_/ })
    t.notMatch(gate.logs.join(''), /Zanzibar/)
  }
})

t.test('so is that of a list of models, and of a session of the Realtime API, from its opening on', async (t) => {
  const upstream = await realtimeUpstream(t)
  const gate = await build(t, {
    yaml: `upstreams: { default: { url: "http://127.0.0.1:9" }, islands: { url: "${upstream.origin}" } }
routes:
  - { path: /v1/chat/completions, dialect: openai-chat }
  - { path: /v1/realtime, dialect: openai-realtime, upstream: islands }
  - { path: /away/v1/realtime, upstream_path: /v1/realtime, dialect: openai-realtime }`
  })
  const headers = { authorization: `Bearer ${gate.key}` }
  const lines = () => gate.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'upstream_error')
  t.equal((await fetch(`${gate.url}/v1/models`, { headers })).status, 502)
  t.match(lines(), [{ upstream: 'default', request_id: /^req_/ }])
  await t.rejects(open(t, gate.url, { headers }, '/away/v1/realtime?model=m'), /status 502/)
  t.match(lines()[1], { upstream: 'default', request_id: /^req_/ })
  const ends = [
    { frames: spoken(['Zanzibar is an island.'], { done: false }).frames, close: 'cut' as const },
    { frames: ['Zanzibar'] },
    { frames: ['binary'] }
  ]
  for (const [i, end] of ends.entries()) {
    const client = await open(t, gate.url, { headers })
    await upstream.send(end)
    t.equal((await client.gone()).code, 1011)
    t.equal(lines().length, 3 + i, 'once')
    t.match(lines()[2 + i], { upstream: 'islands', request_id: /^req_/ })
  }
  t.notMatch(gate.logs.join(''), /Zanzibar/)
})
