/** No way to a model but the judged ones: every spelling, every method and every path that a provider publishes. */
import { readFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import t from 'tap'
import { dialects } from '../../src/dialects/index.js'
import { fillPath } from '../../src/dialects/path.js'
import { generateKey } from '../../src/identity/key-format.js'
import { serveReal } from '../support/gateway.js'
import { smallConstitution } from '../support/node.js'
import { overRaw } from '../support/raw.js'
import { spellingsOf } from '../support/spellings.js'
import { completion, fakeUpstream, json, type Recorded } from '../support/upstream.js'
import { promise } from './report.js'

t.setTimeout(1_200_000)
const key = generateKey('live')
/** Forbidden wherever any of the APIs looks for a text. */
const text = 'kaboom'
const body = JSON.stringify({
  model: 'm',
  max_tokens: 5,
  anthropic_version: 'bedrock-2023-05-31',
  stream: false,
  messages: [{ role: 'user', content: text }],
  prompt: text,
  input: text,
  content: { parts: [{ text }] },
  contents: [{ role: 'user', parts: [{ text }] }],
  requests: [{ content: { parts: [{ text }] } }],
  query: text,
  inputs: text
})

const auth = `X-API-Key: ${key}\r\n`
/** Bedrock's messages hold blocks, where others' may hold a text. */
const inBlocks = JSON.stringify({ messages: [{ role: 'user', content: [{ text }] }] })
/** Of a transcription, and of an edit of a picture. */
const inForm = ['file', 'image', 'prompt']
  .map((name) => {
    const file = name === 'prompt' ? '' : '; filename="a"'
    return `--B\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  .concat('--B--\r\n')
const formOf = (target: string) => inForm.filter((part) => !part.includes(/audio/i.test(target) ? '"image"' : '"file"'))
function requestOf(method: string, target: string, more = ''): string {
  const isForm = /edits|transcriptions|translations/i.test(target)
  const sent = isForm ? formOf(target).join('') : /converse/i.test(target) ? inBlocks : body
  const bodiless = /^(?:GET|HEAD|OPTIONS|TRACE|CONNECT)$/.test(method)
  const type = isForm ? 'multipart/form-data; boundary=B' : 'application/json'
  const framing = bodiless ? '' : `Content-Type: ${type}\r\nContent-Length: ${sent.length}\r\n`
  return `${method} ${target} HTTP/1.1\r\nHost: gateway\r\n${auth}${more}${framing}\r\n${bodiless ? '' : sent}`
}

const operations = Object.values(dialects).flat()
const pathsOf = (each: typeof operations) =>
  [...new Set(each.flatMap(({ paths }) => paths))].map((path) => fillPath(path, { model: 'gemini', deployment: 'd' }))
const published = pathsOf(operations)
/** Those that take a body. */
const posted = pathsOf(operations.filter(({ isSocket }) => isSocket !== true))
const passes = [...new Set(Object.values(dialects).flatMap((each) => each.flatMap(({ passPaths }) => passPaths)))]

t.test('census', async (t) => {
  const upstream = await fakeUpstream(t, json(completion('hello')))
  // Who asks for a picture, or about sound, is judged first only where they may pass.
  const yaml = `upstreams: { default: { url: "${upstream.url}" } }\ndefaults: { unscannable: { image: permit, audio: permit } }\n`
  const { url } = await serveReal(t, { env: { ...smallConstitution(t, yaml), SLUICEGATE_BOOTSTRAP_KEY: key } })
  /** What reached the upstream although it is no pass route: it was not judged, since the text is forbidden. */
  const unjudged = () => {
    const reached = upstream.requests.splice(0)
    const isPass = ({ method, url: target, headers }: Recorded) =>
      method === 'GET' &&
      (passes.some(({ path }) => target.split('?', 1)[0]!.startsWith(path.replace(/:.*/, ''))) ||
        // The relay asks its upstream before it takes a frame of the client's.
        (headers.upgrade !== undefined && /realtime|Bidi/.test(target)))
    return reached.filter((each) => !isPass(each)).map(({ method, url: target }) => `${method} ${target}`)
  }
  let broken: string[] = []
  const send = async (items: Iterable<[method: string, target: string, more?: string]>) => {
    let count = 0
    broken = []
    await overRaw(url, items, async (client, [method, target, more]) => {
      count++
      // To HEAD there is no body; its length would be waited for.
      const isHead = method === 'HEAD' || method === 'CONNECT'
      const answer = await client.ask(requestOf(method, target, isHead ? `Connection: close\r\n${more ?? ''}` : more))
      // This upstream speaks no WebSocket.
      const isRefused = answer?.status === 502 && /^Upgrade/.test(more ?? '')
      if (answer === undefined ? !isHead : (answer.status >= 500 && !isRefused) || answer.status === 0) {
        broken.push(`${method} ${JSON.stringify(target)}: ${answer?.status}`)
      }
    })
    return count
  }

  t.test('spellings', async (t) => {
    function* all(): Generator<[string, string]> {
      for (const path of published) for (const spelling of spellingsOf(path)) yield ['POST', spelling]
      // As models are listed, so that a spelling cannot turn one into the other.
      for (const { path } of passes) for (const spelling of spellingsOf(path)) yield ['POST', spelling]
    }
    const count = await send(all())
    const reached = unjudged()
    promise(
      t,
      'other spellings of a path',
      `${reached.length} of ${count} reached the upstream, ${broken.length} answered with a 5xx or not at all`,
      '0 of at least 2,000, and 0',
      reached.length === 0 && broken.length === 0 && count >= 2000
    )
    t.same(reached.slice(0, 10), [])
    t.same(broken.slice(0, 10), [])
  })

  t.test('methods', async (t) => {
    const invented = ['GUARD', 'post', 'Post', 'POSTX', 'XPOST', 'PRI', 'DEBUG', 'TRACK', 'BREW']
    const overrides = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', '_method']
    function* all(): Generator<[string, string, string?]> {
      for (const path of published) {
        for (const method of new Set([...METHODS, ...invented])) if (method !== 'POST') yield [method, path]
        for (const name of overrides)
          for (const method of ['GET', 'PUT', 'DELETE']) yield [method, path, `${name}: POST\r\n`]
      }
    }
    const count = await send(all())
    const reached = unjudged()
    promise(
      t,
      'other methods',
      `${reached.length} of ${count} reached the upstream, ${METHODS.length + invented.length} methods, ${broken.length} broken`,
      '0 of 30 methods and more on every path, and 0',
      reached.length === 0 && broken.length === 0
    )
    t.same(reached.slice(0, 10), [])
    t.same(broken.slice(0, 10), [])
  })

  t.test('published paths', async (t) => {
    const file = readFileSync(new URL('../fixtures/paths/providers.txt', import.meta.url), 'utf8')
    const lines = new Set(file.split('\n').filter((line) => /^[A-Z]/.test(line)))
    function* all(): Generator<[string, string, string?]> {
      for (const line of lines) {
        const [method, target] = line.split(' ') as [string, string]
        yield [method, target]
        if (method === 'POST') yield ['POST', `/v1${target}`]
        yield [
          'GET',
          target,
          'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
        ]
      }
    }
    const count = await send(all())
    const reached = unjudged()
    promise(
      t,
      'paths that providers publish',
      `${reached.length} of ${count} requests for ${lines.size} operations reached the upstream, ${broken.length} broken`,
      '0 of at least 500 operations, and 0',
      reached.length === 0 && broken.length === 0 && lines.size >= 500
    )
    t.same(reached.slice(0, 10), [])
    t.same(broken.slice(0, 10), [])
  })

  t.test('the canonical spelling is served, and judged', async (t) => {
    let judged = 0
    await overRaw(url, posted, async (client, path) => {
      const answer = await client.ask(requestOf('POST', path))
      if (answer?.status === 400 && answer.body.includes('content_filter')) judged++
      else t.fail(`${path}: ${answer?.status} ${answer?.body.slice(0, 200)}`)
    })
    t.equal(judged, posted.length)
    t.same(unjudged(), [])
    await overRaw(url, ['/v1/chat/completions'], async (client, path) => {
      await client.ask(requestOf('POST', path).replaceAll(text, 'harbor'))
    })
    t.same(unjudged(), ['POST /v1/chat/completions'], 'what is permitted arrives')
  })
})
