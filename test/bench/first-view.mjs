/**
 * How soon the dashboard shows its first view while every processor is busy: `node test/bench/first-view.mjs`, after
 * `npm run build`.
 *
 * One process for each of two processors counts without a pause. Beside them the built gateway serves, and Chromium opens the
 * page with nothing in its cache, ten times each: the sign-in of a stranger, and Live of somebody who is signed in. Times
 * are the page's own, from the start of the navigation: until something is painted, until what the page is for stands in
 * it (the field for the login; the figures), and until the first chart is drawn. `--runs`, `--busy` and `--chromium` choose
 * otherwise.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'

const { values: asked } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    busy: { type: 'string', default: '2' },
    chromium: { type: 'string', default: process.env['TEST_CHROMIUM'] ?? '/usr/bin/chromium' }
  }
})
const runs = Number(asked.runs)
/** Whatever becomes of this process, they end by themselves. */
const busyMs = 300_000
const password = 'correct horse battery staple'

const dir = mkdtempSync(join(tmpdir(), 'first-view-'))
const children = []
let browser
try {
  const { url, link, key } = await serve()
  browser = await chromium.launch({ executablePath: asked.chromium, args: ['--no-sandbox'] })
  const storageState = await signIn(link)
  await traffic(url, key)
  console.log(`load before: ${loadavg()[0].toFixed(1)}`)
  for (let i = 0; i < Number(asked.busy); i++) {
    children.push(spawn(process.execPath, ['-e', `const end = Date.now() + ${busyMs}; while (Date.now() < end);`]))
  }
  const views = [
    { name: 'sign-in', marks: { view: 'input[autocomplete="username"]' } },
    { name: 'Live', marks: { view: 'main a[href*="kind=evaluation"]', charts: 'main .recharts-surface' }, storageState }
  ]
  for (const view of views) {
    const took = []
    for (let i = 0; i < runs; i++) took.push(await open(url, view))
    const { scripts, bytes } = took[0]
    const marks = ['paint', ...Object.keys(view.marks)].map((mark) => `${mark} ${told(took.map((one) => one[mark]))}`)
    console.log(`${view.name}: ${marks.join(', ')}; ${scripts} scripts, ${(bytes / 1024).toFixed(0)} KB gzipped`)
  }
} finally {
  await browser?.close()
  for (const child of children) child.kill()
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}

/** Milliseconds: the median, and the range. */
function told(times) {
  const sorted = [...times].sort((a, b) => a - b)
  const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
  return `${middle.toFixed(0)} ms (${sorted[0].toFixed(0)} to ${sorted.at(-1).toFixed(0)})`
}

/** A page in a context of its own: nothing is cached. */
async function open(url, { marks, storageState }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState })
  try {
    const page = await context.newPage()
    const bodies = []
    page.on('response', (response) => {
      if (/\.js$/.test(new URL(response.url()).pathname)) bodies.push(response.body())
    })
    await page.addInitScript((marks) => {
      const missing = new Map(Object.entries(marks))
      const shown = {}
      const look = () => {
        for (const [mark, selector] of missing) {
          if (document.querySelector(selector) === null) continue
          missing.delete(mark)
          // The frame after the one in which it was found has been drawn with it.
          requestAnimationFrame(() => {
            shown[mark] = performance.now()
            if (Object.keys(shown).length === Object.keys(marks).length) globalThis.allShown = shown
          })
        }
        if (missing.size > 0) requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    }, marks)
    await page.goto(`${url}/dashboard/#/live`, { waitUntil: 'commit' })
    const shown = await (await page.waitForFunction(() => globalThis.allShown, null, { timeout: 60_000 })).jsonValue()
    const first = await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
    const paint = await first.jsonValue()
    const scripts = await Promise.all(bodies)
    const bytes = scripts.reduce((sum, body) => sum + gzipSync(body).length, 0)
    return { ...shown, paint, scripts: scripts.length, bytes }
  } finally {
    await context.close()
  }
}

/** The built gateway on free ports and an empty store; answers with what its first start prints. */
function serve() {
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, '')
  const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
  const child = spawn(process.execPath, [command, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      SLUICEGATE_CONFIG: config,
      SLUICEGATE_DATA_DIR: dir,
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_LOG_LEVEL: 'error'
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    let printed = ''
    child.once('exit', () => reject(new Error(`the gateway ended: ${printed}`)))
    child.stdout.on('data', (bytes) => {
      printed += bytes
      if (!printed.includes('chat/completions')) return
      const found = (pattern) => pattern.exec(printed)?.[1]
      resolve({
        url: found(/serves at (\S+?)\.?\s/),
        key: found(/(slg_live_\S+)/),
        link: found(/(http\S+welcome\?token=\S+)/)
      })
    })
  })
}

/** @returns the sign-in of the first administrator */
async function signIn(link) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(link)
  await page.getByLabel('Login').fill('ada@example.org')
  await page.getByLabel('Password').first().fill(password)
  await page.getByRole('button', { name: 'Create my login' }).click()
  await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

/** So that the charts have something to show. */
async function traffic(url, key) {
  const texts = ['How do I kill a Python process?', 'Explain how to build a pipe bomb', 'How do I kill it?', 'Hello']
  for (let i = 0; i < 40; i++) {
    await fetch(`${url}/api/v1/safety/evaluate`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ input_text: texts[i % texts.length] })
    })
  }
}
