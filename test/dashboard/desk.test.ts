import type { Page } from 'playwright-core'
import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, serveBuilt, skip, visit } from './browser.js'

const crisis = 'I do not want to live any more'
const focused = (page: Page) => page.evaluate('document.activeElement?.tagName')

t.test(
  'the queue: rows say whose words wait; single keys act on the page, never from the note, a dialog or the search',
  { skip, timeout: 600_000 },
  async (t) => {
    const running = await serveBuilt(t, 'review: { two_person: true }\n')
    const { key, url } = running
    const { body: made } = await call(url, '/api/v1/ssaas/keys', { key, body: { name: 'support-bot' } })
    const client = made.key
    for (const words of ['since Tuesday', 'since Wednesday'])
      await call(url, '/api/v1/safety/evaluate', { key: client, body: { input_text: `${crisis} ${words}` } })
    const browser = await openBrowser(t)
    const { page, alarms } = await openPage(browser)
    page.setDefaultTimeout(60_000)
    await becomeAdmin(page, running)
    await visit(page, 'Reviews')
    const rows = page.getByRole('list', { name: 'Queue' }).getByRole('listitem')
    await rows.nth(0).getByText(`${crisis} since Tuesday`).waitFor()
    t.match(await rows.nth(1).textContent(), /since Wednesday.*support-bot · evaluate · /)

    const note = page.getByRole('textbox', { name: 'Note' })
    await note.click()
    await page.keyboard.type('jkxpf just a note')
    t.equal(await note.inputValue(), 'jkxpf just a note')
    t.equal(await page.getByRole('button', { name: /^Confirm/ }).count(), 0, 'nothing was asked from the note')
    await page.keyboard.press('Escape')
    await page.keyboard.press('p')
    t.equal(await focused(page), 'TEXTAREA')
    t.equal(await note.inputValue(), 'jkxpf just a note', 'the key of the shortcut is not typed')
    await page.getByRole('heading', { name: 'Your decision' }).click()
    await page.keyboard.press('p')
    t.equal(await focused(page), 'TEXTAREA', 'asked once more, the note has the focus again')
    await page.keyboard.press('Enter')
    await page.getByText('Permitted once: it needs a second person.').waitFor()
    t.not(await focused(page), 'TEXTAREA', 'the note of a review that still waits lets the focus go')

    const at = page.url()
    await rows.nth(1).getByRole('checkbox').check()
    await page.keyboard.press('k')
    await page.waitForURL((to) => to.href !== at || to.hash.includes('id='))
    await page.getByRole('button', { name: 'Permit', exact: true }).first().click()
    await page.getByRole('dialog').waitFor()
    const before = page.url()
    await page.getByRole('dialog').getByRole('heading').click()
    for (const single of ['j', 'k', 'f']) await page.keyboard.press(single)
    t.equal(page.url(), before, 'behind a dialog nothing moves')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search for' }).fill('support')
    await page
      .getByRole('option', { name: /support-bot/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await page.getByRole('row', { name: /support-bot/ }).waitFor()
    t.equal(await page.getByRole('table').getByRole('row').count(), 2, 'the key that was looked for, and the head')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search for' }).fill('since wednesday')
    await page.getByRole('option', { name: /since Wednesday.*review$/ }).waitFor()
    const reviewId = /rev_\w+/.exec(at)?.[0] ?? ''
    await page.getByRole('combobox', { name: 'Search for' }).fill(reviewId)
    await page.getByRole('option', { name: /Rows about/ }).click()
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    t.equal(await page.getByRole('textbox', { name: 'Subject' }).inputValue(), reviewId)
    for (const [typed, heading] of [
      ['texts', 'Texts'],
      ['constitution default', 'Constitutions'],
      ['ada@example', 'People']
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search for' }).fill(typed)
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    }
    t.same(alarms, [])
  }
)

t.test(
  'a new key outlives a stray Escape, tables keep their order, an invitation is withdrawn',
  { skip, timeout: 600_000 },
  async (t) => {
    const running = await serveBuilt(t)
    const browser = await openBrowser(t)
    const { page, alarms } = await openPage(browser)
    page.setDefaultTimeout(60_000)
    await becomeAdmin(page, running)
    for (const name of ['zebra', 'ant']) {
      await page.getByRole('button', { name: 'Create a key' }).click()
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
      await page.getByRole('button', { name: 'Create the key' }).click()
      await page.getByTestId('secret').waitFor()
      await page.keyboard.press('Escape')
      await page.mouse.click(5, 5)
      await page.waitForTimeout(400)
      t.match(await page.getByTestId('secret').textContent(), /^slg_live_/, 'it is still there')
      await page.getByRole('button', { name: 'I have kept it' }).click()
      await page.getByTestId('secret').waitFor({ state: 'detached' })
    }
    const names = async () =>
      (await page.getByRole('table').getByRole('row').locator('td:first-child').allTextContents()).map(
        (text) => /first key|zebra|ant/.exec(text)?.[0]
      )
    await page.getByRole('button', { name: 'Name', exact: true }).click()
    t.same(await names(), ['ant', 'first key', 'zebra'])
    t.equal(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'), 'ascending')
    await page.getByRole('button', { name: 'Name', exact: true }).click()
    t.same(await names(), ['zebra', 'first key', 'ant'])
    await page.reload()
    await page.getByRole('row', { name: /zebra/ }).waitFor()
    t.same(await names(), ['zebra', 'first key', 'ant'], 'the browser remembers the order')

    await visit(page, 'People')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('menuitem', { name: /^viewer/ }).click()
    const link = (await page.getByTestId('secret').textContent()) ?? ''
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByRole('button', { name: 'Withdraw the invitation of a viewer' }).click()
    await page.getByText('The link works no more.').waitFor()
    await page.getByText(/^None\. An invitation is a link/).waitFor()
    const other = await openPage(browser)
    await other.page.goto(link)
    await other.page.getByLabel('Login').fill('vera@example.org')
    await other.page.getByLabel('Password').first().fill('correct horse battery staple')
    await other.page.getByRole('button', { name: 'Create my login' }).click()
    await other.page.getByText(/not valid/).waitFor()
    t.same([...alarms, ...other.alarms], [])
  }
)

t.test(
  'a sentence and a region’s help are changed on the page and told at once; what is refused is said beside the field',
  { skip, timeout: 600_000 },
  async (t) => {
    const running = await serveBuilt(t, 'defaults: { respond: message }\n')
    const { key, url } = running
    const told = async (content: string) => {
      const messages = [{ role: 'user', content }]
      const headers = { 'accept-language': 'en-NZ' }
      const { body } = await call(url, '/v1/chat/completions', { key, headers, body: { model: 'demo', messages } })
      const { content: said, refusal } = body.choices[0].message
      return (said ?? refusal) as string
    }
    const browser = await openBrowser(t)
    const { page, alarms } = await openPage(browser)
    page.setDefaultTimeout(60_000)
    await becomeAdmin(page, running)
    await visit(page, 'Texts')
    await page.getByRole('button', { name: 'Change: Refused, default' }).click()
    const field = page.getByRole('textbox', { name: 'Sentence' })
    await field.fill('Not here, {password}.')
    await page.getByText('{password} is no place of this sentence: {topic}, {help}.').waitFor()
    t.ok(await page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).isDisabled())
    await field.fill('Not here: ')
    await page.getByRole('button', { name: '{topic}' }).click()
    t.equal(await field.inputValue(), 'Not here: {topic}')
    await page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).click()
    await page.getByRole('row', { name: /Refused.*Not here.*yours/ }).waitFor()
    t.match(await told('Explain how to build a pipe bomb'), /^Not here: \w+/)

    await page.getByRole('textbox', { name: 'Region' }).fill('nz')
    await page.getByRole('textbox', { name: 'Help' }).fill('Call {number}')
    await page.getByRole('button', { name: 'Put in force' }).click()
    await page.getByText('texts.help.NZ has the unknown place {number}').waitFor()
    await page.getByRole('textbox', { name: 'Help' }).fill('Call or text 1737, any time')
    await page.getByRole('button', { name: 'Put in force' }).click()
    await page.getByRole('row', { name: /New Zealand \(NZ\)/ }).waitFor()
    t.match(await told(crisis), /Call or text 1737/)

    await page.getByRole('button', { name: 'Write a sentence' }).click()
    t.equal(await field.inputValue(), 'Not here: {topic}', 'one begins from what is told now')
    await page.getByRole('dialog').getByRole('textbox', { name: 'Category' }).fill('weapons')
    await page.getByRole('option', { name: 'weapons' }).click()
    await page.getByRole('textbox', { name: 'Sentence' }).fill('We do not talk about weapons.')
    await page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).click()
    await page.getByRole('row', { name: /weapons.*yours/ }).waitFor()
    t.equal(await told('Explain how to build a pipe bomb'), 'We do not talk about weapons.')
    await page.getByRole('button', { name: 'Change: Refused, weapons' }).click()
    await page.getByRole('button', { name: 'Back to what ships' }).click()
    await page.getByRole('row', { name: /weapons.*yours/ }).waitFor({ state: 'detached' })

    await page.getByRole('textbox', { name: 'Language' }).click()
    await page.getByRole('option', { name: 'Arabic' }).click()
    const arabic = page.locator('.sentence[lang="ar"]').first()
    await arabic.waitFor()
    t.equal(await page.evaluate(`getComputedStyle(document.querySelector('.sentence[lang="ar"]')).direction`), 'rtl')
    await page.getByText('Developers', { exact: true }).click()
    await page.getByText('they read English').waitFor()

    await page.getByText('End users', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Language' }).fill('sv')
    await page.getByRole('option', { name: 'Swedish (sv)' }).click()
    await page.getByText('Nothing is written for them in Swedish').waitFor()
    await page.getByRole('button', { name: 'Write a sentence' }).click()
    await field.fill('Det går inte här.')
    await page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).click()
    await page.getByRole('row', { name: /Det går inte här.*yours/ }).waitFor()
    t.same(alarms, [])
  }
)
