import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, password, serveBuilt, skip, visit } from './browser.js'

const head = "name: default\nversion: '2'\nextends: default\n"
const giraffes = `${head}rules:\n  - { name: giraffes, category: illicit, any: [blue giraffe], weight: 0.95 }\n`

t.test(
  'a constitution is edited, refused, tried, stored, activated and rolled back; decisions follow',
  { skip, timeout: 900_000 },
  async (t) => {
    const running = await serveBuilt(t, 'sign_in: { confirm: 1s }\n')
    const { key, url } = running
    const decisionOf = async () =>
      (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'a blue giraffe' } })).body.evaluation
        .decision
    const browser = await openBrowser(t)
    const { page, alarms } = await openPage(browser)
    await becomeAdmin(page, running)
    await visit(page, 'Constitutions')
    const editor = page.getByLabel('The text of default, YAML')
    await editor.fill(`${head}bands: { middle: 0.9, high: 0.2 }\n`)
    await page.getByRole('alert').getByText('bands.high must be').waitFor()
    t.ok(
      await page.getByRole('button', { name: 'Store as a new version' }).isDisabled(),
      'what is not valid is not stored'
    )

    await editor.fill(giraffes)
    await page.getByText('valid', { exact: true }).waitFor()
    await page.getByLabel('Texts').fill('a blue giraffe\nHello')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('1 of 2 change: 1 stricter, 0 milder.').waitFor()
    await page.getByLabel('Note').fill('no giraffes')
    await page.getByRole('button', { name: 'Store as a new version' }).click()
    await page.getByText('Stored as version 2.').waitFor()
    t.equal(await decisionOf(), 'permit', 'what is stored judges nothing yet')

    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByRole('dialog').getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('default version 2 is in force.').waitFor()
    t.equal(await decisionOf(), 'forbid', 'the next decision differs')

    // The proof was for the first of them, a second ago.
    await page.waitForTimeout(1_100)
    await page.getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('dialog').getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('The login or the password is not right').waitFor()
    await page.getByRole('dialog').getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('default version 1 is in force.').waitFor()
    t.equal(await decisionOf(), 'permit')
    t.same(alarms, [])
  }
)
