/** Sends e-mail by SMTP: over TLS wherever it leaves this machine, to the recipients of the configuration alone. */
import { Socket } from 'node:net'
import type { EmailSettings } from '../base/settings.js'
import type { Send } from '../review/webhook.js'
import type { Mail } from './messages.js'

/** Time-outs for each server answer and for the whole attempt, below the lease of the outbox. */
const patience = { stepMs: 10_000, wholeMs: 25_000 }

/** @returns the sender for one server; each message uses its own connection, since there are few */
export function mailSender(settings: EmailSettings, { stepMs, wholeMs } = patience): Send {
  const { host, port, tls, ca, login, from, to } = settings
  return async ({ deliveryId, body }, now) => {
    // Loaded only where used.
    const { createTransport } = await import('nodemailer')
    const socket = new Socket()
    const transport = createTransport({
      socket,
      host,
      port,
      secure: tls === 'implicit',
      // Without an offer of STARTTLS nothing is sent, not even the login.
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
      ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password } }),
      connectionTimeout: stepMs,
      greetingTimeout: stepMs,
      socketTimeout: stepMs,
      dnsTimeout: stepMs,
      // A message holds no path and no address that anything may be fetched from.
      disableFileAccess: true,
      disableUrlAccess: true
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(Object.assign(new Error('late'), { code: 'ETIMEDOUT' }))
        socket.destroy()
      }, wholeMs)
      timer.unref()
    })
    try {
      const { subject, text } = JSON.parse(body) as Mail
      const sending = transport.sendMail({
        from,
        to: [...to],
        subject,
        text,
        date: new Date(now),
        // All attempts of one message share this id.
        messageId: `<${deliveryId}@${from.split('@')[1]}>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }
      })
      // If only some recipients are refused it counts as sent, since a retry would reach the others twice. All refused
      // is an error.
      await Promise.race([sending, late])
      return undefined
    } catch (error) {
      return failureOf(error)
    } finally {
      clearTimeout(timer)
      transport.close()
    }
  }
}

/** Uses the library's codes: its messages quote the server, which may quote anything. */
function failureOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  if (typeof responseCode === 'number') return `answered ${responseCode}`
  if (code === 'ETIMEDOUT') return `no answer in time`
  return `not reached (${typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown'})`
}
