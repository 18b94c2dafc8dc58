// npm run bench:streams [-- --rounds 3 --no-portkey]
// Streams of 50 pieces through each system, interleaved: time to the first piece of text, pieces per second, streams that
// failed, and what Sluicegate held. The model's name tells the backend its pace.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'
import { portkey, script, sluicegate } from './systems.mjs'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, 'no-portkey': { type: 'boolean', default: false } }
})
const rounds = Number(values.rounds)
const cases = [
  { streams: 50, gap: 0 },
  { streams: 50, gap: 20 },
  { streams: 500, gap: 20 }
]
const routes = ['window', 'full', 'off']
  .map((output) => {
    const path = `${output === 'window' ? '' : `/${output}`}/v1/chat/completions`
    return `  - { path: ${path}, upstream_path: /v1/chat/completions, dialect: openai-chat, output: ${output} }`
  })
  .join('\n')

const direct = { name: 'direct', ...(await script('stream-upstream.mjs')) }
const started = [direct]
const add = async (starting) => {
  const system = await starting
  started.push(system)
  return system
}
const agent = new Agent({ connections: 1000, pipelining: 1 })
let failed = false
try {
  const bare = await add(script('bare-http-proxy.mjs', direct.url))
  const gateway = await add(sluicegate(direct.url, routes))
  const systems = [
    direct,
    { ...bare, name: '@fastify/http-proxy' },
    ...['window', 'full', 'off'].map((output) => ({
      ...gateway,
      name: `sluicegate ${output}`,
      prefix: output === 'window' ? '' : `/${output}`
    }))
  ]
  if (!values['no-portkey']) systems.push(await add(portkey(direct.url)))
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${rounds} rounds, one process each\n`
  )
  console.log(
    '| streams at once | ms between pieces | system | first text p50 ms | p99 ms | added p50 | added p99 | pieces/s | × bare | failed |'
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|')
  for (const each of cases) {
    const results = new Map(systems.map(({ name }) => [name, { first: [], rates: [], failed: 0 }]))
    // The first round warms every system up and is not counted.
    for (let round = 0; round <= rounds; round++) {
      for (const system of systems) {
        const run = await measure(system, each)
        if (round === 0) continue
        const result = results.get(system.name)
        result.first.push(...run.first)
        result.rates.push(run.rate)
        result.failed += run.failed
      }
    }
    const base = results.get('direct').first
    const bareRate = middle(results.get('@fastify/http-proxy').rates)
    for (const [name, { first, rates, failed: lost }] of results) {
      failed ||= lost > 0
      const [p50, p99] = [0.5, 0.99].map((share) => quantile(first, share))
      const added = [0.5, 0.99].map((share, i) => ([p50, p99][i] - quantile(base, share)).toFixed(1))
      console.log(
        `| ${each.streams} | ${each.gap} | ${name} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${added.join(' | ')} | ${Math.round(middle(rates))} | ${(middle(rates) / bareRate).toFixed(2)} | ${lost} |`
      )
    }
  }
} finally {
  for (const system of started) system.stop()
  await agent.destroy()
}
process.exit(failed ? 1 : 0)

async function measure(system, { streams, gap }) {
  const began = performance.now()
  const runs = await Promise.all(Array.from({ length: streams }, (_, i) => stream(system, gap, i)))
  const seconds = (performance.now() - began) / 1000
  const whole = runs.filter((run) => run !== undefined)
  return { first: whole, rate: (whole.length * 50) / seconds, failed: streams - whole.length }
}

/** @returns ms to the first text; undefined where the stream did not end as it should */
async function stream({ url, prefix = '', key, portkeyConfig }, gap, i) {
  const headers = {
    'content-type': 'application/json',
    ...(key && { authorization: `Bearer ${key}` }),
    ...(portkeyConfig && { 'x-portkey-config': portkeyConfig })
  }
  const messages = [{ role: 'user', content: `When does the museum open, and where do I leave my bag? Visit ${i}.` }]
  const began = performance.now()
  try {
    const { statusCode, body } = await request(`${url}${prefix}/v1/chat/completions`, {
      method: 'POST',
      headers,
      dispatcher: agent,
      body: JSON.stringify({ model: `gap-${gap}`, stream: true, messages })
    })
    let first
    let text = ''
    for await (const chunk of body) {
      text += chunk
      if (first === undefined && text.includes('"content":"')) first = performance.now() - began
    }
    const said = [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece).join('')
    return statusCode === 200 && said.endsWith('until three.') && text.includes('[DONE]') ? first : undefined
  } catch {
    return undefined
  }
}

function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function middle(numbers) {
  return quantile(numbers, 0.5)
}
