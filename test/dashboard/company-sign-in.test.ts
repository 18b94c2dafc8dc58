import t from 'tap'
import { freePort } from '../support/fronts.js'
import { oidcSettings, openIdProvider } from '../support/openid-provider.js'
import { openBrowser, openPage, pageNames, serveBuilt, skip } from './browser.js'

t.test(
  'people sign in by their company’s provider in a browser: roles by group, a fresh proof, out again; a refusal says why',
  { skip, timeout: 900_000 },
  async (t) => {
    const port = await freePort()
    const idp = await openIdProvider(t, `http://127.0.0.1:${port}`)
    await serveBuilt(t, oidcSettings(idp).replace('{', '{ confirm: 1s,'), { SLUICEGATE_PORT: String(port) })
    const browser = await openBrowser(t)
    const arrive = async () => {
      const watched = await openPage(browser)
      await watched.page.goto(`${idp.site}/dashboard/`)
      await watched.page.getByRole('link', { name: 'Sign in with my company' }).click()
      return watched
    }
    /** The provider's own pages. */
    const asPerson = async ({ page }: Awaited<ReturnType<typeof arrive>>, login: string, consents = true) => {
      await page.locator('input[name=login]').fill(login)
      await page.locator('input[name=password]').fill('any')
      await page.getByRole('button', { name: 'Sign-in' }).click()
      if (consents) await page.getByRole('button', { name: 'Continue' }).click()
    }
    const pagesOf = async ({ page }: Awaited<ReturnType<typeof arrive>>) => {
      await page.getByRole('navigation').waitFor()
      return (await page.getByRole('navigation').getByRole('link').allTextContents()).map((name) => name.trim())
    }

    const ann = await arrive()
    await asPerson(ann, 'ann')
    const all = await pagesOf(ann)
    for (const name of pageNames)
      t.ok(
        all.some((link) => link.startsWith(name)),
        `an administrator sees ${name}`
      )

    const max = await arrive()
    await asPerson(max, 'max')
    const open = await pagesOf(max)
    t.ok(open.some((name) => name.startsWith('Reviews')))
    t.notOk(
      open.some((name) => /^(Keys|People|Audit)/.test(name)),
      'a reviewer has no pages of an administrator'
    )

    // A new key takes a fresh proof once the first is old: the provider's, for there is no password here.
    const confirmedUntil = () =>
      ann.page.evaluate(async () => {
        const session = (await (await fetch('/api/v1/auth/session')).json()) as { confirmed_until: string }
        return session.confirmed_until
      })
    const before = await confirmedUntil()
    await ann.page.waitForTimeout(1_200)
    await ann.page.getByRole('navigation').getByRole('link', { name: 'Keys' }).click()
    await ann.page.getByRole('button', { name: 'Create a key' }).click()
    await ann.page.getByRole('textbox', { name: 'Name' }).fill('bot')
    await ann.page.getByRole('button', { name: 'Create the key' }).click()
    const proof = ann.page.getByRole('dialog', { name: 'Confirm that it is you' })
    await proof.waitFor()
    t.equal(await proof.getByLabel('Password').count(), 0)
    await proof.getByRole('link', { name: 'Confirm with my company' }).click()
    await asPerson(ann, 'ann', false)
    await ann.page.getByRole('navigation').waitFor()
    t.ok((await confirmedUntil()) > before, 'the provider asked again')

    await ann.page.getByRole('button', { name: /ann@corp\.example/ }).click()
    t.equal(await ann.page.getByRole('menuitem', { name: 'Change password' }).count(), 0, 'there is none to change')
    await ann.page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    await ann.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await ann.page.reload()
    await ann.page.getByRole('heading', { name: 'Sign in' }).waitFor()

    const eve = await arrive()
    await asPerson(eve, 'eve')
    await eve.page.getByRole('alert').filter({ hasText: 'gives you no role here' }).waitFor()
    t.match(eve.page.url(), /refused=no_role$/)
    t.equal(await eve.page.getByRole('button', { name: 'Sign in' }).count(), 1, 'and one can try again')

    const gone = await arrive()
    await gone.page.getByRole('link', { name: /Cancel/ }).click()
    await gone.page.getByRole('alert').filter({ hasText: 'refused or given up' }).waitFor()

    // Nothing that a link says is shown: a reason that is none has the general sentence.
    await gone.page.goto(`${idp.site}/dashboard/#/sign-in?refused=%3Cb%3Ecall%20555%3C/b%3E`)
    await gone.page.reload()
    const shown = (await gone.page.getByRole('alert').textContent()) ?? ''
    t.match(shown, 'The sign-in did not succeed.')
    t.notMatch(shown, '555')
    t.same(
      [ann, max, eve, gone].flatMap(({ alarms }) => alarms),
      []
    )
  }
)
