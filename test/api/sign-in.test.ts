import { join } from 'node:path'
import t from 'tap'
import { steppedClock } from '../identity/support.js'
import { build, call } from '../support/gateway.js'
import { oidcSettings, openIdProvider } from '../support/openid-provider.js'
import { type Answer, Browser, invited, password } from '../support/people.js'

const auth = '/api/v1/auth'
const minute = 60_000

t.test(
  'an invitation makes one user, who is signed in with the scopes of the role, on the management API alone',
  async (t) => {
    const { url, key, logs } = await build(t)
    const { body: invitation } = await call(url, `${auth}/invitations`, { key, body: { role: 'reviewer' } })
    t.match(invitation.path, `/dashboard/#/welcome?token=${invitation.token}`)
    const browser = new Browser(url)
    const accept = (change: object) =>
      browser.ask(`${auth}/accept`, {
        body: { token: invitation.token, login: 'Jane@example.org', password, ...change }
      })
    for (const [change, field] of [
      [{ password: 'short' }, 'password'],
      [{ password: 'aaaaaaaaaaaaaaaa' }, 'password'],
      [{ password: 'my jane@example.org password' }, 'password'],
      [{ login: 'no spaces' }, 'login']
    ] as const) {
      t.match(await accept(change), { status: 400, body: { details: { field } } }, JSON.stringify(change))
    }
    t.match(await accept({ token: 'x' }), { status: 403, body: { error: 'invitation_invalid' } })
    const accepted = await accept({})
    t.match(accepted, { status: 201, body: { signed_in: true, user: { login: 'jane@example.org', role: 'reviewer' } } })
    t.match(accepted.headers['set-cookie'], [
      /^__Host-sluicegate=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/
    ])
    t.match(
      await accept({ login: 'other' }),
      { status: 403, body: { error: 'invitation_invalid' } },
      'a link works once'
    )

    t.match(await browser.ask('/api/v1/pdp/reviews'), { status: 200, body: { reviews: [] } })
    t.match(await browser.ask('/api/v1/safety/metrics'), { status: 200 })
    t.match(await browser.ask('/api/v1/audit'), { status: 403, body: { error: 'insufficient_scope', required: '*' } })
    t.match(await browser.ask('/api/v1/ssaas/keys', { body: { name: 'x', accept_terms: true } }), { status: 403 })
    for (const path of ['/api/v1/safety/evaluate', '/v1/chat/completions', '/v1/moderations']) {
      const { status, body } = await browser.ask(path, { body: { input_text: 'a' } })
      t.equal(status, 401, path)
      t.match(JSON.stringify(body), /api_key_required/, path)
    }
    const log = logs.join('')
    for (const secret of [password, invitation.token, browser.jar.get('__Host-sluicegate')!]) t.notMatch(log, secret)
  }
)

t.test(
  'an invitation that nobody has used is listed without its token, and works no more once withdrawn',
  async (t) => {
    const { url, key, logs } = await build(t)
    const { body: made } = await call(url, `${auth}/invitations`, { key, body: { role: 'viewer' } })
    const listed = await call(url, `${auth}/invitations`, { key })
    const own = listed.body.invitations.find(({ role }: { role: string }) => role === 'viewer')
    t.match(own, { expires_at: made.expires_at, created_by: /^key_/ })
    t.notMatch(JSON.stringify(listed.body), made.token)
    const withdraw = (id: string, by = key) => call(url, `${auth}/invitations/${id}`, { key: by, method: 'DELETE' })
    t.match(await withdraw('no-id'), { status: 404 })
    t.match(await withdraw('0'.repeat(64)), { status: 404 })
    const viewer = await invited(url, key, 'viewer', 'vera')
    t.match(await viewer.ask(`${auth}/invitations`), { status: 403, body: { error: 'insufficient_scope' } })
    t.match(await withdraw(own.invitation_id), { status: 204 })
    t.match(await withdraw(own.invitation_id), { status: 404 })
    const late = { body: { token: made.token, login: 'late', password } }
    t.match(await new Browser(url).ask(`${auth}/accept`, late), { status: 403, body: { error: 'invitation_invalid' } })
    const { body: audit } = await call(url, '/api/v1/audit?kind=user.invitation_withdrawn', { key })
    t.match(audit.rows, [{ by: /^key_/, data: { invitation: own.invitation_id } }])
    t.notMatch(logs.join(''), made.token)
  }
)

t.test(
  'another site can do nothing in a person’s name, and nothing is signed in over plain HTTP off loopback',
  async (t) => {
    const { url, key } = await build(t, { yaml: 'server: { trusted_proxies: [] }' })
    const browser = await invited(url, key, 'admin', 'root')
    const sign = { body: { login: 'root', password } }
    const out = { body: {} }
    const cases: [string, string, { body?: object; headers: Record<string, string> }][] = [
      ['no header', `${auth}/sign-out`, { ...out, headers: { 'x-sluicegate-csrf': undefined as never } }],
      ['cross-site', '/api/v1/pdp/reviews', { headers: { 'sec-fetch-site': 'cross-site' } }],
      ['same-site', `${auth}/sign-out`, { ...out, headers: { 'sec-fetch-site': 'same-site' } }],
      ['another origin', `${auth}/sign-out`, { ...out, headers: { origin: 'https://evil.example' } }],
      ['an opaque origin', `${auth}/sign-out`, { ...out, headers: { origin: 'null' } }],
      ['a sign-in from elsewhere', `${auth}/sign-in`, { ...sign, headers: { 'sec-fetch-site': 'cross-site' } }]
    ]
    for (const [name, path, options] of cases) {
      for (const header of Object.keys(options.headers))
        if (options.headers[header] === undefined) delete options.headers[header]
      const given = name === 'no header' ? await bare(url, path, browser) : await browser.ask(path, options)
      t.match(given, { status: 403, body: { error: 'cross_site_request' } }, name)
    }
    t.match(await browser.ask('/api/v1/pdp/reviews', { headers: { origin: url } }), { status: 200 })

    const away = { host: 'gate.example.com' }
    t.match(await browser.ask(`${auth}/sign-in`, { ...sign, headers: away }), {
      status: 403,
      body: { error: 'secure_transport_required', message: /HTTPS/ }
    })
    t.match(await browser.ask('/api/v1/pdp/reviews', { headers: away }), { status: 403 })
    t.match(await browser.ask(`${auth}/session`, { headers: away }), {
      status: 200,
      body: { signed_in: false, why: /HTTPS/ }
    })

    const behind = await build(t, { yaml: 'server: { trusted_proxies: [127.0.0.1] }' })
    const { body: invitation } = await call(behind.url, `${auth}/invitations`, {
      key: behind.key,
      body: { role: 'viewer' }
    })
    const accept = (proto: string) =>
      new Browser(behind.url).ask(`${auth}/accept`, {
        body: { token: invitation.token, login: 'via', password },
        headers: { ...away, 'x-forwarded-proto': proto, 'x-forwarded-for': '203.0.113.9' }
      })
    t.match(await accept('http'), { status: 403 })
    t.match(await accept('https'), { status: 201 })
  }
)

t.test(
  'in the clear one signs in from a network that is named, directly, with cookies that count nowhere else',
  async (t) => {
    // A private network of one: off loopback by its name, and so refused without the setting.
    const { url, key } = await build(t, { yaml: 'server: { plain_http_sign_in: [127.0.0.0/8] }' })
    const { body: invitation } = await call(url, `${auth}/invitations`, { key, body: { role: 'admin' } })
    const away = { host: 'gate.internal' }
    const browser = new Browser(url)
    const sign = { body: { login: 'jane', password } }
    const accept = (headers: Record<string, string>) =>
      browser.ask(`${auth}/accept`, { body: { token: invitation.token, ...sign.body }, headers })
    for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip']) {
      const passedOn = { ...away, [name]: 'https' }
      t.match(await accept(passedOn), { status: 403, body: { error: 'secure_transport_required' } }, name)
    }
    const accepted = await accept(away)
    t.equal(accepted.status, 201)
    t.match(accepted.headers['set-cookie'], [/^sluicegate-plain=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/])
    t.match(await browser.ask(`${auth}/session`, { headers: away }), { body: { signed_in: true, plain_http: true } })
    t.match(await browser.ask('/api/v1/pdp/reviews', { headers: away }), { status: 200 })
    t.match(
      await browser.ask('/api/v1/ssaas/keys', {
        body: { name: 'x' },
        headers: { ...away, origin: 'http://other.internal' }
      }),
      { status: 403, body: { error: 'cross_site_request' } }
    )
    // By the loopback's own name it comes safely: what was sent in the clear is not looked at.
    t.match(await browser.ask(`${auth}/session`), { body: { signed_in: false, plain_http: false } })
    const { body: status } = await call(url, '/api/v1/status', { key })
    t.ok(status.weakenings.some((line: string) => /plain_http_sign_in 127\.0\.0\.0\/8/.test(line)))
  }
)

/** The same without the header that only our own pages send. */
async function bare(url: string, path: string, { jar }: Browser): Promise<Answer> {
  const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
  return call(url, path, { method: 'POST', body: {}, headers: { cookie } }) as unknown as Promise<Answer>
}

t.test('sessions end when idle, when old, everywhere, and when their user is disabled', async (t) => {
  const clock = steppedClock()
  const { url, key } = await build(t, { clock, yaml: 'sign_in: { idle: 10m, absolute: 1h, confirm: 5m }' })
  const admin = await invited(url, key, 'admin', 'root')
  const look = async (browser: Browser) => (await browser.ask('/api/v1/pdp/reviews')).status
  clock.advance(9 * minute)
  t.equal(await look(admin), 200)
  clock.advance(9 * minute)
  t.equal(await look(admin), 200, 'kept alive by use')
  clock.advance(10 * minute)
  t.equal(await look(admin), 401, 'idle')
  const signIn = async (login: string) => {
    const browser = new Browser(url)
    t.match(await browser.ask(`${auth}/sign-in`, { body: { login, password } }), { status: 200 })
    return browser
  }
  const busy = await signIn('ROOT')
  for (let i = 0; i < 6; i++) {
    clock.advance(9 * minute)
    t.equal(await look(busy), 200)
  }
  clock.advance(6 * minute)
  t.equal(await look(busy), 401, 'old')

  const [one, two] = [await signIn('root'), await signIn('root')]
  t.match(await one.ask(`${auth}/sign-out`, { body: { everywhere: true } }), { status: 200, body: { ended: 2 } })
  t.equal(await look(two), 401)
  t.equal(one.jar.has('__Host-sluicegate'), false)

  const boss = await signIn('root')
  const other = await invited(url, key, 'viewer', 'viewer')
  const { users } = (await boss.ask(`${auth}/users`)).body
  t.same(
    users.map(({ login, role }: { login: string; role: string }) => [login, role]),
    [
      ['root', 'admin'],
      ['viewer', 'viewer']
    ]
  )
  const change = (browser: Browser, login: string, body: object) => {
    const { user_id } = users.find((user: { login: string }) => user.login === login)
    return browser.ask(`${auth}/users/${user_id}`, { method: 'PATCH', body })
  }
  clock.advance(6 * minute)
  t.match(await change(boss, 'viewer', { disabled: true }), { status: 403, body: { error: 'confirmation_required' } })
  t.match(await boss.ask('/api/v1/ssaas/keys', { body: { name: 'x', accept_terms: true } }), {
    status: 403,
    body: { error: 'confirmation_required' }
  })
  t.match(await boss.ask(`${auth}/confirm`, { body: { password: 'not the password' } }), { status: 401 })
  t.match(await boss.ask(`${auth}/confirm`, { body: { password } }), { status: 200 })
  t.match(await boss.ask('/api/v1/ssaas/keys', { body: { name: 'x', accept_terms: true } }), { status: 201 })
  t.match(await change(boss, 'viewer', { disabled: true }), { status: 200, body: { status: 'disabled' } })
  t.equal(await look(other), 401)
  t.match(await new Browser(url).ask(`${auth}/sign-in`, { body: { login: 'viewer', password } }), { status: 401 })
  t.match(await change(boss, 'root', { role: 'viewer' }), { status: 409, body: { error: 'last_admin' } })

  const next = 'another horse battery'
  const third = await signIn('root')
  t.match(await boss.ask(`${auth}/password`, { body: { current: password, password: next } }), { status: 204 })
  t.equal(await look(third), 401, 'who knew the old password is out')
  t.equal(await look(boss), 200)
  t.match(await new Browser(url).ask(`${auth}/sign-in`, { body: { login: 'root', password: next } }), { status: 200 })
})

t.test('guessing is slowed down, and whoever signed in before is not kept out by it', async (t) => {
  const clock = steppedClock()
  const { url, key } = await build(t, { clock })
  const known = await invited(url, key, 'viewer', 'jane')
  const attempt = (browser: Browser, given: string, login = 'jane') =>
    browser.ask(`${auth}/sign-in`, { body: { login, password: given } })
  t.match(await attempt(known, password), { status: 200 })
  t.ok(known.jar.has('__Host-sluicegate-device'))
  const stranger = new Browser(url)
  const wrong = await Promise.all(Array.from({ length: 14 }, () => attempt(stranger, 'a wrong password')))
  t.equal(wrong.filter(({ status }) => status === 401).length, 10, 'also of many at once')
  const refused = wrong.filter(({ status }) => status === 429)
  t.equal(refused.length, 4)
  t.match(refused[0]!.headers['retry-after'], /^[1-9]\d*$/)
  t.match(await attempt(stranger, password), { status: 429 }, 'right or wrong, it is not looked at')
  t.match(await attempt(known, password), { status: 200 }, 'the device of its owner')
  const unknown = await attempt(new Browser(url), 'a wrong password', 'nobody')
  t.match(unknown, { status: 401, body: { error: 'sign_in_failed' } })
  clock.advance(11 * minute)
  t.match(await attempt(stranger, password), { status: 200 }, 'nobody is locked out')
})

t.test('one name is one name, and one device one device, in whatever spelling they are sent', async (t) => {
  const yaml = `storage: { url: "sqlite:${join(t.testdir(), 'gate.db')}" }`
  const { url, key } = await build(t, { clock: steppedClock(), yaml })
  const known = await invited(url, key, 'viewer', 'jane')
  t.match(await known.ask(`${auth}/sign-in`, { body: { login: ' Jane\t', password } }), { status: 200 })
  const device = known.jar.get('__Host-sluicegate-device')!
  const guess = async (login: string, cookie: string, given = 'a wrong password') => {
    const headers = { cookie: `__Host-sluicegate-device=${cookie}` }
    const { status } = await new Browser(url).ask(`${auth}/sign-in`, { body: { login, password: given }, headers })
    return status
  }
  const statuses: number[] = []
  for (let i = 0; i < 30; i++) statuses.push(await guess('jane', `${device}.${i}`))
  t.equal(statuses.filter((status) => status === 401).length, 10)
  t.equal(await guess('jane\u0000x', device, password), 401, 'not the name that a store reads up to there')
  t.equal(await guess('jane', device, password), 200, 'its owner')
})

t.test('a company’s own provider vouches for people: OpenID Connect, with a role by claim', async (t) => {
  const idp = await openIdProvider(t, 'http://127.0.0.1:21399')
  const { url, key } = await build(t, {
    yaml: oidcSettings(idp)
  })
  const signIn = async (person: string, confirm = false) => {
    const browser = new Browser(url)
    const start = await browser.ask(`${auth}/oidc/start${confirm ? '?confirm=1' : ''}`)
    t.equal(start.status, 303)
    const back = await idp.asPerson(person, start.headers.location!)
    t.ok(back.startsWith(`${idp.site}${auth}/oidc/callback?`), back)
    return { browser, back: back.slice(idp.site.length) }
  }
  const { browser, back } = await signIn('ann')
  t.match(await new Browser(url).ask(back), { status: 401, body: { error: 'sign_in_failed' } }, 'another browser')
  const done = await browser.ask(back, { headers: { 'sec-fetch-site': 'cross-site' } })
  t.match(done, { status: 303, headers: { location: '/dashboard/' } })
  t.match(await browser.ask(`${auth}/session`), {
    body: {
      signed_in: true,
      user: { login: 'ann@corp.example', role: 'admin' },
      scopes: ['*', 'samples:read'],
      ways: { oidc: true }
    }
  })
  t.match(await browser.ask(back), { status: 401 }, 'a code works once')
  const second = await signIn('max')
  await second.browser.ask(second.back)
  const reviewer = await second.browser.ask(`${auth}/session`)
  t.match(reviewer, { body: { user: { role: 'reviewer' } } })
  t.notOk(reviewer.body.scopes.includes('samples:read'), 'whom the provider does not name for it')
  const none = await signIn('eve')
  t.match(await none.browser.ask(none.back), { status: 401, body: { message: /no role/ } })
  const shown = await none.browser.ask(none.back, { headers: { accept: 'text/html,*/*' } })
  t.match(
    shown,
    { status: 303, headers: { location: '/dashboard/#/sign-in?refused=not_accepted' } },
    'a browser is shown why'
  )
  const again = await signIn('ann', true)
  t.match(await again.browser.ask(again.back), { status: 303 })
  const { body } = await call(url, `${auth}/users`, { key })
  t.same(
    body.users.map(({ login, signs_in_with }: Record<string, string>) => [login, signs_in_with]),
    [
      ['ann@corp.example', 'oidc'],
      ['max@corp.example', 'oidc']
    ],
    'one user each, however often they come'
  )
})
