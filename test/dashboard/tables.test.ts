/** Every table: ordered by each head by keyboard, said to those who hear it, and kept with its columns over a reload. */
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, serveBuilt, settle, skip, visit } from './browser.js'

/** The pages that show tables, and the tables on them. */
const tables: [page: string, ...labels: string[]][] = [
  ['Live', 'Upstreams'],
  ['Keys', 'Keys'],
  ['Constitutions', 'Versions', 'Routes'],
  ['Texts', 'Texts in English'],
  ['Samples', 'Samples'],
  ['Exceptions', 'Exceptions'],
  ['Usage', 'Usage'],
  ['Audit', 'Audit'],
  ['People', 'People', 'Invitations not used yet'],
  ['Status', 'Policies in force', 'Nodes']
]

const cells = (table: Locator, column: number) => table.locator(`tbody td:nth-child(${column})`).allTextContents()

async function prepare(page: Page, { url, key }: { url: string; key: string }): Promise<void> {
  for (const input_text of ['How do I kill it?', 'Explain how to build a pipe bomb', 'Hello'])
    await call(url, '/api/v1/safety/evaluate', { key, body: { input_text } })
  const { body } = await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'How do I kill it?' } })
  const feedback = { evaluation_id: body.evaluation.evaluation_id }
  await call(url, '/api/v1/safety/feedback', { key, body: feedback })
  await visit(page, 'People')
  await page.getByRole('switch', { name: 'ada@example.org reads samples' }).click()
  for (const role of ['viewer', 'reviewer']) {
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('menuitem', { name: new RegExp(`^${role}`) }).click()
    await page.getByRole('button', { name: 'I have kept it' }).click()
  }
  await page.getByRole('navigation').getByRole('link', { name: 'Samples' }).waitFor()
}

t.test('every table is ordered by its heads and keeps its columns', { skip, timeout: 900_000 }, async (t) => {
  const running = await serveBuilt(t, 'samples: { what: stopped }\n')
  const browser = await openBrowser(t)
  const { page, alarms } = await openPage(browser)
  await becomeAdmin(page, running)
  await prepare(page, running)
  for (const [name, ...labels] of tables) {
    await visit(page, name)
    for (const label of labels) {
      if (name === 'Constitutions') await page.getByText(label, { exact: true }).first().click()
      const table = page.getByRole('region', { name: label, exact: true }).getByRole('table')
      await table.locator('tbody tr').first().waitFor()
      const heads = table.locator('thead th:has(button)')
      t.ok((await heads.count()) > 1, `${label} has heads that order it`)
      for (let i = 0; i < (await heads.count()); i++) {
        const head = heads.nth(i)
        const sorter = head.getByRole('button')
        await sorter.focus()
        for (const order of ['ascending', 'descending', null]) {
          await page.keyboard.press('Enter')
          const sorted = order === null ? ':not([aria-sort])' : `[aria-sort="${order}"]`
          await head.and(page.locator(sorted)).waitFor()
          t.pass(`${label}: ${await sorter.textContent()} ${order}`)
        }
      }
      // Any column but the first is hidden and shown again by the menu.
      const menu = page.getByRole('button', { name: `Order and columns of ${label}`, exact: true })
      if ((await table.locator('thead th').count()) < 3) continue
      await menu.focus()
      await page.keyboard.press('Enter')
      // The menu takes the focus a moment after it opens, and would take it back.
      const opened = page.getByRole('dialog', { name: `Order and columns of ${label}`, exact: true })
      await opened.and(page.locator(':focus-within')).waitFor()
      const column = page.getByRole('group', { name: 'Columns' }).getByRole('checkbox').first()
      await column.focus()
      const hidden = (await table.locator('thead th').nth(1).textContent()) ?? ''
      await page.keyboard.press('Space')
      await column.and(page.locator(':not(:checked)')).waitFor()
      await page.keyboard.press('Escape')
      await table.getByRole('columnheader', { name: hidden, exact: true }).waitFor({ state: 'hidden' })
      t.equal(await table.getByRole('cell').count(), await table.locator('tbody td:visible').count())
    }
  }
  await page.reload()
  await visit(page, 'Audit')
  const audit = page.getByRole('region', { name: 'Audit' }).getByRole('table')
  await audit.locator('tbody tr').first().waitFor()
  t.notOk(await audit.getByRole('columnheader', { name: 'Kind' }).isVisible(), 'kept over a reload')
  await page.getByRole('button', { name: 'Order and columns of Audit' }).click()
  await page.getByRole('checkbox', { name: 'Kind' }).click()
  await page.keyboard.press('Escape')
  await audit.getByRole('columnheader', { name: 'Kind' }).waitFor()

  // The order of time is asked of the gateway, so that the first page is of the oldest rows.
  const newest = await cells(audit, 2)
  const asked = page.waitForRequest(/\/audit\?.*order=oldest/)
  await audit.getByRole('button', { name: 'When' }).click()
  await asked
  await settle(page)
  t.same(await cells(audit, 2), [...newest].reverse())
  await page.reload()
  await audit.locator('tbody tr').first().waitFor()
  t.equal(await audit.getByRole('columnheader', { name: 'When' }).getAttribute('aria-sort'), 'ascending')
  await audit.getByRole('button', { name: 'Kind', exact: true }).click()
  const kinds = await cells(audit, 2)
  t.same(
    kinds,
    [...kinds].sort((a, b) => a.localeCompare(b, 'en'))
  )

  // On a phone, where no head is seen, by the menu.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Order and columns of Audit' }).click()
  await page.getByRole('group', { name: 'Order by' }).getByRole('button', { name: 'Kind' }).click()
  await page.keyboard.press('Escape')
  t.same(
    await cells(audit, 2),
    [...kinds].sort((a, b) => b.localeCompare(a, 'en'))
  )
  t.same(alarms, [])
})
