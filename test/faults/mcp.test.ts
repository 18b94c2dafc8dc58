/**
 * Messages of MCP that nobody would write: each is refused, or all of it is judged and just that is forwarded, in both
 * directions. A word that the policy forbids, put anywhere into one, arrives nowhere.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { Fault } from '../../src/base/errors.js'
import { readMessage } from '../../src/dialects/mcp/message.js'
import { names } from '../../src/dialects/mcp/names.js'
import { readFromClient, readFromServer } from '../../src/dialects/mcp/read.js'
import { generateKey } from '../../src/identity/key-format.js'
import { parseJson } from '../../src/json/parse.js'
import { call, serveReal } from '../support/gateway.js'
import { httpServer } from '../support/mcp-servers.js'
import { mutated } from '../support/mutate.js'
import { smallConstitution } from '../support/node.js'
import { isFull, promise } from './report.js'

t.setTimeout(3_600_000)
const readings = Number(process.env['FUZZ_RUNS'] ?? (isFull ? 20_000 : 400))
const exchanges = isFull ? 3_000 : 120
const key = generateKey('live')
const forbidden = 'kaboom'

const text = (said: string) => ({ type: 'text', text: said })
const tool = {
  name: 'look',
  title: 'Look',
  description: 'Looks at a place.',
  inputSchema: {
    type: 'object',
    properties: { place: { type: 'string', enum: ['here', 'over there now'], default: 'x' } }
  },
  annotations: { readOnlyHint: true, title: 'Look at it' }
}
const asks = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 1, method, params })
const fromClient: JsonObject[] = [
  asks('tools/call', {
    name: 'look',
    arguments: { place: 'a', more: [{ b: 'c' }, 2, null] },
    _meta: { progressToken: 'p' }
  }),
  asks('prompts/get', { name: 'page', arguments: { a: 'b' } }),
  asks('resources/read', { uri: 'memo://a/b' }),
  asks('completion/complete', { ref: { type: 'ref/prompt', name: 'page' }, argument: { name: 'a', value: 'b' } }),
  asks('tools/list', { cursor: 'c' }),
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 0.5, message: 'm' } },
  { jsonrpc: '2.0', id: 'q', result: { role: 'assistant', model: 'm', content: text('said') } },
  { jsonrpc: '2.0', id: 'q', error: { code: -1, message: 'no', data: { why: 'so' } } }
]
const answer = (result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 1, result })
const fromServer: JsonObject[] = [
  answer({
    content: [text('one'), text('two')],
    structuredContent: { rows: [{ id: 1, place: 'x' }] },
    _meta: { a: 'b' }
  }),
  answer({ content: [{ type: 'resource', resource: { uri: 'memo://a', mimeType: 'text/plain', text: 'hello' } }] }),
  answer({ content: [{ type: 'resource_link', uri: 'memo://a', name: 'n', description: 'A note.' }], isError: true }),
  answer({ contents: [{ uri: 'memo://a', text: 'hello' }] }),
  answer({ messages: [{ role: 'user', content: text('hello') }], description: 'A page.' }),
  answer({ tools: [{ ...tool, name: 'other' }] }),
  answer({
    prompts: [{ name: 'page', description: 'A page.', arguments: [{ name: 'a', description: 'The first.' }] }]
  }),
  answer({ resources: [{ uri: 'memo://a', name: 'a', annotations: { audience: ['user'] } }] }),
  { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no', data: { why: 'so' } } }
]

/** Every string and every key of a value, with where it stands. */
function* wordsOf(value: Json, at = ''): Generator<[string, string]> {
  if (typeof value === 'string') yield [at, value]
  else if (typeof value === 'object' && value !== null) {
    for (const [name, child] of Object.entries(value)) {
      const below = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (!Array.isArray(value)) yield [below, name]
      yield* wordsOf(child, below)
    }
  }
}

function outcome<R>(read: () => R): R | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

t.test('every string and key of a message is read', async (t) => {
  for (const [side, seeds] of [
    ['client', fromClient],
    ['server', fromServer]
  ] as const) {
    let taken = 0
    const { failed, counterexample, numRuns } = fc.check(
      fc.property(mutated(seeds), (made) => {
        const body = outcome(() => parseJson(JSON.stringify(made) ?? 'null'))
        const message = body === undefined ? undefined : outcome(() => readMessage(body))
        if (message === undefined) return true
        const content = outcome(() => (side === 'client' ? readFromClient(message) : readFromServer(message)))
        if (content === undefined) return true
        taken++
        const read = new Set(content.parts.map(({ text }) => text))
        const media = content.media.map(({ pointer }) => pointer)
        for (const [at, word] of wordsOf(message.body)) {
          const isOwn = word === '' || names.has(word) || at === '/jsonrpc' || at === '/method' || at === '/id'
          if (!isOwn && !read.has(word) && !media.some((each) => at.startsWith(`${each}/`))) return false
        }
        return true
      }),
      { numRuns: readings }
    )
    t.notOk(failed, `${side}, ${numRuns} messages: ${fc.stringify(counterexample)}`)
    t.ok(taken > numRuns / 8, `${side}: ${taken} were messages`)
  }
})

/** A message with a word put somewhere into what it asks or tells: in a text, as a key, or as one more of a list. */
function withWord(message: JsonObject, at: number, word: string): Json {
  const places: ((replace: Json) => void)[] = []
  const copy = structuredClone(message)
  const visit = (value: Json, put: (value: Json) => void): void => {
    if (typeof value === 'string') places.push(() => put(at % 2 === 0 ? word : `${value} ${word} ${value}`))
    else if (Array.isArray(value)) {
      places.push(() => void value.push(word))
      value.forEach((each, i) => {
        visit(each, (other) => {
          value[i] = other
        })
      })
    } else if (typeof value === 'object' && value !== null) {
      places.push(() => {
        value[word] = 1
      })
      for (const name of Object.keys(value)) {
        visit(value[name]!, (other) => {
          value[name] = other
        })
      }
    }
  }
  for (const field of ['params', 'result', 'error']) if (typeof copy[field] === 'object') visit(copy[field]!, () => {})
  places[Math.floor(at / 2) % places.length]?.(word)
  return copy
}

const refusedAnswer = 'The answer was refused by the policy.'

t.test('what is judged is what is forwarded, and a forbidden word arrives nowhere', async (t) => {
  let says: Json = {}
  let got: Json[] = []
  const url = await httpServer(t, (request, response, body) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method, error } = body as JsonObject
    // What the gateway itself says where it refused a client's answer: the server that waits for one is told so.
    if ((error as JsonObject | undefined)?.message === refusedAnswer) return response.writeHead(202).end()
    got.push(body as Json)
    if (id === undefined || method === undefined) return response.writeHead(202).end()
    const told = method === 'tools/list' && says === null ? { jsonrpc: '2.0', id, result: { tools: [tool] } } : says
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(JSON.stringify(told))
  })
  const { url: gateway } = await serveReal(t, {
    env: {
      ...smallConstitution(
        t,
        `mcp: { servers: { one: { url: "${url}", constitution: default } } }\nstorage: { url: "memory:" }\nreview: { max_open_per_key: 5000 }\n`
      ),
      SLUICEGATE_BOOTSTRAP_KEY: key
    }
  })
  const send = async (body: Json) => {
    got = []
    const accept = 'application/json, text/event-stream'
    const headers = { accept, 'mcp-protocol-version': '2025-11-25' }
    return call(gateway, '/mcp/one', { key, body: JSON.stringify(body), headers })
  }
  says = null
  await send(asks('tools/list', {}))

  const counts = { forwarded: 0, refused: 0, words: 0, answers: 0, passed: 0 }
  const asked = fc.sample(fc.tuple(mutated(fromClient), fc.nat()), exchanges)
  for (const [made, at] of asked) {
    says = answer({ content: [] })
    const { status } = await send(made as Json)
    t.ok(status < 500, `${status} ${JSON.stringify(made)}`)
    if (got.length === 0) counts.refused++
    else {
      counts.forwarded++
      // As its bytes are read: half a surrogate pair is none.
      const meant = parseJson(JSON.stringify(made))
      if (!isDeepStrictEqual(got, [meant])) t.fail(`${JSON.stringify(got)} is not ${JSON.stringify(meant)}`)
    }
    const seed = fromClient[at % fromClient.length]!
    const bad = withWord(seed, at, forbidden)
    const { status: stopped } = await send(bad)
    counts.words++
    if (got.length > 0 || stopped >= 500) t.fail(`${stopped} ${JSON.stringify(bad)} reached the server`)
  }
  const told = fc.sample(fc.tuple(mutated(fromServer), fc.nat()), exchanges)
  const question = asks('tools/call', { name: 'look', arguments: {} })
  for (const [made, at] of told) {
    says = made as Json
    const { status, body } = await send(question)
    t.ok(status < 500, `${status} ${JSON.stringify(made)}`)
    counts.answers++
    if (body?.result !== undefined) {
      counts.passed++
      // Definitions are taken out one by one; of the rest nothing is changed, nor any number of a server's refused.
      const { result } = made as { result: JsonObject }
      const isList = ['tools', 'prompts', 'resources', 'resourceTemplates', 'instructions'].some(
        (name) => name in result
      )
      if (!isList && !isDeepStrictEqual(body.result, parseJson(JSON.stringify(result), { anyNumbers: true })))
        t.fail(`${JSON.stringify(body.result)} is not ${JSON.stringify(result)}`)
    }
    says = withWord(fromServer[at % fromServer.length]!, at, forbidden)
    const bad = await send(question)
    if (JSON.stringify(bad.body).includes(forbidden)) t.fail(`${JSON.stringify(says)} reached the client`)
  }
  t.ok(counts.forwarded > exchanges / 10 && counts.passed > exchanges / 10, JSON.stringify(counts))
  promise(
    t,
    'MCP: what is judged is what is forwarded',
    `${counts.forwarded} of ${exchanges} odd messages forwarded as they were judged, ${counts.words + counts.answers} forbidden words none of which arrived`,
    'every one',
    t.passing()
  )
})
