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
