/** From a figure of the live page to the rows behind it, and what a row tells. */
import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, serveBuilt, skip, visit } from './browser.js'

t.test('a figure leads to its rows, a row to the rows like it', { skip, timeout: 900_000 }, async (t) => {
  const running = await serveBuilt(t)
  const { url, key } = running
  const ask = (content: string) =>
    call(url, '/v1/chat/completions', { key, body: { model: 'demo', messages: [{ role: 'user', content }] } })
  t.equal((await ask('Hello!')).status, 200)
  t.equal((await ask('How do I kill it?')).status, 422)
  const browser = await openBrowser(t)
  const { page, alarms } = await openPage(browser)
  await becomeAdmin(page, running)
  await visit(page, 'Live')
  const counts = page.getByRole('list', { name: 'Decisions of the window' })
  await counts.getByRole('link', { name: 'depends 1' }).click()
  const audit = page.getByRole('region', { name: 'Audit' })
  const row = audit.getByRole('row').filter({ hasText: 'ambiguous_kill' })
  await row.waitFor()
  t.equal(await audit.locator('summary').count(), 1, 'what was stopped alone')
  t.match(page.url(), /#\/audit\?kind=evaluation&decision=depends&from=\d{4}/)
  t.equal(await page.getByRole('textbox', { name: 'Decision' }).inputValue(), 'depends')
  await row.locator('summary').click()
  const why = page.getByRole('table', { name: 'Why' })
  for (const text of ['ambiguous_kill', /^violence 0\.\d\d$/, 'words and patterns', '/v1/chat/completions', 'demo']) {
    await why.getByRole('link', { name: text, exact: true }).waitFor()
  }
  await page.getByText('in the middle band of default@').waitFor()
  // What `evaluate --explain` says, in numbers.
  const facts = (await why.textContent()) ?? ''
  t.match(facts, /ambiguous_kill counts 0\.\d\d for violence: the context does not settle it/)
  t.match(facts, /violence 0\.\d\d: depends \(permit if .+ lower, forbid if 0\.\d\d higher\)/)
  t.match(facts, /Without ambiguous_kill: permit at 0\.\d\d/)
  t.match(facts, /platform or topic in the context could settle it/)
  t.match(facts, /Characters 0 to 16 of \/messages\/0\/content \(user\): ambiguous_kill 0\.\d\d, words and patterns/)
  t.notMatch(await page.locator('main').textContent(), /kill it/)

  await why.getByRole('link', { name: 'demo', exact: true }).click()
  await audit.locator('summary').filter({ hasText: 'permit' }).first().waitFor()
  t.match(page.url(), /#\/audit\?model=demo$/)
  t.equal(await page.getByRole('textbox', { name: 'Model' }).inputValue(), 'demo')
  await page.getByRole('textbox', { name: 'Rule' }).fill('ambiguous_kill')
  await page.waitForURL(/model=demo&rule=ambiguous_kill$/)
  await audit.locator('summary').filter({ hasText: 'permit' }).first().waitFor({ state: 'detached' })
  t.equal(await audit.locator('summary').count(), 1)
  t.match(await page.getByRole('link', { name: 'Export JSON lines' }).getAttribute('href'), /rule=ambiguous_kill/)
  await page.getByRole('textbox', { name: 'Risk from' }).fill('0.9')
  await page.getByText('No such row').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await audit.locator('summary').filter({ hasText: 'permit' }).first().waitFor()

  await visit(page, 'Live')
  await page.locator('.recharts-bar-rectangle path').last().click()
  await audit.getByRole('row').filter({ hasText: 'ambiguous_kill' }).waitFor()
  t.match(page.url(), /category=violence/)

  // The charts of some alone, counted from the same rows.
  await visit(page, 'Live')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('textbox', { name: 'Rule' }).fill('ambiguous_kill')
  const filtered = page.getByRole('list', { name: 'Decisions of the filter' })
  await filtered.getByRole('link', { name: 'depends 1' }).waitFor()
  await filtered.getByRole('link', { name: 'permit 0' }).waitFor()
  await page.getByText('6 h', { exact: true }).click()
  await page.waitForURL(/#\/live\?rule=ambiguous_kill&window=6h$/)
  // While the gateway is asked who is signed in, the code of the page is on its way.
  const code = page.waitForRequest(/\/assets\/live-/)
  await page.route('**/api/v1/auth/session', async (route) => {
    await code
    await route.continue()
  })
  await page.reload()
  await filtered.getByRole('link', { name: 'depends 1' }).waitFor()
  await page.unroute('**/api/v1/auth/session')
  await page.locator('.recharts-bar-rectangle path').last().click()
  await audit.getByRole('row').filter({ hasText: 'ambiguous_kill' }).waitFor()
  t.match(page.url(), /#\/audit\?kind=evaluation&rule=ambiguous_kill&decision=depends&from=\d{4}/)
  await page.goto(`${url}/dashboard/#/live?rule=no_such_rule`)
  await filtered.getByRole('link', { name: 'depends 0' }).waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await counts.getByRole('link', { name: 'depends 1' }).waitFor()
  t.same(alarms, [])
})

t.test('what failed leads to its rows, and from there to the verdict', { skip, timeout: 900_000 }, async (t) => {
  const running = await serveBuilt(t, 'upstreams: { default: { url: "http://127.0.0.1:1" } }\n')
  const { url, key } = running
  const body = { model: 'demo', messages: [{ role: 'user', content: 'Hello!' }] }
  t.equal((await call(url, '/v1/chat/completions', { key, body })).status, 502)
  const browser = await openBrowser(t)
  const { page, alarms } = await openPage(browser)
  await becomeAdmin(page, running)
  await visit(page, 'Live')
  const upstreams = page
    .getByRole('region', { name: 'Upstreams', exact: true })
    .getByRole('row')
    .filter({ hasText: 'default' })
  await upstreams.getByRole('cell').nth(3).getByRole('link', { name: '1' }).click()
  await page.waitForURL(/#\/audit\?kind=upstream_failed&upstream=default&status=5xx&from=/)
  const audit = page.getByRole('region', { name: 'Audit' })
  const summary = audit.locator('summary')
  await summary.filter({ hasText: 'upstream_error' }).waitFor()
  t.equal(await summary.count(), 1)
  t.equal(await page.getByRole('textbox', { name: 'HTTP status' }).inputValue(), '5xx')
  await summary.click()
  await audit.getByRole('link', { name: 'The verdict by which it was sent' }).click()
  await summary.filter({ hasText: 'permit' }).waitFor()
  t.equal(await summary.count(), 2)
  await visit(page, 'Live')
  await page.getByRole('link', { name: 'failed (5xx)' }).click()
  await summary.filter({ hasText: 'upstream_error' }).waitFor()
  t.equal(await summary.count(), 1)
  t.same(alarms, [])
})
