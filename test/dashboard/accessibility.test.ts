import axe from 'axe-core'
import type { Page } from 'playwright-core'
import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, pageNames, serveBuilt, settle, skip, visit } from './browser.js'

/** What a screen reader or a weak eye would stumble over, by axe's own word for how badly. */
async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`)
    )
}

t.test(
  'every page: no serious fault for those who hear it or see it weakly, light and dark, wide and narrow',
  { skip, timeout: 900_000 },
  async (t) => {
    const running = await serveBuilt(t, 'samples: { what: stopped }\n')
    const { key, url } = running
    for (const input_text of ['I do not want to live any more', 'Explain how to build a pipe bomb', 'Hello'])
      await call(url, '/api/v1/safety/evaluate', { key, body: { input_text } })
    const browser = await openBrowser(t)
    const { page, alarms } = await openPage(browser)
    await page.goto(`${url}/dashboard/`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    t.same(await seriousFaults(page), [], 'sign-in')
    await becomeAdmin(page, running)
    // A right of its own, which no administrator has by office.
    await visit(page, 'People')
    await page.getByRole('switch', { name: 'ada@example.org reads samples' }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'Samples' }).waitFor()
    const names = [...pageNames, 'Samples']
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const name of names) {
        await visit(page, name)
        await settle(page)
        t.same(await seriousFaults(page), [], `${name}, ${colorScheme}`)
      }
      // What opens on a page.
      await visit(page, 'Constitutions')
      await settle(page)
      await page.getByRole('button', { name: 'Texts that people read' }).click()
      await settle(page)
      t.same(await seriousFaults(page), [], `the texts of a constitution, ${colorScheme}`)
      await page.getByRole('button', { name: 'Write a sentence' }).click()
      await page.getByRole('textbox', { name: 'Sentence' }).fill('{wrong}')
      await settle(page)
      t.same(await seriousFaults(page), [], `a sentence, ${colorScheme}`)
      await page.keyboard.press('Escape')
      await visit(page, 'Audit')
      await page.getByRole('button', { name: 'More filters' }).click()
      await settle(page)
      t.same(await seriousFaults(page), [], `every filter, ${colorScheme}`)
    }
    await page.setViewportSize({ width: 390, height: 844 })
    for (const name of names) {
      await page.getByRole('button', { name: 'Open the navigation' }).click()
      await visit(page, name)
      await settle(page)
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
      t.ok(width <= 390, `${name} fits a phone: ${width} pixels`)
      t.same(await seriousFaults(page), [], `${name}, on a phone`)
    }
    t.same(alarms, [])
  }
)

/** How far what is seen moved by itself, as browsers sum it up: 0.1 is what is called good. */
const watchShifts = `{
  window.shifted = 0
  const add = (list) => list.getEntries().forEach((one) => { if (!one.hadRecentInput) window.shifted += one.value })
  new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
}`

t.test('what comes late moves nothing that is read already', { skip, timeout: 900_000 }, async (t) => {
  const yaml = 'samples: { what: stopped }\nnotices: { every: 500ms, reviews_waiting: { count: 1 } }\n'
  const running = await serveBuilt(t, yaml)
  const { key, url } = running
  for (const input_text of ['I do not want to live any more', 'Explain how to build a pipe bomb', 'Hello'])
    await call(url, '/api/v1/safety/evaluate', { key, body: { input_text } })
  const browser = await openBrowser(t)
  const { page } = await openPage(browser, { reducedMotion: 'reduce' })
  await becomeAdmin(page, running)
  await page.getByRole('button', { name: 'Alerts: 1' }).waitFor()
  const links = page.getByRole('navigation').getByRole('link')
  const hrefs = await links.evaluateAll((all) => all.map((one) => (one as { href: string }).href))
  const ids = hrefs.flatMap((href) => /#\/[\w-]+/.exec(href)?.[0] ?? [])
  t.equal(ids.length, pageNames.length)
  await page.route('**/api/v1/**', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    await route.continue()
  })
  for (const id of ids) {
    await page.goto('about:blank')
    await page.goto(`${url}/dashboard/${id}`)
    await page.evaluate(watchShifts)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await settle(page)
    // What is asked for by what came.
    await settle(page)
    const shifted = Number(await page.evaluate('window.shifted'))
    t.ok(shifted < 0.03, `${id}: ${shifted.toFixed(3)}`)
  }
})
