/** What is wrong stands behind the bell and leads to its page; figures and charts stand beside the week before. */
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import t from 'tap'
import { openStorage } from '../../src/storage/open.js'
import { call, tempDir } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, serveBuilt, settle, skip, visit } from './browser.js'

const minute = 60_000
const day = 1440 * minute

/** What a process counted in the ten days before now: the same every day, a fiftieth of it stopped. */
async function seed(store: string): Promise<void> {
  const storage = await openStorage({ url: store })
  const end = Math.floor(Date.now() / (10 * minute)) * 10 * minute
  const row = (stepMs: number, at: number, share: number) => ({
    process: 'prc_before',
    stepMs,
    at,
    writtenAt: at,
    counts: {
      'decision chat permit': 980 * share,
      'decision chat forbid': 20 * share,
      'evaluation 0.001': 1000 * share
    }
  })
  for (let back = 10 * day; back > 0; back -= day) {
    const rows = Array.from({ length: 144 }, (_, i) => row(10 * minute, end - back + i * 10 * minute, 1))
    if (back <= 8 * day) rows.push(...Array.from({ length: 1440 }, (_, i) => row(minute, end - back + i * minute, 0.1)))
    await storage.metrics.put(rows.filter(({ at }) => at < end - 30 * minute))
  }
  await storage.close()
}

async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`)
    )
}

t.test('alerts in force, the week before, and the line of a threshold', { skip, timeout: 900_000 }, async (t) => {
  const store = `sqlite:${join(tempDir(t), 'gate.db')}`
  await seed(store)
  const running = await serveBuilt(
    t,
    `storage: { url: "${store}" }\nnotices: { every: 500ms, reviews_waiting: { count: 2, age: 4h } }\n`
  )
  const { url, key } = running
  const browser = await openBrowser(t)
  const { page, alarms } = await openPage(browser)
  await becomeAdmin(page, running)
  await page.getByRole('button', { name: 'Alerts: none' }).click()
  await page.getByText('Nothing waits too long and nothing fails.').waitFor()
  await page.getByText('Nobody is told').waitFor()
  await page.keyboard.press('Escape')

  for (const word of ['today', 'now', 'here']) {
    const body = { input_text: `I do not want to live any more, ${word}` }
    t.equal((await call(url, '/api/v1/safety/evaluate', { key, body })).body.evaluation.decision, 'divert')
  }
  await visit(page, 'Live')
  const banner = page.getByRole('alert').filter({ hasText: 'One alert' })
  await banner.getByText(/^3 reviews wait for a decision, the oldest for/).waitFor()
  await page.getByRole('button', { name: 'Alerts: 1' }).click()
  const dialog = page.getByRole('dialog', { name: 'Alerts' })
  await dialog.getByText(/^3 reviews wait for a decision/).waitFor()
  t.same(await seriousFaults(page), [], 'the open list')
  await dialog.getByRole('link', { name: 'Reviews' }).click()
  await page.getByRole('heading', { name: 'Reviews', level: 1 }).waitFor()
  await dialog.waitFor({ state: 'detached' })

  await visit(page, 'Live')
  await page.getByText('24 h', { exact: true }).click()
  await page
    .getByText(/ % against last week$/)
    .first()
    .waitFor()
  await page.getByText(/points against last week$/).waitFor()
  await page.getByText('alert from 2, or 4 h').waitFor()
  const share = page.getByRole('region', { name: 'Not permitted' })
  await share.getByText('2.0 % is usual at this time of day').waitFor()
  await share.getByText('unusual from here').waitFor()
  for (const name of ['Decisions', 'Not permitted', 'How long an evaluation takes'])
    await page
      .getByRole('region', { name })
      .getByText(/last week$/)
      .first()
      .waitFor()
  for (const window of ['15 min', '7 d']) {
    await page.getByText(window, { exact: true }).click()
    await page.getByText(`in the last ${window}`).waitFor()
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await settle(page)
    t.same(await seriousFaults(page), [], colorScheme)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  await settle(page)
  t.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390)
  await page.getByRole('button', { name: 'Alerts: 1' }).click()
  await dialog.getByText(/^3 reviews wait for a decision/).waitFor()
  t.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390)
  t.same(await seriousFaults(page), [], 'on a phone')
  t.same(alarms, [])
})
