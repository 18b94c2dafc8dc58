/**
 * What anybody sends or answers costs what its length costs: each shape at n, 2n and 4n, in processor time of the whole
 * gateway. In the long form it grows between two sizes by less than their ratio to the power of 1.2, and another caller, in
 * a process of its own, has its health answer within 200 ms throughout, also where a size is refused. A shape that was once found to cost more is a row here.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Agent, request as fetchOf } from 'undici'
import { WebSocket } from 'ws'
import { generateKey } from '../../src/identity/key-format.js'
import { tempDir } from '../support/gateway.js'
import { type Node, startNode } from '../support/node.js'
import { answers } from './growth/answers.js'
import { encoded } from './growth/encoded.js'
import { listed, mcp, mcpServer } from './growth/mcp.js'
import { type Cost, canMeasure, Meter } from './growth/meter.js'
import { others, triggers } from './growth/others.js'
import { requests } from './growth/requests.js'
import { long, type Shape, type Traffic } from './growth/shape.js'
import { sound } from './growth/sound.js'
import { type Backend, hearing, openBackend } from './growth/upstream.js'
import { isFull, promise } from './report.js'

t.setTimeout(isFull ? 3_600_000 : 600_000)

/** Bytes of the largest of three; what its interface refuses is halved until it takes it. */
const largest = Number(process.env['GROWTH_BYTES'] ?? (isFull ? 1024 * 1024 - 2_048 : 96 * 1024))
/**
 * The growth that is linear, with what collecting garbage and cold code add. The short form runs beside other tests, on
 * whatever machine: it looks for what grows with the square.
 */
const most = isFull ? 1.2 : 1.6
const mostHealthMs = isFull ? 200 : 2_000
/** ms of processor time: a difference between two costs below this cannot be told from a collection of garbage, nor does it hurt. */
const least = 40
/** The short form takes one shape in so many, and those that were once found to fail. */
const step = 12
/** Of the larger of two sizes: where one between them lies. */
const halfway = 0.75
/** How often a pair is measured before it is told as growing too fast. */
const tries = 5
/** ms: what costs so much at half the size is not tried at all of it. */
const tooMuch = 4_000
const only = process.env['GROWTH_ONLY']

const key = generateKey('live')
const agent = new Agent({ headersTimeout: 60_000, bodyTimeout: 60_000, maxHeaderSize: 65_536 })

interface Gateway {
  node: Node
  meter: Meter
  backend: Backend
}

/** What a family has otherwise. */
interface Kind {
  /** What is raised is put to the encoder, whose time is then most of what a text costs. */
  encoder?: boolean
  /** Sound is heard. */
  ears?: boolean
}

async function open(t: Test, { encoder = false, ears = false }: Kind): Promise<Gateway> {
  const backend = await openBackend(t)
  const folder = tempDir(t)
  const config = join(folder, 'gateway.yaml')
  writeFileSync(
    config,
    [
      'limits: { live_per_minute: 1000000 }',
      `defaults: { redact: [personal_data, secrets], unscannable: ${ears ? '{ audio: scan }' : 'permit'} }`,
      `upstreams: { default: { url: "${backend.origin}" } }`,
      `mcp: { servers: { ${mcpServer}: { url: "${backend.origin}/mcp" } } }`,
      ears ? `transcription: { base_url: "${backend.origin}${hearing}", model: w }` : ''
    ].join('\n')
  )
  const node = await startNode(t, {
    SLUICEGATE_CONFIG: config,
    SLUICEGATE_BOOTSTRAP_KEY: key,
    SLUICEGATE_LOG_LEVEL: 'info',
    ...(encoder && { SLUICEGATE_ENCODER: 'required' })
  })
  const meter = new Meter(node.url, node.child.pid!)
  t.teardown(() => meter.close())
  const gateway = { node, meter, backend }
  await exchange(gateway, listed)
  // The threads that judge long texts, which are started once.
  const warm = (seed: number) =>
    exchange(gateway, { path: '/api/v1/safety/evaluate', body: { input_text: long(90_000, seed) } })
  for (let i = 0; i < 5; i++) await Promise.all([warm(2 * i), warm(2 * i + 1)])
  return gateway
}

/** @returns the status, or how a session ended */
async function exchange({ node, backend }: Gateway, traffic: Traffic): Promise<string> {
  backend.answer = traffic.answer
  if (traffic.session !== undefined) return talk(node, backend, traffic.session)
  const { path, method = 'POST', headers = {}, body, form } = traffic
  const sent = form?.bytes ?? (body === undefined ? null : JSON.stringify(body))
  const answer = await fetchOf(node.url + path, {
    dispatcher: agent,
    method,
    headers: {
      'x-api-key': key,
      ...(sent !== null && { 'content-type': form?.type ?? 'application/json' }),
      ...headers
    },
    body: sent
  })
  const text = await answer.body.text().catch(() => 'broken')
  const isError = answer.statusCode >= 400 || text.startsWith('{"jsonrpc":"2.0","id":1,"error"')
  const code = answer.headers['x-safety-code'] ?? (isError ? codeIn(text) : '')
  return `${answer.statusCode} ${text === 'broken' ? 'broken' : code}`.trim()
}

const codeIn = (text: string) =>
  /overloaded|evaluator_unavailable|too_complex|out_of_range|payload_too_large|[a-z]+_[a-z_]+/.exec(text)?.[0] ?? ''

async function talk(
  node: Node,
  backend: Backend,
  { greeting, client, server }: NonNullable<Traffic['session']>
): Promise<string> {
  backend.greeting = greeting
  backend.server = server
  const socket = new WebSocket(`${node.url.replace(/^http/, 'ws')}/v1/realtime?model=gpt-realtime`, {
    headers: { authorization: `Bearer ${key}` }
  })
  const over = new Promise<string>((resolve) => {
    socket.once('unexpected-response', (_, response) => resolve(String(response.statusCode)))
    socket.once('error', () => resolve('broken'))
    socket.once('close', (code) => resolve(`closed ${code}`))
    socket.on('message', (data) => {
      const text = data.toString()
      if (text.includes('"response.done"')) resolve('101')
      else if (text.startsWith('{"type":"error"')) resolve(`101 ${codeIn(text.slice(text.indexOf('"code"') + 6))}`)
    })
  })
  socket.once('open', () => {
    for (const frame of client) socket.send(frame)
  })
  const outcome = await over
  socket.terminate()
  return outcome
}

interface Row {
  shape: string
  /** Bytes of the sizes that were compared, and what they cost, less what nothing of it costs. */
  sizes: readonly [number, number]
  costs: readonly [number, number]
  exponent: number | undefined
  health: number
  outcome: string
  fault: string | undefined
}

let seeds = 1
/** Bytes of the largest size below which nothing is compared. */
const leastCompared = 32_768

async function measure(gateway: Gateway, shape: Shape, bytes: number): Promise<{ cost: Cost; outcome: string }> {
  const traffic = shape.of(bytes, ++seeds)
  const { cost, value } = await gateway.meter.of(() => exchange(gateway, traffic))
  return { cost, outcome: value }
}

/** Refused for its size, or not judged in time on a machine that is busy otherwise: nothing is known of its cost. */
const isTooLarge = (outcome: string) =>
  /^50[0-9]/.test(outcome) ||
  /^(?:413|431)|too_complex|evaluator_unavailable|closed 1009/.test(outcome) ||
  (/^(?:400|422)/.test(outcome) && !/content_filter|context_required|review_required/.test(outcome))

async function growthOf(gateway: Gateway, shape: Shape): Promise<Row> {
  const whole = Math.min(largest, shape.most ?? largest)
  let top = whole
  // Cold code, and the size that is taken.
  let first = await measure(gateway, shape, top / 4)
  for (; isTooLarge(first.outcome) && top > 4_096; top /= 2) first = await measure(gateway, shape, top / 8)
  const base = (await measure(gateway, shape, 64)).cost.cpu
  const costs = new Map<number, Cost>()
  /** Of sizes between the two that are compared. */
  const middle = new Map<number, Cost>()
  /** ms that another caller waited, by sizes of which nothing else is known: to refuse may not hold anybody up either. */
  const refused = new Map<number, number>()
  const costOf = (bytes: number) => (costs.get(bytes) ?? middle.get(bytes))?.cpu ?? 0
  let outcome = ''
  const look = async (bytes: number, into = costs): Promise<Cost> => {
    let seen = await measure(gateway, shape, bytes)
    // A machine that is busy otherwise, and a text that was not judged in time for it.
    for (let i = 1; i < tries && /^50[0-9]/.test(seen.outcome) && seen.cost.cpu < tooMuch / 2; i++)
      seen = await measure(gateway, shape, bytes)
    const before = into.get(bytes)
    const cost = {
      cpu: Math.min(before?.cpu ?? Number.POSITIVE_INFINITY, Math.max(0, seen.cost.cpu - base)),
      health: Math.min(before?.health ?? Number.POSITIVE_INFINITY, seen.cost.health)
    }
    outcome = seen.outcome
    if (isTooLarge(outcome))
      refused.set(bytes, Math.min(refused.get(bytes) ?? Number.POSITIVE_INFINITY, seen.cost.health))
    else into.set(bytes, cost)
    return cost
  }
  if (top < whole) await look(whole)
  // One size says nothing of growth: of what is refused twice as large, smaller ones are compared. Not small ones: what a budget
  // ends there is the product of its parts, and costs no more than the budget.
  for (let isTried = false; !isTried; top /= 2) {
    let cost = 0
    for (let part = 1; part <= 4 && cost <= tooMuch; part *= 2) cost = (await look((top * part) / 4)).cpu
    isTried = cost > tooMuch || costs.size > 1 || top <= leastCompared
  }
  const row = (): Row => {
    const sizes = [...costs.keys()].sort((a, b) => a - b)
    const [small = 0, large = 0] = sizes.slice(-2)
    const a = costs.get(small)?.cpu ?? 0
    const b = costs.get(large)?.cpu ?? 0
    const health = Math.max(...[...costs.values()].map(({ health }) => health), ...refused.values(), 0)
    const slope = (less: number, to: number) => Math.log(costOf(to) / Math.max(costOf(less), 1)) / Math.log(to / less)
    const between = large * halfway
    // What grows too fast does so on each half of the way; a step, as where a thread takes over, lies on one of them.
    const exponent =
      sizes.length < 2 || b - a < least
        ? undefined
        : !middle.has(between)
          ? slope(small, large)
          : Math.min(slope(small, large), Math.max(slope(small, between), 0), Math.max(slope(between, large), 0))
    const isFast = exponent === undefined || exponent < most
    const fault = !isFast ? 'grows' : health >= mostHealthMs ? 'holds others up' : undefined
    return { shape: shape.name, sizes: [small, large], costs: [a, b], exponent, health, outcome, fault }
  }
  let found = row()
  // The least of several: what the machine did besides only ever adds.
  for (let i = 1; i < tries && found.fault !== undefined && found.costs[1] < tooMuch; i++) {
    if (found.fault === 'grows') await look(found.sizes[1] * halfway, middle)
    for (const bytes of found.fault === 'grows' ? found.sizes : [...costs.keys(), ...refused.keys()]) await look(bytes)
    found = row()
  }
  return found.fault === 'grows' && !(await goesOn(found)) ? { ...found, fault: undefined } : found

  /** What grows too fast goes on to, where there is more of it; what was a step, or the machine, does not. */
  async function goesOn({ sizes: [, large] }: Row): Promise<boolean> {
    const more = large * 2
    if (more > 1024 * 1024 - 2_048 || more > (shape.most ?? more)) return true
    const further = new Map<number, Cost>()
    for (let i = 0; i < 2; i++) await look(more, further)
    const cost = further.get(more)?.cpu
    return cost === undefined || Math.log(cost / Math.max(costOf(large), 1)) / Math.log(2) >= most
  }
}

const told = ({ shape, sizes, costs, exponent, health, outcome, fault }: Row): string =>
  [
    fault === undefined ? 'pass' : 'FAIL',
    exponent === undefined ? '   -' : exponent.toFixed(2).padStart(5),
    `${(sizes[1] / 1024).toFixed(0)} KiB`.padStart(8),
    `${costs[0].toFixed(0)} → ${costs[1].toFixed(0)} ms`.padStart(15),
    `${health.toFixed(0)} ms`.padStart(7),
    outcome.padEnd(4),
    shape
  ].join('  ')

const skip = !canMeasure && 'this machine does not tell the processor time of threads'
const families: readonly [string, readonly Shape[], Kind?][] = [
  ['requests', requests],
  ['answers', answers],
  ['evaluate, moderations, guards, realtime', others],
  ['MCP', mcp],
  ['what each reading looks for', triggers],
  ['what the encoder reads', encoded, { encoder: true }],
  ['sound that is heard', sound, { ears: true }]
]

for (const [family, shapes, kind = {}] of families) {
  const chosen =
    only === undefined
      ? shapes.filter(({ found }, i) => isFull || found || i % step === 0)
      : shapes.filter(({ name }) => new RegExp(only).test(name))
  if (chosen.length === 0) continue
  t.test(`growth: ${family}`, { skip }, async (t) => {
    let gateway = await open(t, kind)
    const rows: Row[] = []
    for (const shape of chosen) {
      let row: Row
      try {
        row = await growthOf(gateway, shape)
      } catch {
        row = {
          shape: shape.name,
          sizes: [0, 0],
          costs: [0, 0],
          exponent: undefined,
          health: 0,
          outcome: 'broken',
          fault: 'ends the process'
        }
      }
      await setTimeout(0)
      if (gateway.node.child.exitCode !== null || gateway.node.child.signalCode !== null) {
        row.fault = 'ends the process'
        gateway = await open(t, kind)
      }
      rows.push(row)
      if (isFull || row.fault !== undefined)
        process.stderr.write(`${told(row)}${row.fault === undefined ? '' : `  (${row.fault})`}\n`)
    }
    const bad = rows.filter(({ fault }) => fault !== undefined)
    const unmeasured = rows.filter(({ sizes }) => sizes[1] === 0 || sizes[0] === 0).length
    const steepest = rows.reduce((most, { exponent = 0 }) => Math.max(most, exponent), 0)
    const slowest = rows.reduce((most, { health }) => Math.max(most, health), 0)
    promise(
      t,
      `growth, ${family}`,
      `${rows.length} shapes (${unmeasured} refused at all sizes but one), ${bad.length} too fast or in the way, exponent ${steepest.toFixed(2)} at most, another caller waited ${slowest.toFixed(0)} ms at most`,
      `0, below ${most}, below ${mostHealthMs} ms`,
      bad.length === 0
    )
  })
}
