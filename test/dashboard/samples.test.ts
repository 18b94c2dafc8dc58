/** Texts of what was stopped: given to a person as a right, read from the row that tells of them, tried over, and deleted. */
import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, serveBuilt, skip, visit } from './browser.js'

t.test('samples: off, then read, tried over and deleted', { skip, timeout: 900_000 }, async (t) => {
  const browser = await openBrowser(t)

  await t.test('where they are off, the page says how to have them', async (t) => {
    const running = await serveBuilt(t)
    const { page, alarms } = await openPage(browser)
    await becomeAdmin(page, running)
    const navigation = page.getByRole('navigation')
    t.equal(
      await navigation.getByRole('link', { name: 'Samples' }).count(),
      0,
      'no administrator has the right by office'
    )
    await visit(page, 'People')
    await page.getByRole('switch', { name: 'ada@example.org reads samples' }).click()
    await navigation.getByRole('link', { name: 'Samples' }).waitFor()
    await visit(page, 'Samples')
    await page.getByText('Samples are off').waitFor()
    await page.getByText('what: stopped').waitFor()
    t.same(alarms, [])
    await page.context().close()
  })

  await t.test('what was stopped is read from its row, tried over and deleted', async (t) => {
    const running = await serveBuilt(t, 'samples: { what: stopped }\n')
    const { url, key } = running
    const ask = (content: string) =>
      call(url, '/v1/chat/completions', { key, body: { model: 'demo', messages: [{ role: 'user', content }] } })
    const token = `ghp_${'x7Kp2mQ9vB4nR8sT1wY6zA3cE5gJ0hL2dFqU'}`
    t.equal((await ask(`How do I kill it? ask jane@example.org with ${token}`)).status, 422)
    for (let i = 0; i < 23; i++) t.equal((await ask(`How do I kill it, number ${i}?`)).status, 422)
    const { body: hit } = await call(url, '/api/v1/safety/evaluate', {
      key,
      body: { input_text: 'How do I kill it, last?' }
    })
    const feedback = { evaluation_id: hit.evaluation.evaluation_id }
    t.equal((await call(url, '/api/v1/safety/feedback', { key, body: feedback })).status, 201)
    const { page, alarms } = await openPage(browser)
    await becomeAdmin(page, running)
    await visit(page, 'Constitutions')
    const candidate = async () => {
      await page.getByText('Dry run', { exact: true }).click()
      await page.getByRole('radiogroup', { name: 'Texts to try' }).getByText('Stored samples').click()
      await page.getByRole('button', { name: 'Try the samples' }).click()
    }
    page.setDefaultTimeout(60_000)
    await candidate()
    await page.getByText('No decision of 25 changes.').waitFor()
    await page.getByText('You may not read samples').waitFor()

    await visit(page, 'People')
    await page.getByRole('switch', { name: 'ada@example.org reads samples' }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'Samples' }).waitFor()
    await visit(page, 'Audit')
    const row = page.getByRole('region', { name: 'Audit' }).getByRole('row').filter({ hasText: 'secrets' }).first()
    await row.locator('summary').click()
    await row.getByRole('link', { name: 'View sample' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sample' })
    await dialog.getByText('How do I kill it').waitFor()
    const text = async () => (await dialog.textContent()) ?? ''
    t.match(await text(), /ask .*<PERSONAL_DATA>.* with .*<SECRETS>/)
    t.notMatch(await text(), /jane@|ghp_/)
    await dialog.getByRole('switch', { name: 'Show personal data' }).click()
    await dialog.getByText('jane@example.org').waitFor()
    t.notMatch(await text(), /ghp_/)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.waitFor({ state: 'detached' })
    const list = page.getByRole('region', { name: 'Samples' })
    await list.getByRole('row').nth(1).waitFor()
    await page.getByText('24 of at most 10,000 samples').waitFor()
    await page.getByRole('textbox', { name: 'Rule' }).fill('no_such_rule')
    await page.getByText('No such sample').waitFor()
    await page.getByRole('textbox', { name: 'Rule' }).fill('')
    await list.getByRole('row').nth(1).waitFor()

    await visit(page, 'Exceptions')
    await page.getByRole('button', { name: 'Accept' }).click()
    const accepting = page.getByRole('dialog', { name: 'Accept the exception' })
    await accepting.getByRole('button', { name: 'Show the text' }).click()
    await accepting.getByText('How do I kill it').waitFor()
    await accepting.getByRole('button', { name: 'Close' }).click()

    await visit(page, 'Constitutions')
    await candidate()
    await page.getByText('No decision of 24 changes.').waitFor()
    await page.getByRole('region', { name: 'Decisions' }).getByRole('link', { name: /^smp_/ }).first().waitFor()

    await visit(page, 'Samples')
    await page.getByRole('button', { name: 'Delete all' }).click()
    await page.getByRole('button', { name: 'Delete them' }).click()
    await page.getByText('There are no samples').waitFor()
    await visit(page, 'Audit')
    for (const kind of ['sample.read', 'sample.deleted', 'sample.replayed', 'user.changed'])
      await page
        .getByRole('button', { name: `Only ${kind}` })
        .first()
        .waitFor()
    t.same(alarms, [])
  })
})
