/** A real LiteLLM proxy without a database, on a free port. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'tap'
import { freePort } from '../support/fronts.js'
import { tempDir } from '../support/gateway.js'
import { python, quietEnv } from './lane.js'

export const masterKey = 'sk-litellm-master'

/** The guardrail as its page shows it, asked at this gateway, without the context that settles what is unclear. */
export function guardrailOf({ url, key }: { url: string; key: string }): string {
  const page = readFileSync(new URL('../../docs/integrations/litellm.md', import.meta.url), 'utf8')
  const block = /```yaml\n(guardrails:[\s\S]*?)```/.exec(page)![1]!
  return block
    .replace('http://sluicegate:8080', url)
    .replace('slg_live_…', key)
    .replace('context: { topic: programming }, ', '')
}

/** @param model where its models are: `api_base`, and a key that they take */
export async function startLiteLLM(t: Test, model: { api_base: string; api_key: string }, more = '') {
  const dir = tempDir(t)
  const port = await freePort()
  const phoned = join(dir, 'phoned')
  writeFileSync(
    join(dir, 'config.yaml'),
    `model_list:
  - { model_name: gpt, litellm_params: { model: openai/gpt, api_base: "${model.api_base}", api_key: "${model.api_key}" } }
general_settings: { master_key: ${masterKey} }
${more}`
  )
  const args = ['proxy.py', '--config', join(dir, 'config.yaml'), '--host', '127.0.0.1', '--port', String(port)]
  const child = python('frameworks', args, quietEnv(phoned))
  child.stdout.resume()
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/health/readiness`).then(
      ({ ok }) => ok,
      () => false
    )
  for (let tries = 0; !(await answers()); tries++) {
    if (tries > 4000 || child.exitCode !== null)
      throw new Error(`LiteLLM does not serve: it ended with ${child.exitCode}`)
    await setTimeout(100)
  }
  return { url, phoned }
}
