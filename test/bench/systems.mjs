// The contestants, each a process of its own, stopped by the handle that started it.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { guardWord } from './load.mjs'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const cli = here('../../dist/cli.js')

/** Starts a program and waits until its output matches. */
function launch(command, args, { env = {}, ready, cwd, timeoutMs = 120_000 }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true
    })
    let output = ''
    const timer = setTimeout(() => fail(`no sign of readiness in ${timeoutMs} ms`), timeoutMs)
    const fail = (why) => {
      clearTimeout(timer)
      stop()
      reject(new Error(`${command} ${args.join(' ')}: ${why}\n${output.slice(-2000)}`))
    }
    // The group: npx starts a child of its own.
    const stop = () => {
      try {
        process.kill(-child.pid, 'SIGTERM')
      } catch {
        // Ended already.
      }
    }
    const read = (chunk) => {
      output += chunk
      const match = ready.exec(output)
      if (match === null) return
      clearTimeout(timer)
      resolve({ match, stop, pid: child.pid })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code) => fail(`ended with ${code}`))
  })
}

export async function script(name, ...args) {
  const { match, stop, pid } = await launch(process.execPath, [here(name), ...args], { ready: /READY (\d+)/ })
  return { url: `http://127.0.0.1:${match[1]}`, stop, pid }
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

/** @param routes YAML of routes on the upstream `default`; left out: the published ones */
export function sluicegate(upstream, routes) {
  const limits = `upstreams: { default: { url: '${upstream}', max_connections: 1000 } }`
  const yaml = routes === undefined ? undefined : `${limits}\nroutes:\n${routes}`
  return gateway({ SLUICEGATE_UPSTREAM: upstream }, yaml, 'safety:evaluate')
}

/** Sluicegate with more and more of it on: what each layer costs is the difference to the one before. */
const { categories } = await import('../../dist/base/decision.js')
const nothingFound = [
  'name: nothing',
  "version: '1'",
  'readers: fast',
  'bands: { middle: 0.40, high: 0.75 }',
  'categories:',
  ...categories.map((category) => `  ${category}: { high: forbid, middle: permit }`),
  'rules: [{ name: never, category: violence, weight: 0.1, any: [qzxjwv] }]'
]
const layers = {
  'sluicegate, keys and reading': { constitution: 'nothing', output: 'off', decisions: 'stopped' },
  'sluicegate, + requests judged': { output: 'off', decisions: 'stopped' },
  'sluicegate, + answers judged': { decisions: 'stopped' }
}

async function layer(upstream, name, { constitution = 'default', output = 'window', decisions }) {
  const data = mkdtempSync(join(tmpdir(), 'sluicegate-layer-'))
  const file = join(data, 'nothing.yaml')
  writeFileSync(file, nothingFound.join('\n'))
  const yaml = [
    `upstreams: { default: { url: '${upstream}', max_connections: 1000 } }`,
    `constitutions: { nothing: ${file} }`,
    `defaults: { constitution: ${constitution}, output: ${output} }`,
    `audit: { decisions: ${decisions} }`
  ].join('\n')
  // What judges nothing refuses nothing.
  return { ...(await gateway({}, yaml, 'safety:evaluate')), name, guards: constitution === 'default' }
}

/** @param yaml of a whole configuration with MCP servers */
export const guardedServers = (yaml) => gateway({}, yaml, 'mcp:call')

/**
 * @param yaml the configuration; undefined: none
 * @param program the built command
 */
export async function gateway(more, yaml, scope, program = cli) {
  const data = mkdtempSync(join(tmpdir(), 'sluicegate-bench-'))
  const env = {
    SLUICEGATE_DATA_DIR: data,
    SLUICEGATE_PORT: '0',
    SLUICEGATE_OPS_PORT: '0',
    SLUICEGATE_LOG_LEVEL: 'info',
    ...more
  }
  if (yaml !== undefined) {
    env.SLUICEGATE_CONFIG = join(data, 'gateway.yaml')
    writeFileSync(env.SLUICEGATE_CONFIG, yaml)
  }
  // As the image does.
  const { match, stop, pid } = await launch(process.execPath, ['--max-semi-space-size=64', program, 'serve'], {
    env,
    ready: /serves at (http:\S+?)\.?\s[\s\S]*?(slg_live_\w+)/
  })
  const [, url, first] = match
  // The limit is part of what is measured, so the key has one, only a high one.
  const created = await fetch(`${url}/api/v1/ssaas/keys`, {
    method: 'POST',
    headers: { 'x-api-key': first, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'bench',
      scopes: [scope, 'safety:metrics'],
      rate_limit_per_minute: 1_000_000,
      max_concurrent: 100_000,
      accept_terms: true
    })
  })
  const { key } = await created.json()
  return {
    name: 'sluicegate',
    guards: true,
    url,
    key,
    pid,
    stop() {
      stop()
      rmSync(data, { recursive: true, force: true })
    }
  }
}

export async function portkey(upstream) {
  const port = await freePort()
  const { stop, pid } = await launch('npx', ['--yes', '@portkey-ai/gateway@1.15', `--port=${port}`, '--headless'], {
    ready: /running|listening|ready/i,
    cwd: tmpdir()
  })
  const config = {
    provider: 'openai',
    api_key: 'none',
    custom_host: `${upstream}/v1`,
    input_guardrails: [{ 'default.contains': { operator: 'none', words: [guardWord] }, deny: true, async: false }]
  }
  return {
    name: 'portkey',
    guards: true,
    url: `http://127.0.0.1:${port}`,
    portkeyConfig: JSON.stringify(config),
    pid,
    stop
  }
}

/** In the order in which each round visits them. */
export async function startAll({ portkey: withPortkey, layers: withLayers = false }) {
  const started = []
  const add = async (starting) => {
    const system = await starting
    started.push(system)
    return system
  }
  try {
    const direct = await add(script('upstream.mjs').then((system) => ({ name: 'direct', guards: false, ...system })))
    await add(
      script('pass-through.mjs', direct.url).then((system) => ({
        name: 'undici pass-through',
        guards: false,
        ...system
      }))
    )
    await add(
      script('floor.mjs', direct.url).then((system) => ({ name: 'Fastify, undici, JSON', guards: false, ...system }))
    )
    await add(
      script('bare-http-proxy.mjs', direct.url).then((system) => ({
        name: '@fastify/http-proxy',
        guards: false,
        ...system
      }))
    )
    if (withLayers) for (const [name, on] of Object.entries(layers)) await add(layer(direct.url, name, on))
    await add(sluicegate(direct.url))
    if (withPortkey) await add(portkey(direct.url))
    return started
  } catch (error) {
    for (const system of started) system.stop()
    throw error
  }
}
