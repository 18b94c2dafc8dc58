/** One request is forwarded once, with the gateway's own framing, or refused: directly and behind real proxies. */
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { startHaproxy, startNginx } from '../support/fronts.js'
import { call, serveReal } from '../support/gateway.js'
import { smallConstitution } from '../support/node.js'
import { exchangeRaw } from '../support/raw.js'
import { hasCommand } from '../support/services.js'
import { smuggled } from '../support/smuggling.js'
import { completion, type FakeUpstream, fakeUpstream, json } from '../support/upstream.js'
import { isFull, promise } from './report.js'

t.setTimeout(900_000)
const key = generateKey('live')
const chat = '/v1/chat/completions'
const said = (content: string) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })
const headersFor = (more = '') => `Host: gateway\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n${more}`

/** Says what it was asked, so that everyone can tell their own answer. */
async function echo(t: Test): Promise<FakeUpstream> {
  return fakeUpstream(t, (res, request) => {
    const asked = JSON.parse(request.body.toString() || '{}') as { messages?: { content: string }[]; prompt?: string }
    json(completion(asked.messages?.[0]?.content ?? String(asked.prompt)))(res, request)
  })
}

async function gateway(t: Test) {
  const upstream = await echo(t)
  const yaml = `upstreams: { default: { url: "${upstream.url}" } }\n`
  const { url } = await serveReal(t, { env: { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: key } })
  return { upstream, url }
}

/** A second request that is whole, under a path that nobody else asks for. */
function whole(id: string): string {
  const body = JSON.stringify({ model: 'm', prompt: `smuggled ${id}` })
  return `POST /v1/completions HTTP/1.1\r\n${headersFor(`Content-Length: ${body.length}\r\n`)}\r\n${body}`
}
/** One that waits for the next client's request, to swallow its head. */
const begun = () =>
  'POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 5\r\nX-Swallow: '

async function attack(t: Test, name: string, url: string, upstream: FakeUpstream, second: (id: string) => string) {
  const isDirect = second === whole
  const problems: string[] = []
  const bodies = new Map<string, string>()
  let count = 0
  const parts = (id: string) => ({
    line: `POST ${chat} HTTP/1.1`,
    headers: headersFor(),
    body: said(id),
    second: second(id)
  })
  const payloads = [...smuggled(parts('attack'))].map(({ name, two }, at) => {
    const id = `attack-${at}-`
    bodies.set(id, said(id))
    return { id, name, two: two ?? false, bytes: [...smuggled(parts(id))][at]!.bytes }
  })
  upstream.requests.length = 0
  let next = 0
  async function work(): Promise<void> {
    for (let at = next++; at < payloads.length; at = next++) {
      const { id, name: payload, two, bytes } = payloads[at]!
      const fail = (what: string) => void problems.push(`${JSON.stringify(payload)}: ${what}`)
      count++
      const answers = await exchangeRaw(url, bytes, 400)
      const statuses = [...answers.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status))
      if (isDirect && statuses.some((status) => status >= 500)) fail(`answered with ${statuses}`)
      if (isDirect && !two && statuses.filter((status) => status !== 100).length > 1)
        fail(`answered twice: ${statuses}`)
      const mine = upstream.requests.filter(({ body }) => body.includes(`"${id}"`))
      if (mine.length > 1) fail(`forwarded ${mine.length} times`)
      for (const { body, headers } of mine) {
        if (body.toString() !== bodies.get(id)) fail(`forwarded with another body: ${body.toString().slice(0, 200)}`)
        if (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) !== body.length)
          fail('not our framing')
      }
      const victim = `victim-${at}-`
      const { status, body } = await call(url, chat, { key, body: said(victim) })
      if (status !== 200 || body.choices?.[0]?.message?.content !== victim) {
        fail(`the next client got ${status} ${JSON.stringify(body).slice(0, 200)}`)
      }
      // Behind a proxy it would have swallowed somebody's head, and cannot be told by its body.
      const strange = upstream.requests.filter(({ url: target, body: sent }) =>
        isDirect ? sent.includes(`smuggled ${id}`) : target !== chat
      )
      upstream.requests = upstream.requests.filter((each) => !strange.includes(each) && !mine.includes(each))
      if (strange.length > 0 && !(isDirect && two)) fail('the second request arrived')
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  for (const problem of problems.slice(0, 20)) t.fail(problem)
  promise(
    t,
    `request smuggling, ${name}`,
    `${problems.length} of ${count} payloads had an effect`,
    '0 of at least 225',
    problems.length === 0 && count >= 225
  )
}

t.test('directly', async (t) => {
  const { upstream, url } = await gateway(t)
  await attack(t, 'directly', url, upstream, whole)
})

t.test('behind nginx', { skip: !hasCommand('nginx') && 'nginx is not installed' }, async (t) => {
  const { upstream, url } = await gateway(t)
  const [usual, lax] = (await startNginx(t, url)) as [string, string]
  await attack(t, 'behind nginx', usual, upstream, begun)
  if (isFull) await attack(t, 'behind nginx that passes all on', lax, upstream, begun)
})

t.test('behind haproxy', { skip: !hasCommand('haproxy') && 'haproxy is not installed' }, async (t) => {
  const { upstream, url } = await gateway(t)
  const [usual, lax] = (await startHaproxy(t, url)) as [string, string]
  if (isFull) await attack(t, 'behind haproxy', usual, upstream, begun)
  await attack(t, 'behind haproxy that takes invalid requests', lax, upstream, begun)
})
