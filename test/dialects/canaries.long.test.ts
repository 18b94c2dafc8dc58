/** A canary in each leaf and each key of a hundred requests and more of every API: it is found, or the request refused. */
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import { Fault } from '../../src/base/errors.js'
import { type DialectId, dialectIds, type RouteSettings } from '../../src/base/settings.js'
import { Cancel } from '../../src/proxy/exchange.js'
import { buildProxy, caller, route, upstreamSettings } from '../proxy/harness.js'
import { asJson, asSent } from '../support/forms.js'
import { type Published, published } from './published/index.js'

type Place = readonly (string | number)[]

/** Every string leaf, and every key, of a value. */
function placesIn(value: Json, at: Place = []): { leaves: Place[]; keys: Place[] } {
  if (typeof value === 'string') return { leaves: [at], keys: [] }
  if (typeof value !== 'object' || value === null) return { leaves: [], keys: [] }
  const inner = Object.entries(value).map(([name, child]) => placesIn(child, [...at, name]))
  const keys = Array.isArray(value) ? [] : Object.keys(value).map((name) => [...at, name])
  return { leaves: inner.flatMap(({ leaves }) => leaves), keys: [...keys, ...inner.flatMap(({ keys }) => keys)] }
}

function changed(body: JsonObject, place: Place, isKey: boolean, canary: string): JsonObject {
  const copy = structuredClone(body)
  let holder = copy as Record<string | number, Json>
  for (const name of place.slice(0, -1)) holder = holder[name] as Record<string | number, Json>
  const last = place.at(-1)!
  if (isKey) {
    holder[canary] = holder[last]!
    delete holder[last]
  } else holder[last] = canary
  return copy
}

/** The funnel of a dialect's paths, and what it would send on. */
function funnel(t: Parameters<typeof buildProxy>[0], dialect: DialectId) {
  const paths = [...new Set(published[dialect].map(({ path }) => path))]
  // Media pass, so that what stands beside them, and in their place, is all that can stop a request.
  const settings: RouteSettings[] = paths.map((path) =>
    route({ path, upstreamPath: path, dialect, unscannable: 'permit' })
  )
  const { proxy } = buildProxy(t, settings, { default: upstreamSettings('http://127.0.0.1:1') })
  const entries = new Map(proxy.table.entries.map((entry) => [entry.path, entry]))
  return async (
    { path, params }: Published,
    body: JsonObject
  ): Promise<{ sent: string | undefined; status: number }> => {
    let sent: string | undefined
    const entry = entries.get(path)!
    const asked = asSent(entry.dialect, body)
    // What no form can say, nobody can send.
    if (asked === undefined) return { sent: undefined, status: 400 }
    const inbound = {
      entry,
      headers: { 'content-type': asked.type },
      target: { params, query: '' },
      caller,
      requestId: 'req',
      started: 0,
      cancel: new Cancel()
    }
    const outcome = await proxy.funnel.run(inbound, asked.bytes, async (_, forward) => {
      sent = asJson(entry.dialect, forward)
      throw new Fault('upstream_error')
    })
    return { sent, status: outcome!.reply.status }
  }
}

for (const dialect of dialectIds) {
  t.test(dialect, async (t) => {
    const pass = funnel(t, dialect)
    let canaries = 0
    let refused = 0
    for (const request of published[dialect]) {
      const { sent } = await pass(request, request.body)
      if (sent !== JSON.stringify(request.body))
        t.fail(`not sent on as it was: ${JSON.stringify(request.body).slice(0, 300)}`)
      const { leaves, keys } = placesIn(request.body)
      const places = [
        ...leaves.map((place) => ({ place, isKey: false })),
        ...keys.map((place) => ({ place, isKey: true }))
      ]
      for (const { place, isKey } of places) {
        canaries++
        const outcome = await pass(request, changed(request.body, place, isKey, `forbidme${canaries}`))
        if (outcome.sent !== undefined) t.fail(`${request.path} ${place.join('/')}${isKey ? ' (key)' : ''} was sent on`)
        else if (outcome.status === 400) refused++
        else t.fail(`${place.join('/')}: ${outcome.status}`)
      }
      for (const name of Object.keys(request.params)) {
        const params = { ...request.params, [name]: `forbidme-${name}` }
        if ((await pass({ ...request, params }, request.body)).sent !== undefined) t.fail(`{${name}} was sent on`)
      }
    }
    t.ok(published[dialect].length >= 100, `${published[dialect].length} requests`)
    t.equal(
      new Set(published[dialect].map(({ path, body }) => path + JSON.stringify(body))).size,
      published[dialect].length,
      'no two alike'
    )
    t.equal(refused, canaries, `${canaries} canaries`)
  })
}
