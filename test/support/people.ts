/** Someone who is signed in, as a browser keeps and sends it. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { call } from './gateway.js'

export const password = 'correct horse battery'
const auth = '/api/v1/auth'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the wire gave
  body: any
}

/** What a browser would send and keep: `fetch` may not set the headers that browsers set themselves. */
export class Browser {
  readonly jar = new Map<string, string>()
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  ask(
    path: string,
    options: { method?: string; body?: unknown; headers?: Record<string, string> } = {}
  ): Promise<Answer> {
    const { body, method = body === undefined ? 'GET' : 'POST', headers = {} } = options
    const target = new URL(path, this.#url)
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        target,
        {
          method,
          headers: {
            'sec-fetch-site': 'same-origin',
            'x-sluicegate-csrf': '1',
            ...(this.jar.size === 0 ? {} : { cookie: [...this.jar].map((pair) => pair.join('=')).join('; ') }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers
          }
        },
        async (response) => {
          const chunks: Buffer[] = []
          for await (const chunk of response) chunks.push(chunk as Buffer)
          const text = Buffer.concat(chunks).toString()
          for (const cookie of response.headers['set-cookie'] ?? []) this.#keep(cookie)
          let parsed: unknown = text
          try {
            parsed = JSON.parse(text)
          } catch {
            // Not every answer is JSON.
          }
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed })
        }
      )
      sent.once('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  #keep(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    if (/Max-Age=0/.test(cookie)) this.jar.delete(name)
    else this.jar.set(name, value)
  }
}

/** A person of a role, by an invitation that a key makes. */
export async function invited(url: string, key: string, role: string, login: string): Promise<Browser> {
  const { body } = await call(url, `${auth}/invitations`, { key, body: { role } })
  const browser = new Browser(url)
  const accepted = await browser.ask(`${auth}/accept`, { body: { token: body.token, login, password } })
  if (accepted.status !== 201) throw new Error(JSON.stringify(accepted.body))
  return browser
}
