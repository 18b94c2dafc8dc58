/** The protocol's own Python package on both sides of the built gateway: what an application sees of each outcome. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { tempDir } from '../support/gateway.js'
import { noPackages, python, quietEnv, startGateway, staysHome } from './lane.js'

const forms = ['json', 'sse'] as const

/** A server that answers in this form. @returns its address */
async function serve(t: Test, form: string, env: NodeJS.ProcessEnv): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  const child = python('sdks', ['mcp_server.py', form, String(port)], env)
  t.teardown(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/mcp`
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false
    )
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`mcp_server.py ended with ${child.exitCode}`)
    await setTimeout(50)
  }
  return url
}

t.test('mcp: lists, calls, refusals, a definition that changes', { skip: noPackages('sdks') }, async (t) => {
  const phoned = join(tempDir(t), 'phoned')
  const env = quietEnv(phoned)
  const servers = await Promise.all(
    forms.map(async (form) => `    ${form}: { url: "${await serve(t, form, env)}", constitution: default }`)
  )
  const { url, key } = await startGateway(t, 'http://127.0.0.1:9', 'unused', ['mcp:', '  servers:', ...servers])
  const place = JSON.stringify({ url, key, servers: forms })
  const child = python('sdks', ['mcp_agent.py'], { ...env, PLACE: place })
  t.teardown(() => child.kill('SIGKILL'))
  const seen = new Map<string, unknown>()
  createInterface(child.stdout).on('line', (line) => {
    const told = JSON.parse(line)
    seen.set(`${told.server}, ${told.mode}, ${told.what}`, told.seen)
  })
  const [code] = await once(child, 'close')
  t.equal(code, 0, 'the script ended by itself')
  const tools = ['change', 'change_back', 'look']
  const found = { failed: false, text: 'Found: milk' }
  for (const form of forms) {
    for (const mode of ['legacy', 'auto']) {
      const saw = (what: string) => seen.get(`${form}, ${mode}, ${what}`)
      const name = `${form}, ${mode}`
      t.equal(saw('revision'), mode === 'auto' ? '2026-07-28' : '2025-11-25', name)
      t.same(saw('list'), tools, name)
      t.same(saw('milk'), found, name)
      t.match(saw('crimson lantern protocol'), { code: -32001, data: { error: 'content_filter' } }, name)
      t.match(saw('amber ledger numbers'), { code: -32002, data: { review_id: /^rev_/ } }, name)
      t.match(saw('silver kettle question'), { code: -32003, data: { missing: ['topic'] } }, name)
      t.match(saw('bad'), { code: -32001, data: { pointer: /^\/result\// } }, `${name}: what the tool said`)
      t.same(
        saw('many'),
        [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `Found: n${i}`),
        `${name}: calls at once`
      )
      t.same(saw('list, changed'), ['change', 'change_back'], name)
      t.match(saw('call, changed'), { code: -32004, data: { error: 'definition_changed', review_id: /^rev_/ } }, name)
      t.same(saw('list, as it was'), tools, name)
      t.same(saw('call, as it was'), found, name)
    }
  }
  staysHome(t, phoned)
})
