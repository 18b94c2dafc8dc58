import t from 'tap'
import { call } from '../support/gateway.js'
import { texts } from '../support/texts.js'
import { becomeAdmin, openBrowser, openPage, serveBuilt, skip, visit } from './browser.js'

t.test('a wrong decision: said so on its row of the audit, accepted, ended', { skip, timeout: 900_000 }, async (t) => {
  const running = await serveBuilt(t, 'review: { allow_own: false }')
  const browser = await openBrowser(t)
  const { page, alarms } = await openPage(browser)
  await becomeAdmin(page, running)
  const { url, key } = running
  const input_text = `My card is 4111 1111 1111 1111. ${texts.forged}`
  const judge = async (text: string) =>
    (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: text } })).body.evaluation
  const { decision, evaluation_id: id, matched_rules: rules } = await judge(input_text)
  t.equal(decision, 'forbid')

  await visit(page, 'Audit')
  const row = page.getByRole('row').filter({ hasText: id })
  await row.locator('summary').click()
  await row.getByRole('link', { name: 'This was wrong' }).click()
  const dialog = page.getByRole('dialog')
  t.equal(await dialog.getByLabel('Evaluation').inputValue(), id, 'it is filled in')
  await dialog.getByLabel('Why').fill('a line of a play')
  await dialog.getByRole('button', { name: 'Propose an exception' }).click()
  await page.getByText('Proposed. It changes nothing until it is accepted.').waitFor()
  t.equal((await judge(input_text)).decision, 'forbid', 'nor does it')

  // Who proposes does not accept.
  const accept = async () => {
    await page.getByRole('button', { name: 'Accept' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click()
  }
  await page.getByRole('row', { name: /a line of a play/ }).waitFor()
  await accept()
  await page.getByText('Your own hand proposed this exception.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.equal((await judge(input_text)).decision, 'forbid')

  // What a client proposes, a person accepts.
  const other = texts.otherForbidden
  const first = await judge(other)
  t.equal(first.decision, 'forbid')
  const proposed = await call(url, '/api/v1/safety/feedback', {
    key,
    body: { evaluation_id: first.evaluation_id, note: 'from a novel' }
  })
  t.match(proposed.status, 201, JSON.stringify(proposed.body))
  await visit(page, 'Live')
  await visit(page, 'Exceptions')
  const theirs = page.getByRole('row', { name: /from a novel/ })
  await theirs.getByRole('button', { name: 'Accept' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click()
  await theirs.getByText('accepted').waitFor()
  const after = await judge(other)
  t.equal(after.decision, 'permit')
  t.ok(after.detections.length > 0, 'what matched is shown still')
  t.equal((await judge(`${other}!`)).decision, 'forbid', 'another text is another matter')
  await theirs.getByRole('button', { name: 'End it' }).click()
  await theirs.getByText('revoked').waitFor()
  t.equal((await judge(other)).decision, 'forbid')
  t.ok(rules.length > 0)
  t.same(alarms, [])
})
