/** OpenID Connect by a real provider, for the gateway at a site. */
import { createServer } from 'node:http'

type Teardown = { teardown(fn: () => unknown): unknown }

const callback = '/api/v1/auth/oidc/callback'
/** Who is in which group: `ann` becomes an administrator, `max` a reviewer, `eve` nobody. */
const groupsOf: Record<string, string[]> = { ann: ['staff', 'platform', 'mods'], max: ['mods'], eve: ['staff'] }

/** A configuration that lets people sign in by it. */
export const oidcSettings = ({ site, issuer }: { site: string; issuer: string }) =>
  `sign_in: { public_url: "${site}", oidc: { issuer: "${issuer}", client_id: gate, client_secret: shh-very-secret, scope: "openid email groups", roles: { admin: [platform], reviewer: [mods] }, samples: [platform] } }\n`

/** A real provider on loopback, with its own pages for signing in, and a person who fills them in. */
export async function openIdProvider(t: Teardown, site: string) {
  // @ts-expect-error: it ships no types
  const { Provider } = await import('oidc-provider')
  const server = createServer((request, response) => handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const issuer = `http://127.0.0.1:${port}`
  const { warn, info } = console
  Object.assign(console, { warn() {}, info() {} })
  t.teardown(() => Object.assign(console, { warn, info }))
  const oidc = new Provider(issuer, {
    clients: [{ client_id: 'gate', client_secret: 'shh-very-secret', redirect_uris: [site + callback] }],
    claims: { openid: ['sub'], email: ['email'], groups: ['groups'] },
    scopes: ['openid', 'email', 'groups'],
    conformIdTokenClaims: false,
    cookies: { keys: ['only for this test'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@corp.example`, groups: groupsOf[id] })
    })
  })
  const handle = oidc.callback()

  /** Follows the provider's pages until it sends the browser back. */
  async function asPerson(login: string, from: string): Promise<string> {
    const jar = new Map<string, string>()
    let target = from
    let form: string | undefined
    for (let i = 0; i < 12; i++) {
      const response = await fetch(target, {
        method: form === undefined ? 'GET' : 'POST',
        redirect: 'manual',
        headers: {
          cookie: [...jar].map((pair) => pair.join('=')).join('; '),
          ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' })
        },
        ...(form === undefined ? {} : { body: form })
      })
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        jar.set(name, value)
      }
      const page = await response.text()
      const location = response.headers.get('location')
      if (location !== null) {
        target = new URL(location, target).href
        form = undefined
        if (target.startsWith(site)) return target
        continue
      }
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
      if (prompt === undefined) throw new Error(`${response.status} ${page.slice(0, 500)}`)
      form = prompt === 'login' ? `prompt=login&login=${login}&password=any` : 'prompt=consent'
    }
    throw new Error('the provider sent nobody back')
  }
  return { issuer, site, asPerson }
}
