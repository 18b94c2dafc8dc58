/** Whoever reads the log learns which upstream failed, before an answer began and in the middle of one; no text stands there. */
import { createServer, type RequestListener } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../support/gateway.js'
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
