import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import OpenAI from 'openai'
import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, serveBuilt, skip, visit } from './browser.js'

const assets = fileURLToPath(new URL('../../dist/dashboard/assets', import.meta.url))

t.test('the page and its files: a strict policy, files kept for a year, no other path', { skip }, async (t) => {
  const running = await serveBuilt(t)
  const page = await fetch(`${running.url}/dashboard/`)
  t.equal(page.status, 200)
  const policy = page.headers.get('content-security-policy') ?? ''
  t.match(policy, /default-src 'self'; script-src 'self'; style-src 'self' 'nonce-[^']+'/)
  t.match(policy, /frame-ancestors 'none'/)
  t.notMatch(policy, /unsafe|data:|\*/)
  t.equal(page.headers.get('cache-control'), 'no-store')
  const html = await page.text()
  t.notMatch(html, /<script(?![^>]*src=)|\son\w+=|<style/, 'nothing inline')
  const again = await (await fetch(`${running.url}/dashboard/`)).text()
  t.not(again, html, 'a nonce for each answer')
  const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(html)?.[1] ?? ''
  const file = await fetch(`${running.url}/dashboard/${script}`)
  t.equal(file.status, 200)
  t.match(file.headers.get('cache-control'), /max-age=31536000, immutable/)
  t.ok(['br', 'gzip'].includes(file.headers.get('content-encoding') ?? ''), 'compressed')
  t.equal(file.headers.get('x-content-type-options'), 'nosniff')
  t.equal((await fetch(`${running.url}/dashboard`, { redirect: 'manual' })).headers.get('location'), 'dashboard/')
  for (const path of [
    '/dashboard/index.html',
    '/dashboard/assets/',
    '/dashboard/assets/../index.html',
    '/dashboard//',
    '/x/dashboard/'
  ]) {
    t.equal((await fetch(running.url + path)).status, 404, path)
  }
})

t.test('JavaScript of the first view stays under 350 KB, compressed, and no editor is in it', async (t) => {
  const html = readFileSync(join(assets, '../index.html'), 'utf8')
  const names = readdirSync(assets).filter((name) => name.endsWith('.js'))
  // What the page itself names, and the first page with its charts.
  const first = names.filter(
    (name) => html.includes(name) || /^(?:live|BarChart|CompositeChart|LineChart|AreaChart)-/.test(name)
  )
  t.ok(first.length >= 3 && first.some((name) => name.startsWith('live-')), first.join(' '))
  const size = (name: string) => gzipSync(readFileSync(join(assets, name))).length
  const total = first.reduce((sum, name) => sum + size(name), 0)
  t.ok(total < 350_000, `${total} bytes in ${first.length} files`)
  t.notOk(first.some((name) => readFileSync(join(assets, name), 'utf8').includes('cm-activeLine')))
})

t.test('first start to first key, a review decided by keyboard, a rotation', { skip, timeout: 900_000 }, async (t) => {
  const running = await serveBuilt(t)
  const browser = await openBrowser(t)
  const { page, alarms } = await openPage(browser)
  await becomeAdmin(page, running)
  t.notMatch(page.url(), /token/, 'the used link is gone from the address')

  await page.getByRole('button', { name: 'Create a key' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('support-bot')
  await page.getByRole('button', { name: 'Create the key' }).click()
  const key = (await page.getByTestId('secret').textContent()) ?? ''
  t.match(key, /^slg_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{48}$/)
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('row', { name: /support-bot/ }).waitFor()
  t.notMatch(await page.content(), new RegExp(key), 'shown once')

  const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: key, maxRetries: 0 })
  const ask = () =>
    client.chat.completions.create({
      model: 'demo',
      messages: [{ role: 'user', content: 'I do not want to live any more' }]
    })
  await t.rejects(ask(), { status: 403, code: 'review_required' })

  await visit(page, 'Reviews')
  await page.getByRole('heading', { name: 'Your decision' }).waitFor()
  t.match(await page.locator('.marked-text mark').first().textContent(), /do not want to live/)
  await page.locator('main').focus()
  await page.keyboard.press('p')
  await page.keyboard.type('she asked for help before')
  await page.keyboard.press('Enter')
  await page.getByText('The request is permitted.').waitFor()
  t.match((await ask()).choices[0]?.message.content, /\S/, 'the same request passes')
  await t.rejects(ask(), { code: 'review_required' }, 'once')

  // Two at once, with one note.
  const divert = async () =>
    (
      await call(running.url, '/api/v1/safety/evaluate', {
        key,
        body: { input_text: 'I do not want to live any more' }
      })
    ).body.evaluation.review_id
  const both = [await divert(), await divert()]
  const boxes = page.getByRole('list', { name: 'Queue' }).getByRole('checkbox')
  await boxes.nth(1).waitFor()
  for (const box of await boxes.all()) await box.check()
  await page.getByRole('button', { name: 'Forbid', exact: true }).first().click()
  await page.getByLabel('Note for each of them').fill('seen')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Forbid/ })
    .click()
  await page.getByText(/^[0-9]+ forbidden\.$/).waitFor()
  for (const id of both) {
    const { body } = await call(running.url, `/api/v1/pdp/reviews/${id}`, { key: running.key })
    t.match(body, { status: 'forbidden', note: 'seen', decided_by: /^usr_/ })
  }

  await visit(page, 'Keys')
  await page.getByRole('button', { name: 'Actions for support-bot' }).click()
  await page.getByRole('menuitem', { name: 'Rotate' }).click()
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  const next = (await page.getByTestId('secret').textContent()) ?? ''
  t.not(next, key)
  await page.getByRole('button', { name: 'I have kept it' }).click()
  const timer = page.getByRole('timer')
  t.match(await timer.textContent(), /^[45]:[0-5]\d$/)
  const before = (await timer.textContent()) ?? ''
  await timer.filter({ hasNotText: before }).waitFor()
  for (const works of [key, next]) {
    t.match(await call(running.url, '/api/v1/safety/evaluate', { key: works, body: { input_text: 'Hi' } }), {
      status: 200
    })
  }

  let inSession = ''
  for (const input_text of ['My name is Robin', 'I do not want to live any more']) {
    const { body } = await call(running.url, '/api/v1/safety/evaluate', {
      key: next,
      body: { input_text, session_id: 's' }
    })
    inSession = body.evaluation.review_id
  }
  await page.goto(`${running.url}/dashboard/#/reviews?id=${inSession}`)
  await page.getByRole('region', { name: 'Earlier in this session' }).getByText('My name is Robin').waitFor()
  await visit(page, 'Keys')
  await page.goto(`${running.url}/dashboard/#/reviews/${inSession}`)
  await page.getByRole('region', { name: 'Earlier in this session' }).getByText('My name is Robin').waitFor()
  await visit(page, 'Status')
  await page.getByRole('row', { name: /answers this page.*serving/i }).waitFor()
  t.same(alarms, [])
})
