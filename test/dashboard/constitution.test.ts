import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, password, rewrite, serveBuilt, skip, visit } from './browser.js'

const head = "name: default\nversion: '2'\nextends: default\n"
const giraffes = `${head}# rare animals\nrules:\n  - { name: giraffes, category: illicit, any: [blue giraffe], weight: 0.95 }\n`
const ofDefault = 'The text of default, YAML'

t.test(
  'a constitution is edited, refused, tried, stored, put in force and rolled back; decisions follow',
  { skip, timeout: 900_000 },
  async (t) => {
    const running = await serveBuilt(t, 'sign_in: { confirm: 1s }\n')
    const { key, url } = running
    const decisionOf = async () =>
      (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text: 'a blue giraffe' } })).body.evaluation
        .decision
    const browser = await openBrowser(t)
    const { page, alarms } = await openPage(browser)
    page.setDefaultTimeout(60_000)
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await becomeAdmin(page, running)
    t.notOk(
      requests.some((one) => /workbench|text-diff/.test(one)),
      'the editor is not loaded before it is opened'
    )
    await visit(page, 'Constitutions')
    await page.getByLabel(ofDefault).waitFor()
    t.ok(requests.some((one) => /workbench/.test(one)))

    await rewrite(page, ofDefault, `${head}bands: { middle: 9, high: low }\nwrong: 1\n`)
    const problems = page.getByRole('alert', { name: 'Problems' })
    await problems.getByText('bands.middle').waitFor()
    t.same(
      (await problems.getByRole('button').allTextContents()).map((text) => /^\d+:\d+/.exec(text)?.[0]).sort(),
      ['4:18', '4:27', '5:1'],
      'every one of them, with its place'
    )
    t.ok((await page.locator('.cm-lintRange-error').count()) >= 3, 'and marked in the text')
    await problems.getByText('bands.high').click()
    await page.locator('.cm-editor.cm-focused').waitFor()
    t.equal(await page.evaluate("document.activeElement?.getAttribute('aria-label')"), ofDefault, 'and one goes there')
    t.ok(
      await page.getByRole('button', { name: 'Store as a new version' }).isDisabled(),
      'what is not valid is not stored'
    )

    await rewrite(page, ofDefault, giraffes)
    await page.getByText('valid', { exact: true }).waitFor()
    // A change in the form is a change of the same text, and leaves its comments.
    await page.getByLabel('profanity, high band').selectOption('forbid')
    await page.getByLabel(ofDefault).getByText('profanity').waitFor()
    t.match(
      await page.getByLabel(ofDefault).innerText(),
      /# rare animals[\s\S]*giraffes[\s\S]*profanity: \{ high: forbid \}/
    )
    // What people read is written beside it, into the same text.
    await page.getByRole('button', { name: 'Texts that people read' }).click()
    await page.getByText('Developers', { exact: true }).click()
    await page.getByText('No sentence of its own for them in English.').waitFor()
    await page.getByRole('button', { name: 'Write a sentence' }).click()
    const sentence = page.getByRole('textbox', { name: 'Sentence' })
    t.ok((await sentence.inputValue()).length > 10, 'one begins from what is told without it')
    await sentence.fill('Giraffes: {review}')
    await page.getByText('{review} is no place of this sentence').waitFor()
    await sentence.fill('No giraffes here.\nAsk: {help}')
    await page.getByRole('button', { name: 'Write into the draft' }).click()
    await page.getByRole('button', { name: 'Change: Refused, every category' }).waitFor()
    await page.getByRole('textbox', { name: 'Region', exact: true }).fill('nz')
    await page.getByRole('textbox', { name: 'Help', exact: true }).fill('the zoo')
    await page.getByRole('button', { name: 'Add', exact: true }).last().click()
    await page.getByRole('row', { name: /New Zealand \(NZ\).*the zoo/ }).waitFor()
    await page.getByRole('button', { name: 'Write a sentence' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Category' }).fill('weapons')
    await page.getByRole('option', { name: 'weapons' }).click()
    await sentence.fill('No weapons.')
    await page.getByRole('button', { name: 'Write into the draft' }).click()
    await page.getByRole('button', { name: 'Change: Refused, weapons' }).click()
    await page.getByRole('button', { name: 'As elsewhere' }).click()
    await page.getByRole('button', { name: 'Change: Refused, weapons' }).waitFor({ state: 'detached' })
    t.match(
      await page.getByLabel(ofDefault).innerText(),
      /texts:\s+languages:\s+en:\s+developer:\s+forbid:[\s\S]*No giraffes here\.\s+Ask: \{help\}\s+help:\s+NZ: the zoo/
    )
    await page.getByText('Dry run', { exact: true }).click()
    await page.getByLabel('Texts', { exact: true }).fill('a blue giraffe\nHello')
    await page.getByText('valid', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Try 2 texts' }).click()
    await page.getByText('1 of 2 change: 1 stricter, 0 milder.').waitFor()

    await page.reload()
    await page.getByLabel(ofDefault).getByText('name: giraffes').waitFor()
    await page.getByText('kept in this browser').waitFor()
    await page.getByText('valid', { exact: true }).waitFor()
    await page.getByLabel('Note').fill('no giraffes')
    await page.getByRole('button', { name: 'Store as a new version' }).click()
    await page.getByText('Stored as version 2.').waitFor()
    t.equal(await page.evaluate("Object.keys(localStorage).filter((key) => key.includes('draft')).length"), 0)
    t.equal(await decisionOf(), 'permit', 'what is stored judges nothing yet')

    await page.getByRole('tab', { name: 'Versions' }).click()
    await page
      .getByRole('row', { name: /no giraffes/ })
      .getByText('you')
      .waitFor()
    await page.getByRole('button', { name: 'Put in force …' }).click()
    const dialog = page.getByRole('dialog').first()
    await dialog.getByText('blue giraffe').first().waitFor()
    await dialog.getByRole('tab', { name: 'Decisions' }).click()
    await dialog.getByText(/of \d+ change:|No decision of \d+ changes/).waitFor()
    await dialog.getByRole('button', { name: 'Put in force' }).click()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('default version 2 is in force.').waitFor()
    t.equal(await decisionOf(), 'forbid', 'the next decision differs')
    const { body: refused } = await call(url, '/v1/chat/completions', {
      key,
      headers: { 'accept-language': 'en-NZ' },
      body: { model: 'demo', messages: [{ role: 'user', content: 'a blue giraffe' }] }
    })
    t.match(refused.error.message, 'No giraffes here.\nAsk: the zoo', 'in the words that were written')

    // The proof was for the first of them, a second ago.
    await page.waitForTimeout(1_100)
    await page.getByRole('button', { name: 'Roll back …' }).click()
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('The login or the password is not right').waitFor()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('default version 1 is in force.').waitFor()
    await page.getByText('Version 1, back from 2').waitFor()
    t.equal(await decisionOf(), 'permit')
    t.same(alarms, [])
  }
)

t.test(
  'a constitution is begun from one that ships, and a route is bound to it; the configuration has the first word',
  { skip, timeout: 600_000 },
  async (t) => {
    const running = await serveBuilt(
      t,
      `routes:
  - { path: /v1/chat/completions, dialect: openai-chat }
  - { path: /fixed/v1/chat/completions, dialect: openai-chat, constitution: strict }
`
    )
    const browser = await openBrowser(t)
    const { page, alarms } = await openPage(browser)
    page.setDefaultTimeout(60_000)
    await becomeAdmin(page, running)
    await visit(page, 'Constitutions')
    await page.getByRole('button', { name: 'New constitution' }).click()
    await page.getByLabel('Name').fill('coding')
    await page.getByRole('radio', { name: 'developer' }).check()
    await page.getByRole('button', { name: 'Begin the draft' }).click()
    const editor = page.getByLabel('The text of coding, YAML')
    await editor.getByText('assume', { exact: true }).waitFor()
    // What is not stored yet is found again.
    await visit(page, 'Keys')
    await page.goto(`${running.url}/dashboard/#/constitutions?name=coding`)
    await page.getByText('valid', { exact: true }).waitFor()

    await editor.click()
    await page.keyboard.press('ControlOrMeta+End')
    await page.keyboard.type('\nread')
    // A key right after the list has come is taken for one that was meant for the text.
    await page.getByRole('option', { name: /readers/ }).click()
    await page.keyboard.type('fa')
    await page.getByRole('option', { name: 'fast' }).click()
    await editor.locator('.cm-line', { hasText: 'readers:' }).locator('span').first().hover()
    await page.getByText('What the encoder reads.').first().waitFor()

    await page.getByRole('button', { name: 'Store as a new version' }).click()
    await page.getByText('Stored as version 1.').waitFor()
    await page.getByRole('button', { name: 'Put in force …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).click()
    await page.getByText('coding version 1 is in force.').waitFor()
    await page.getByRole('tab', { name: 'Routes' }).click()
    await page.getByRole('row', { name: /fixed/ }).getByText('file: strict').waitFor()
    t.equal(await page.getByRole('textbox', { name: /What judges .fixed/ }).count(), 0)
    await page.getByRole('textbox', { name: 'What judges /v1/chat/completions' }).click()
    await page.getByRole('option', { name: 'coding' }).click()
    await page.getByText('/v1/chat/completions is judged by coding.').waitFor()
    const { headers } = await call(running.url, '/v1/chat/completions', {
      key: running.key,
      body: { model: 'demo', messages: [{ role: 'user', content: 'How do I kill it?' }] }
    })
    t.equal(headers.get('x-safety-policy'), 'coding@1')
    t.same(alarms, [])
  }
)
