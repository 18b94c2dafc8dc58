/** The journey of somebody new: from the start of the gateway to a guarded call of their own backend, and what it took. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import OpenAI from 'openai'
import t from 'tap'
import { call } from '../support/gateway.js'
import { openBrowser, openPage, password, serveBuilt, settle, skip, visit } from './browser.js'

const backendKey = 'sk-backend-0123456789abcdef'

/** A model of one's own, as far as the journey needs one: it lists two models, asks for its key, and counts chats. */
async function ownBackend(t: { teardown(fn: () => unknown): unknown }) {
  const seen = { chats: 0, lists: 0 }
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      const json = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (request.headers.authorization !== `Bearer ${backendKey}`) return json(401, { error: { message: 'no key' } })
      if (request.url === '/v1/models') {
        seen.lists++
        return json(200, { object: 'list', data: [{ id: 'own-large' }, { id: 'own-small' }, { id: '<b>no id</b>' }] })
      }
      seen.chats++
      const message = { role: 'assistant', content: 'My own model says hello.' }
      return json(200, { id: '1', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

t.test('from the start to a guarded call of one’s own backend', { skip, timeout: 900_000 }, async (t) => {
  const backend = await ownBackend(t)
  const browser = await openBrowser(t)
  const { page, alarms } = await openPage(browser)
  page.setDefaultTimeout(45_000)
  const began = performance.now()
  const running = await serveBuilt(t)
  const started = performance.now()
  const { url } = running
  await page.goto(url)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.match(page.url(), /\/dashboard\/#\/first-steps$/, 'a browser at the root is led there')
  t.match(await call(url, '/'), { status: 404, body: { error: 'not_found' } }, 'a program is not')

  await page.goto(running.link)
  await page.getByLabel('Login').fill('ada@example.org')
  await page.getByLabel('Password').first().fill(password)
  await page.getByRole('button', { name: 'Create my login' }).click()
  await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor()

  // Before a backend is connected everything works on the demo.
  await page.getByRole('button', { name: 'Make a key' }).click()
  const key = (await page.getByTestId('secret').textContent()) ?? ''
  await page.getByRole('button', { name: 'Send: How do I kill a Python process?' }).click()
  await page.getByText(/This is the built-in demo backend/).waitFor()

  await page.getByRole('button', { name: 'Connect a backend' }).click()
  const connect = async (address: string, secret: string) => {
    await page.getByLabel('Address').fill(address)
    await page.getByLabel('Its key').fill(secret)
    await page.getByRole('button', { name: 'Check and connect' }).click()
  }
  await connect('http://169.254.169.254/', backendKey)
  await page.getByText(/link-local address, or that of a metadata service/).waitFor()
  await connect(backend.url, 'sk-wrong')
  await page.getByText(/The backend refuses this key/).waitFor()
  await connect(backend.url, backendKey)
  await page.getByText('The backend is connected. It has 2 models.').waitFor()
  t.equal(backend.seen.lists, 1, 'one GET of the models, and none with a wrong key')

  await page.getByRole('button', { name: 'Send all four' }).click()
  await page.getByText('My own model says hello.').waitFor()
  const guarded = performance.now()
  for (const row of [0, 1, 2, 3])
    await page
      .getByText(/in the audit, row/)
      .nth(row)
      .waitFor()
  const decisions = await page.getByRole('list', { name: 'Examples' }).getByRole('listitem').allTextContents()
  for (const [index, decision] of ['permit', 'forbid', 'depends', 'divert'].entries()) {
    t.match(decisions[index], new RegExp(`Expected: ${decision}.*${decision}.*HTTP \\d+`), decision)
  }
  t.equal(backend.seen.chats, 1, 'what was not permitted never reached the backend')
  const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1)
  t.comment(
    `start ${seconds(began, started)} s, sign-in to the guarded call ${seconds(started, guarded)} s, in all ${seconds(began, guarded)} s`
  )
  t.ok(guarded - began < 120_000, 'within two minutes')

  const program = page.getByLabel('Program for OpenAI in Python')
  t.match(await program.textContent(), new RegExp(`base_url="${url}/v1", api_key="${key}"`))
  t.match(await program.textContent(), /model="own-large"/)
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  const answer = await client.chat.completions.create({
    model: 'own-small',
    messages: [{ role: 'user', content: 'Hi' }]
  })
  t.equal(answer.choices[0]?.message.content, 'My own model says hello.')

  const { body } = await call(url, '/api/v1/audit?kind=upstream.connected', { key: running.key })
  t.match(body.rows, [{ subject: 'default', by: /^usr_/, data: { url: backend.url, has_key: true, version: 1 } }])
  t.notMatch(JSON.stringify([body, (await call(url, '/api/v1/upstreams', { key: running.key })).body]), backendKey)

  await visit(page, 'Live')
  await settle(page)
  await visit(page, 'First steps')
  t.equal(await page.getByTestId('secret').textContent(), key, 'the tab still has the key')
  await page.getByRole('button', { name: 'Disconnect' }).click()
  await page.getByText(/The demo backend answers again/).waitFor()
  await page.getByRole('button', { name: 'Send: How do I kill a Python process?' }).click()
  await page.getByText(/This is the built-in demo backend/).waitFor()
  t.same(alarms, [])
})
