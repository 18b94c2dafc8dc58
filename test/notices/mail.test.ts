/** E-mail by a real server: TLS where it leaves the machine, the recipients of the configuration, and no header but ours. */
import { createServer } from 'node:net'
import t from 'tap'
import type { EmailSettings } from '../../src/base/settings.js'
import { mailSender } from '../../src/notices/mail.js'
import type { Mail } from '../../src/notices/messages.js'
import { certificate, emailSettings, mailbox } from './support.js'

const now = Date.UTC(2026, 0, 1)
const mail: Mail = { subject: 'Sluicegate: Reviews wait for a decision', text: '60 reviews wait.\n' }
const send = (settings: Partial<EmailSettings>, what: Mail = mail) =>
  mailSender(emailSettings(settings))({ deliveryId: 'whd_x', body: JSON.stringify(what) }, now)

t.test('in the clear to this machine', async (t) => {
  const box = await mailbox(t, { disabledCommands: ['STARTTLS', 'AUTH'] })
  t.equal(await send({ port: box.port }), undefined)
  const [{ from, to, source }] = box.got as [(typeof box.got)[0]]
  t.same([from, to], ['gate@example.org', ['ops@example.org', 'night@example.org']])
  for (const line of [
    /^Subject: Sluicegate: Reviews wait for a decision\r$/m,
    /^From: gate@example\.org\r$/m,
    /^To: ops@example\.org, night@example\.org\r$/m,
    /^Message-ID: <whd_x@example\.org>\r$/m,
    /^Auto-Submitted: auto-generated\r$/m,
    /^Date: Thu, 01 Jan 2026/m,
    /60 reviews wait\./
  ])
    t.match(source, line)
})

t.test('a subject or a text that would be a header is none, and no text adds a recipient', async (t) => {
  const box = await mailbox(t, { disabledCommands: ['STARTTLS', 'AUTH'] })
  const hostile = 'x\r\nBcc: evil@example.net\r\n\r\nnot ours'
  t.equal(await send({ port: box.port }, { subject: hostile, text: `.\r\nMAIL FROM:<a@b>\r\n${hostile}` }), undefined)
  const [{ to, source }] = box.got as [(typeof box.got)[0]]
  t.same(to, ['ops@example.org', 'night@example.org'])
  const head = source.split('\r\n\r\n', 1)[0]!
  t.notMatch(head, /^Bcc:/im)
  t.match(head, /^Subject: x Bcc: evil@example\.net/m)
})

t.test('STARTTLS and TLS from the first byte, with a login; an authority of one’s own', async (t) => {
  const { cert, key } = certificate(t.testdir())
  for (const secure of [false, true]) {
    const box = await mailbox(t, { secure, cert, key, authOptional: false })
    const settings = { port: box.port, tls: secure ? 'implicit' : 'starttls' } as const
    const login = { user: 'gate', password: 'right' }
    t.equal(await send({ ...settings, ca: cert, login }), undefined)
    t.match(box.got, [{ secure: true, user: 'gate' }])
    t.equal(await send({ ...settings, ca: cert, login: { ...login, password: 'wrong' } }), 'answered 535')
    t.equal(await send({ ...settings, ca: cert }), 'answered 530')
    t.match(await send({ ...settings, login }), /^not reached \([A-Z_]+\)$/, 'a certificate of nobody known')
    t.match(await send({ ...settings, host: 'localhost', ca: cert, login }), undefined)
    t.equal(box.got.length, 2)
  }
})

t.test('a server that offers no TLS gets nothing where TLS is asked for', async (t) => {
  const box = await mailbox(t, { disabledCommands: ['STARTTLS'] })
  t.match(
    await send({ port: box.port, tls: 'starttls', login: { user: 'u', password: 'right' } }),
    /^(?:not reached|answered)/
  )
  t.same(box.got, [])
})

t.test('a server that is not there, that refuses, that quotes what it should not, that is silent', async (t) => {
  const box = await mailbox(t, {
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, done) => done(Object.assign(new Error('secret words'), { responseCode: 550 }))
  })
  t.equal(await send({ port: box.port }), 'answered 550')
  await box.close()
  t.equal(await send({ port: box.port }), 'not reached (ESOCKET)')
  for (const [word, stepMs, wholeMs] of [
    ['', 50, 60_000],
    ['220-a', 60_000, 50]
  ] as const) {
    const server = createServer((socket) => socket.on('error', () => {}).write(word))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as { port: number }
    const sender = mailSender(emailSettings({ port }), { stepMs, wholeMs })
    t.equal(await sender({ deliveryId: 'whd_x', body: JSON.stringify(mail) }, now), 'no answer in time')
  }
})

t.test('one recipient of two is refused: the other has it, and is not told again', async (t) => {
  const box = await mailbox(t, {
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: ({ address }, _session, done) => (address.startsWith('ops') ? done(new Error('unknown')) : done())
  })
  t.equal(await send({ port: box.port }), undefined)
  t.match(box.got, [{ to: ['night@example.org'] }])
})
