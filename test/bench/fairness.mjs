/**
 * How long a key waits while another one floods: `node test/bench/fairness.mjs [OTHER_ROOT]`, after `npm run build`.
 *
 * The built gateway serves with its own demo backend. One key evaluates texts of 45,000 and of 300 characters in turns:
 * alone, then while another key sends chats of 900 KB on eight connections, of prose and of prose in base64 four times over.
 * With the root of a second build both are measured, one after the other. `--seconds` (20) for each flood.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '20' } }
})
const connections = 8
const words =
  'river stone paper window garden yellow music letter bridge winter coffee market doctor school kettle engine'.split(
    ' '
  )
const pick = () => words[Math.trunc(Math.random() * words.length)]

function prose(length) {
  let text = ''
  while (text.length < length) text += `${pick()} ${pick()} ${pick()} ${pick()} ${pick()}. `
  return text.slice(0, length)
}

function encoded(length) {
  let text = prose(Math.floor(length * 0.75 ** 4) - 10)
  for (let i = 0; i < 4; i++) text = Buffer.from(text).toString('base64')
  return `${text} ${pick()}`
}

/** Milliseconds: median, 95th percentile, most. */
function told(times) {
  const sorted = times.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(0)
  const failed = times.filter(({ status }) => status !== 200).length
  return `${at(0.5)} · ${at(0.95)} · ${sorted.at(-1).toFixed(0)} (${times.length}, ${failed} failed)`
}

async function timed(url, key, body) {
  const started = performance.now()
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const { status } = answer
  await answer.text()
  return { status, ms: performance.now() - started }
}

async function serve(root) {
  const dir = mkdtempSync(join(tmpdir(), 'fairness-'))
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, 'storage: { url: "memory:" }\nlimits: { live_per_minute: 100000 }\n')
  const child = spawn(process.execPath, [join(root, 'dist/cli.js'), 'serve'], {
    env: {
      ...process.env,
      SLUICEGATE_CONFIG: config,
      SLUICEGATE_DATA_DIR: dir,
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0'
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text
    })
  }
  for (let i = 0; i < 600; i++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const [, url] = /curl -s (http:\/\/[^/]+)\/api/.exec(said) ?? []
    const [first] = /slg_live_[\w-]+/.exec(said) ?? []
    if (url !== undefined && first !== undefined) {
      const close = () => {
        child.kill()
        rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
      }
      return { url, first, close }
    }
  }
  throw new Error(`the gateway did not start: ${said}`)
}

async function keyOf({ url, first }, name) {
  const answer = await fetch(`${url}/api/v1/ssaas/keys`, {
    method: 'POST',
    headers: { 'x-api-key': first, 'content-type': 'application/json' },
    body: JSON.stringify({ name, accept_terms: true, rate_limit_per_minute: 100_000, scopes: ['safety:evaluate'] })
  })
  const { key } = await answer.json()
  return key
}

async function measure(root) {
  const gateway = await serve(root)
  try {
    const [flooding, waiting] = [await keyOf(gateway, 'flooding'), await keyOf(gateway, 'waiting')]
    const evaluate = (length) => timed(`${gateway.url}/api/v1/safety/evaluate`, waiting, { input_text: prose(length) })
    const rounds = async (goesOn) => {
      const [long, short] = [[], []]
      while (goesOn(long.length)) {
        long.push(await evaluate(45_000))
        short.push(await evaluate(300))
      }
      return `45,000 characters ${told(long)}; 300 characters ${told(short)}`
    }
    // Threads start.
    await rounds((done) => done < 3)
    console.log(`  alone: ${await rounds((done) => done < 40)}`)
    for (const [name, make] of Object.entries({ prose, 'base64 four times over': encoded })) {
      const bodies = Array.from({ length: 24 }, () => make(900_000))
      const answers = {}
      let sent = 0
      let isOver = false
      const flood = Array.from({ length: connections }, async () => {
        while (!isOver) {
          const content = `${bodies[sent++ % bodies.length]} ${sent}`
          const body = { model: 'demo', messages: [{ role: 'user', content }] }
          const { status } = await timed(`${gateway.url}/v1/chat/completions`, flooding, body)
          answers[status] = (answers[status] ?? 0) + 1
        }
      })
      const ends = performance.now() + Number(values.seconds) * 1000
      console.log(`  beside ${name}: ${await rounds(() => performance.now() < ends)}`)
      isOver = true
      await Promise.all(flood)
      console.log(`    the flood's answers: ${JSON.stringify(answers)}`)
    }
  } finally {
    gateway.close()
  }
}

const own = fileURLToPath(new URL('../..', import.meta.url))
console.log(`ms: median · 95th percentile · most (calls); load before ${loadavg()[0].toFixed(1)}`)
for (const root of [...positionals, own]) {
  console.log(root === own ? 'this build' : root)
  await measure(root)
}
