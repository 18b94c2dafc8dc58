/** The relay of the Realtime API for tests: alone with verdicts that stand in the text, or in the whole gateway. */
import type { Test } from 'tap'
import type { RouteSettings, UpstreamSettings } from '../../src/base/settings.js'
import { source } from '../policy/support.js'
import { type Built, build } from '../support/gateway.js'
import { type Client, open, type RealtimeUpstream, realtimeUpstream } from '../support/realtime.js'
import { gatewayKey, harness, route, upstreamSettings } from './harness.js'

export const path = '/v1/realtime'
/** Says nothing, and is no beginning of anything. */
export const words = 'A pleasant day to you all. '
export const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

/** The relay alone, with an evaluator whose verdicts stand in the text. */
export async function relay(
  t: Test,
  overrides: Partial<RouteSettings> = {},
  upstream?: RealtimeUpstream,
  settings: Partial<UpstreamSettings> = {}
) {
  const backend = upstream ?? (await realtimeUpstream(t))
  const realtime = route({ path, upstreamPath: path, method: 'GET', dialect: 'openai-realtime', ...overrides })
  const built = await harness(t, [realtime], { default: upstreamSettings(backend.origin, settings) })
  const client = () => open(t, built.url, bearer(gatewayKey))
  return { ...built, upstream: backend, client }
}

/** Of one word, which is read in no time. */
const small = source({ rules: '  - { name: bomb_words, category: weapons, weight: 0.9, any: [kaboom] }' })

/**
 * The whole gateway.
 * @param constitution `shipped`, or one that forbids the word `kaboom`
 */
export async function gateway(
  t: Test,
  { constitution = 'small', yaml = '' }: { constitution?: 'small' | 'shipped'; yaml?: string } = {}
): Promise<Built & { upstream: RealtimeUpstream; client(): Promise<Client> }> {
  const upstream = await realtimeUpstream(t)
  const lines = [
    'limits: { live_per_minute: 100000 }',
    `upstreams: { default: { url: "${upstream.origin}", key: upstream-credential } }`,
    ...(constitution === 'small'
      ? [`constitutions: { default: "${t.testdir({ 'small.yaml': small })}/small.yaml" }`]
      : []),
    yaml
  ]
  const built = await build(t, { yaml: lines.join('\n') })
  return { ...built, upstream, client: () => open(t, built.url, bearer(built.key)) }
}
