/** The built gateway as a process of its own, and a browser in front of its dashboard. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { firstReaderAlone } from '../support/first-reader.js'
import { tempDir } from '../support/gateway.js'

type Teardown = { teardown(fn: () => unknown): unknown }

const executablePath = process.env['TEST_CHROMIUM'] ?? '/usr/bin/chromium'
/** In CI a missing browser fails the tests, elsewhere it skips them by name. */
export const skip =
  existsSync(executablePath) || process.env['CI'] === 'true' ? false : `no browser at ${executablePath}`

export const password = 'correct horse battery staple'

export interface Running {
  url: string
  /** The first key, with every scope. */
  key: string
  /** The first administrator's one-time link. */
  link: string
  dir: string
}

const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
/** A budget for a machine that does other things too: what waits here waits for a state. */
const startMs = 300_000

/** `sluicegate serve` on free ports and an empty store; answers with what its first start printed. */
export async function serveBuilt(t: Teardown, yaml = '', env: NodeJS.ProcessEnv = {}): Promise<Running> {
  const dir = tempDir(t)
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, yaml)
  const child: ChildProcess = spawn(process.execPath, [command, 'serve'], {
    cwd: dir,
    env: {
      PATH: process.env['PATH'],
      SLUICEGATE_CONFIG: config,
      SLUICEGATE_DATA_DIR: dir,
      SLUICEGATE_PORT: '0',
      SLUICEGATE_OPS_PORT: '0',
      SLUICEGATE_LOG_LEVEL: 'error',
      ...firstReaderAlone,
      ...env
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let printed = ''
  const text = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not started: ${printed}`)), startMs)
    child.stdout!.on('data', (bytes: Buffer) => {
      printed += bytes.toString()
      if (!printed.includes('chat/completions')) return
      clearTimeout(timer)
      resolve(printed)
    })
  })
  const found = (pattern: RegExp) => pattern.exec(text)?.[1] ?? ''
  return {
    url: found(/serves at (\S+?)\.?\s/),
    key: found(/(slg_live_\S+)/),
    link: found(/(http\S+welcome\?token=\S+)/),
    dir
  }
}

export async function openBrowser(t: Teardown): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 300_000 })
  t.teardown(() => browser.close())
  return browser
}

export interface Watched {
  page: Page
  /** Dialogs, errors of scripts and violations of the policy: what a script of another's would cause. */
  alarms: string[]
}

/** A page in a context of its own that remembers whatever should not happen in it. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(180_000)
  const alarms: string[] = []
  page.on('dialog', (dialog) => {
    alarms.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('pageerror', (error) => alarms.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/i.test(message.text())) alarms.push(`policy: ${message.text()}`)
  })
  return { page, alarms }
}

/** Uses the first administrator's link. */
export async function becomeAdmin(page: Page, { link }: Running): Promise<void> {
  await page.goto(link)
  await page.getByLabel('Login').fill('ada@example.org')
  await page.getByLabel('Password').first().fill(password)
  await page.getByRole('button', { name: 'Create my login' }).click()
  await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor()
  await visit(page, 'Keys')
}

/** Goes to a page by its link in the navigation. */
export async function visit(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name }).first().click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

/** Puts a text in the place of what an editor of code holds, which shows no more lines than fit. */
export async function rewrite(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).click()
  await page.keyboard.press('ControlOrMeta+a')
  // By itself: in the place of coloured text the browser would write an inline style, which the policy refuses.
  await page.keyboard.press('Backspace')
  await page.keyboard.insertText(text)
}

/** Every page, as the navigation calls it. */
export const pageNames = [
  'Live',
  'Reviews',
  'Keys',
  'Playground',
  'Constitutions',
  'Texts',
  'Exceptions',
  'Usage',
  'Audit',
  'People',
  'Status',
  'First steps'
]

/** Nothing moves any more and nothing is awaited. */
export async function settle(page: Page): Promise<void> {
  const awaited = page.getByLabel('Loading')
  while ((await awaited.count()) > 0) await page.waitForTimeout(50)
  await page.waitForTimeout(400)
}
