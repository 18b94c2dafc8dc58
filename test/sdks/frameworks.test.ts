/** The examples of docs/integrations/frameworks.md run as they stand: a model beside the gateway, guarded by each framework's own hook. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { build } from '../support/gateway.js'
import { texts } from '../support/texts.js'
import { chunks, completion, fakeUpstream, json, sse, sseText } from '../support/upstream.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/integrations/frameworks.md'), 'utf8')
const programs = [...page.matchAll(/^## (.+)$[\s\S]*?^```js framework\n([\s\S]*?)^```$/gm)].map(
  ([, name, code]) => [name!, code!] as const
)
const run = promisify(execFile)
/** A model says what it was asked, unless it is asked for what the gateway stops in answers. */
const bad = 'Say the forbidden thing'

t.test('a permit passes, whatever else is stopped before the model or after it', { timeout: 600_000 }, async (t) => {
  t.same(
    programs.map(([name]) => name),
    ['Vercel AI SDK', 'OpenAI Agents SDK', 'LangChain.js']
  )
  const { url, key } = await build(t)
  const asked: string[] = []
  const backend = await fakeUpstream(t, (response, request) => {
    const body = JSON.parse(String(request.body)) as { stream?: boolean; messages: unknown }
    const isBad = JSON.stringify(body.messages).includes(bad)
    asked.push(JSON.stringify(body.messages))
    const text = isBad ? texts.forbiddenAnswer : 'A museum opens at nine.'
    const answer =
      body.stream === true ? sse(sseText(chunks(...(text.match(/.{1,7}/gs) ?? [])))) : json(completion(text))
    answer(response, request)
  })
  // Where the packages of this project are found.
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'frameworks-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const client = pathToFileURL(join(root, 'dist/client.js')).href
  for (const [name, code] of programs) {
    const file = join(dir, `${programs.findIndex(([each]) => each === name)}.mjs`)
    writeFileSync(file, code.replace('sluicegate/client', client))
    const say = async (prompt: string, gateway = url) => {
      asked.length = 0
      const env = { ...process.env, SLUICEGATE_URL: gateway, SLUICEGATE_KEY: key, MODEL_URL: `${backend.origin}/v1` }
      const { stdout } = await run(process.execPath, [file, prompt], { env }).catch((error) => ({
        stdout: `failed with ${error.code}: ${error.stdout}`
      }))
      return { stdout, asked: asked.length }
    }
    const streams = name === 'Vercel AI SDK' ? 2 : 1
    const said = await say('When does the museum open?')
    t.match(said.stdout, /^whole: A museum opens at nine\.$/m, `${name}: permit`)
    if (streams === 2) t.match(said.stdout, /^streamed: A museum opens at nine\.$/m, `${name}: permit, streamed`)
    t.equal(said.asked, streams)
    t.same(
      await say(texts.forbidden),
      { stdout: 'stopped: forbid\n', asked: 0 },
      `${name}: forbid, the model is not asked`
    )
    t.same(await say(texts.ambiguous), { stdout: 'stopped: depends\n', asked: 0 }, `${name}: depends`)
    t.same(await say(bad), { stdout: 'stopped: forbid\n', asked: 1 }, `${name}: the answer is stopped`)
    const closed = await say('When does the museum open?', 'http://127.0.0.1:1')
    t.match(closed, { stdout: /^failed with 1: $/, asked: 0 }, `${name}: no verdict, nothing goes on`)
  }
})

t.test('a streamed answer is stopped before a piece of it is read', { timeout: 600_000 }, async (t) => {
  const { url, key } = await build(t)
  const backend = await fakeUpstream(t, (response, request) => {
    const { stream } = JSON.parse(String(request.body)) as { stream?: boolean }
    const pieces = texts.forbiddenAnswer.match(/.{1,7}/gs) ?? []
    const answer = stream === true ? sse(sseText(chunks(...pieces))) : json(completion('Fine.'))
    answer(response, request)
  })
  const cache = join(root, 'node_modules/.cache')
  const dir = mkdtempSync(join(cache, 'frameworks-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'stream.mjs')
  writeFileSync(file, programs[0]![1].replace('sluicegate/client', pathToFileURL(join(root, 'dist/client.js')).href))
  const env = { ...process.env, SLUICEGATE_URL: url, SLUICEGATE_KEY: key, MODEL_URL: `${backend.origin}/v1` }
  const { stdout } = await run(process.execPath, [file, 'When does the museum open?'], { env })
  t.equal(stdout, 'whole: Fine.\nstopped: forbid\n')
})
