/** A real SMTP server that keeps what it got, with or without TLS, and a certificate for it. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { EmailSettings } from '../../src/base/settings.js'

type Teardown = { teardown(fn: () => unknown): unknown }

export interface Received {
  from: string
  to: string[]
  source: string
  secure: boolean
  user: string | undefined
}

export interface Mailbox {
  port: number
  got: Received[]
  close(): Promise<void>
}

export async function mailbox(t: Teardown, options: SMTPServerOptions = {}): Promise<Mailbox> {
  const got: Received[] = []
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'right' ? done(null, { user: username ?? '' }) : done(new Error('no')),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        got.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString(),
          secure: session.secure === true,
          user: session.user as string | undefined
        })
        done()
      })
    },
    ...options
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let closed: Promise<void> | undefined
  const close = () => (closed ??= new Promise<void>((resolve) => server.close(resolve)))
  t.teardown(close)
  return { port: (server.server.address() as { port: number }).port, got, close }
}

export interface Certificate {
  cert: string
  key: string
  /** Paths of both. */
  files: { cert: string; key: string }
}

/** Signed by itself, for 127.0.0.1 and localhost. */
export function certificate(dir: string): Certificate {
  const [cert, key] = [join(dir, 'mail.crt'), join(dir, 'mail.key')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-keyout', key]
  execFileSync('openssl', ['req', '-x509', ...made, '-out', cert, ...subject], { stdio: 'ignore' })
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8'), files: { cert, key } }
}

export function emailSettings(change: Partial<EmailSettings>): EmailSettings {
  return {
    host: '127.0.0.1',
    port: 25,
    tls: 'none',
    ca: undefined,
    login: undefined,
    from: 'gate@example.org',
    to: ['ops@example.org', 'night@example.org'],
    ...change
  }
}
