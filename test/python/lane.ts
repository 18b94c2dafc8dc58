/** Python's side of the tests: the environment that `environments.mjs` made, the built gateway, and what its scripts say. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { tempDir } from '../support/gateway.js'
import { startNode } from '../support/node.js'
import { openaiAnswers } from '../support/openai-upstream.js'
import { otherAnswers } from '../support/other-upstreams.js'
import { type Answer, fakeUpstream, json } from '../support/upstream.js'
// @ts-expect-error: a script without types
import { pythonOf as found } from './environments.mjs'

export const met = fileURLToPath(new URL('met', import.meta.url))
const pythonOf = found as (name: string) => string

/** For tap's `skip`: the reason, or false. With CI=true what is missing fails. */
export function noPackages(name: string): string | false {
  if (process.env['CI'] === 'true' || existsSync(pythonOf(name))) return false
  return `no Python packages: node test/python/environments.mjs ${name}`
}

/** What the backend says, by the word that a prompt holds. */
export const texts = {
  permit: 'Use ls with the name of the folder.',
  forbidden: 'Step 1 of the crimson lantern protocol is to gather what it takes.',
  secret: 'Amber ledger numbers: one, two, three.',
  mail: 'Write to jane.doe@example.com about it.'
}

/** Phrases of the test's own, so that each outcome is certain whatever the shipped constitution says. */
const marked = `
name: default
version: '1'
extends: default
categories:
  weapons: { high: forbid }
  secrets: { high: divert }
  violence: { middle: ask, context: [topic] }
rules:
  - { name: marked_forbid, category: weapons, weight: 0.9, any: [crimson lantern protocol] }
  - { name: marked_divert, category: secrets, weight: 0.9, any: [amber ledger numbers] }
  - { name: marked_depends, category: violence, weight: 0.5, any: [silver kettle question], context: { permit: { topic: [programming] } } }
`

const operations = [
  ['/v1/chat/completions', 'openai-chat'],
  ['/v1/responses', 'openai-responses'],
  ['/v1/completions', 'openai-completions'],
  ['/openai/deployments/{deployment}/chat/completions', 'azure-openai'],
  ['/v1/messages', 'anthropic'],
  ['/v1beta/models/{model}:generateContent', 'gemini'],
  ['/v1beta/models/{model}:streamGenerateContent', 'gemini'],
  ['/v1/models/{model}:generateContent', 'gemini'],
  ['/v1/models/{model}:streamGenerateContent', 'gemini'],
  ['/api/chat', 'ollama'],
  ['/api/generate', 'ollama'],
  ['/v2/chat', 'cohere']
] as const

/** Every API that Python's packages speak, as one backend. */
export const everyAnswer: Answer = (res, request) => {
  // LiteLLM looks whether its models are there.
  if (request.method !== 'POST') return json({ object: 'list', data: [{ id: 'gpt', object: 'model' }] })(res, request)
  const isOther = /^\/(?:v1\/messages|v1(?:beta)?\/models\/|api\/|v2\/)/.test(request.url)
  const answer = isOther ? otherAnswers(texts) : openaiAnswers(texts, { objects: true })
  answer(res, request)
}

/**
 * The built gateway as a process, each operation under its own path and, refused as a turn, under `/said`.
 * @param sections lines of further sections of the configuration
 * @param defaults more of what every route has
 */
export async function startGateway(
  t: Test,
  upstream: string,
  upstreamKey = 'upstream-secret',
  sections: readonly string[] = [],
  defaults = ''
) {
  const dir = tempDir(t)
  const key = generateKey('live')
  const routes = operations.flatMap(([path, dialect]) => [
    `  - { path: "${path}", dialect: ${dialect} }`,
    `  - { path: "/said${path}", upstream_path: "${path}", dialect: ${dialect}, respond: message }`
  ])
  writeFileSync(join(dir, 'marked.yaml'), marked)
  writeFileSync(
    join(dir, 'gateway.yaml'),
    [
      'storage: { url: "memory:" }',
      'constitutions: { default: marked.yaml }',
      `upstreams: { default: { url: "${upstream}", key: "${upstreamKey}" } }`,
      'limits: { live_per_minute: 100000 }',
      // On a busy machine too, a stream waits for its verdict.
      `defaults: { hold: { time: 60s }, ${defaults} }`,
      'review: { max_open_per_key: 5000 }',
      ...sections,
      'routes:',
      ...routes
    ].join('\n')
  )
  const { url, opsUrl, child } = await startNode(t, {
    SLUICEGATE_CONFIG: join(dir, 'gateway.yaml'),
    SLUICEGATE_BOOTSTRAP_KEY: key
  })
  return { url, ops: opsUrl, key, child }
}

/** Nothing is sent anywhere: switches of the packages themselves, and `home.py`, which sees who tries. */
export function quietEnv(phoned: string): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, SSL_CERT_FILE } = process.env
  return {
    PATH,
    HOME,
    TMPDIR,
    SSL_CERT_FILE,
    PHONED_HOME: phoned,
    PYTHONUNBUFFERED: '1',
    DO_NOT_TRACK: '1',
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    LANGSMITH_TRACING: 'false',
    LANGCHAIN_TRACING_V2: 'false',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    HF_HUB_OFFLINE: '1',
    LOGFIRE_IGNORE_NO_CONFIG: '1'
  }
}

/** A script of an environment. What it says on stderr is told where it fails. */
export function python(
  name: string,
  args: string[],
  env: NodeJS.ProcessEnv
): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn(pythonOf(name), args, { cwd: met, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(-20_000)
  })
  child.once('exit', (code) => {
    if (code !== null && code !== 0) process.stderr.write(errors)
  })
  return child
}

export interface Cell {
  package: string
  way: string
  streamed: boolean
  how: 'sync' | 'async'
  respond: 'error' | 'message'
  outcome: 'permit' | 'forbid' | 'divert' | 'depends' | 'withheld' | 'held'
  /** Requests that the gateway got for it. */
  asked: number
  seen: {
    text?: string
    refusal?: string
    finish?: string | null
    error?: string
    status?: number | null
    code?: unknown
    message?: string
  }
}

/** Where a script asks. */
export interface Place {
  key: string
  /** The base URLs, by the `respond` of what is behind them. */
  bases: Partial<Record<Cell['respond'], string>>
  /** The gateway's operations listener, and the surface on which it counts what is asked. */
  ops: string
  surface: 'chat' | 'guard'
}

/** Fills the table of some packages; fails where one of them could not be run, or called somewhere else. */
export async function fillAt(t: Test, environment: string, packages: readonly string[], place: Place): Promise<Cell[]> {
  const phoned = join(tempDir(t), 'phoned')
  const child = python(environment, ['run.py', ...packages], { ...quietEnv(phoned), PLACE: JSON.stringify(place) })
  t.teardown(() => child.kill('SIGKILL'))
  const cells: Cell[] = []
  const done: string[] = []
  createInterface(child.stdout).on('line', (line) => {
    if (!line.startsWith('{')) return
    const told = JSON.parse(line) as Cell & { failed?: string; done?: true }
    if (told.failed !== undefined) t.fail(`${told.package}: ${told.failed}`)
    else if (told.done) done.push(told.package)
    else cells.push(told)
  })
  const [code] = await once(child, 'close')
  t.equal(code, 0, 'the script ended by itself')
  t.equal(done.length, packages.length, `every package was run: ${done.join(', ')}`)
  staysHome(t, phoned)
  return cells
}

export function staysHome(t: Test, phoned: string): void {
  t.equal(existsSync(phoned) ? readFileSync(phoned, 'utf8') : '', '', 'nobody called anywhere else')
}

/** The same in front of a gateway of their own. */
export async function fill(t: Test, environment: string, packages: readonly string[]): Promise<Cell[]> {
  const upstream = await fakeUpstream(t, everyAnswer)
  const { url, ops, key } = await startGateway(t, upstream.url)
  const bases = { error: url, message: `${url}/said` }
  const cells = await fillAt(t, environment, packages, { key, bases, ops, surface: 'chat' })
  t.notMatch(JSON.stringify(upstream.requests.map(({ rawHeaders }) => rawHeaders)), key, 'no key of a client goes on')
  return cells
}
