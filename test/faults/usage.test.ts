/** What is billed is what was asked: rows of usage equal the calls, after any mix of them, over restarts and kills. */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call, tempDir } from '../support/gateway.js'
import { type Node, smallConstitution, startNode } from '../support/node.js'
import { createDatabase, noPostgres } from '../support/services.js'
import { isFull, promise } from './report.js'

t.setTimeout(isFull ? 3_600_000 : 480_000)
const key = generateKey('live')
const calls = isFull ? 100_000 : 600
const clients = 16
/** Longer than a group of rows waits for its commit. */
const settledMs = 1_000

interface Use {
  evaluations: number
  characters: number
}
type Tally = Map<string, Use>

interface Kind {
  name: string
  path: string
  body: unknown
  headers?: Record<string, string>
  status: number
  /** Evaluations by surface; characters where they are those of the text alone. */
  counts: Record<string, number>
}

const evaluate = (name: string, input_text: string, context?: object): Kind => ({
  name,
  path: '/api/v1/safety/evaluate',
  body: { input_text, ...(context && { context }) },
  status: 200,
  counts: { evaluate: 1 }
})
const chat = (name: string, content: string, status: number, counts: Kind['counts'], context?: object): Kind => ({
  name,
  path: '/v1/chat/completions',
  body: { model: 'm', messages: [{ role: 'user', content }] },
  ...(context && { headers: { 'x-safety-context': JSON.stringify(context) } }),
  status,
  counts
})
const unclear = { topic: 'unclear' }
const kinds: readonly Kind[] = [
  evaluate('permit', 'Hello there'),
  evaluate('permit by context', 'Slay the process', { topic: 'programming' }),
  evaluate('forbid', 'kaboom 💥'),
  evaluate('depends', 'Slay it'),
  evaluate('divert', 'Slay it', unclear),
  {
    name: 'moderations',
    path: '/v1/moderations',
    body: { input: ['Hello', 'kaboom', 'x'] },
    status: 200,
    counts: { moderations: 3 }
  },
  chat('chat permitted', 'Hello there', 200, { chat: 1, answer: 1 }),
  chat('chat forbidden', 'kaboom', 400, { chat: 1 }),
  chat('chat diverted', 'Slay it', 403, { chat: 1 }, unclear),
  chat('chat asked about', 'Slay it', 422, { chat: 1 }),
  // What no verdict was given for is not counted.
  { name: 'invalid', path: '/api/v1/safety/evaluate', body: { input_text: 7 }, status: 400, counts: {} }
]

const lineOf = (keyId: string, surface: string) => `${keyId} ${surface}`
const add = (tally: Tally, line: string, { evaluations, characters }: Use, times = 1) => {
  const sum = tally.get(line) ?? { evaluations: 0, characters: 0 }
  tally.set(line, {
    evaluations: sum.evaluations + evaluations * times,
    characters: sum.characters + characters * times
  })
}

/** Evaluations by key and surface, characters by key, over all days. */
async function usageOf(node: Node): Promise<Tally> {
  await setTimeout(settledMs)
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const { body } = await call(node.url, `/api/v1/billing/usage?from=${yesterday}`, { key })
  const tally: Tally = new Map()
  for (const { key_id, characters, by_surface } of body.days) {
    add(tally, key_id, { evaluations: 0, characters })
    for (const [surface, evaluations] of Object.entries(by_surface as Record<string, number>)) {
      add(tally, lineOf(key_id, surface), { evaluations, characters: 0 })
    }
  }
  return tally
}

/** Keys of both environments, each counted on its own. */
async function makeKeys(node: Node): Promise<{ key: string; id: string }[]> {
  const made = []
  for (const environment of ['live', 'live', 'live', 'test', 'test']) {
    const body = { name: 'u', environment, rate_limit_per_minute: 1_000_000, accept_terms: true }
    const answer = await call(node.url, '/api/v1/ssaas/keys', { key, body })
    made.push({ key: answer.body.key as string, id: answer.body.record.key_id as string })
  }
  return made
}

/** One call of each kind, each by a key of its own: how many characters it counts. */
async function charactersOf(node: Node): Promise<ReadonlyMap<Kind, number>> {
  const keys = new Map<Kind, string>()
  for (const kind of kinds) {
    const { body } = await call(node.url, '/api/v1/ssaas/keys', { key, body: { name: 'c', accept_terms: true } })
    const given = { key: body.key, body: kind.body, headers: kind.headers ?? {} }
    // A node that is overloaded refuses before it judges.
    while ((await call(node.url, kind.path, given)).status !== kind.status) await setTimeout(100)
    keys.set(kind, body.record.key_id)
  }
  const usage = await usageOf(node)
  return new Map(kinds.map((kind) => [kind, usage.get(keys.get(kind)!)?.characters ?? 0]))
}

interface Asked {
  acknowledged: Tally
  /** Sent, but not answered: the process was killed. */
  unanswered: number
  /** Answered 503 `overloaded`; none of the calls. */
  refused: number
  calls: number
  unexpected: string[]
}

async function ask(
  node: Node,
  keys: { key: string; id: string }[],
  characters: ReadonlyMap<Kind, number>,
  asked: Asked,
  isOver: () => boolean
): Promise<void> {
  while (!isOver()) {
    const kind = kinds[Math.floor(Math.random() * kinds.length)]!
    const by = keys[Math.floor(Math.random() * keys.length)]!
    try {
      asked.calls++
      const given = { key: by.key, body: kind.body, headers: kind.headers ?? {} }
      const { status, body } = await call(node.url, kind.path, given)
      // Refused before it was judged: another one takes its place.
      if (status === 503 && JSON.stringify(body).includes('overloaded')) {
        asked.calls--
        asked.refused++
        continue
      }
      if (status !== kind.status) asked.unexpected.push(`${kind.name}: ${status}`)
      add(asked.acknowledged, by.id, { evaluations: 0, characters: characters.get(kind)! })
      for (const [surface, evaluations] of Object.entries(kind.counts)) {
        add(asked.acknowledged, lineOf(by.id, surface), { evaluations, characters: 0 })
      }
    } catch {
      asked.unanswered++
      return
    }
  }
}

async function count(t: Test, name: string, url: string): Promise<void> {
  const open = (yaml = '') =>
    startNode(t, {
      ...smallConstitution(t, yaml),
      SLUICEGATE_DATABASE_URL: url,
      SLUICEGATE_BOOTSTRAP_KEY: key,
      SLUICEGATE_LOG_LEVEL: 'info'
    })
  let node = await open()
  const characters = await charactersOf(node)
  t.equal(characters.get(kinds[0]!), 'Hello there'.length)
  t.equal(characters.get(kinds[5]!), 'Hellokaboomx'.length)
  const keys = await makeKeys(node)
  const asked: Asked = { acknowledged: new Map(), unanswered: 0, refused: 0, calls: 0, unexpected: [] }
  const run = (isOver: () => boolean) =>
    Promise.all(Array.from({ length: clients }, () => ask(node, keys, characters, asked, isOver)))
  const difference = async () => {
    const usage = await usageOf(node)
    const mine = [...usage].filter(([line]) => keys.some(({ id }) => line.startsWith(id)))
    const over = { evaluations: 0, characters: 0 }
    const lost = { evaluations: 0, characters: 0 }
    for (const line of new Set([...mine.map(([line]) => line), ...asked.acknowledged.keys()])) {
      for (const what of ['evaluations', 'characters'] as const) {
        const more = (usage.get(line)?.[what] ?? 0) - (asked.acknowledged.get(line)?.[what] ?? 0)
        if (more > 0) over[what] += more
        else lost[what] -= more
      }
    }
    return { over, lost }
  }

  // Half of them, then a restart in order, with rows that are not committed yet; then the rest.
  for (const share of [0.5, 1]) {
    await run(() => asked.calls >= calls * share)
    node.child.kill('SIGTERM')
    await once(node.child, 'exit')
    node = await open(share === 1 ? 'audit: { required: true }\n' : '')
  }
  const counted = [...asked.acknowledged.values()].reduce((sum, { evaluations }) => sum + evaluations, 0)
  const exact = await difference()
  t.same(asked.unexpected, [])
  promise(
    t,
    `usage on ${name}, over two restarts`,
    `${asked.calls} calls (${asked.refused} more refused while overloaded), ${counted} evaluations by key and surface: ${exact.lost.evaluations} lost, ${exact.over.evaluations} too many; characters ${exact.lost.characters} lost, ${exact.over.characters} too many`,
    'none',
    asked.unanswered === 0 &&
      asked.calls >= calls &&
      [exact.lost, exact.over].every(({ evaluations, characters }) => evaluations + characters === 0)
  )

  // Killed while calls are under way; with audit.required an answer follows the commit of what it is billed.
  const before = asked.calls
  const underWay = run(() => false)
  await setTimeout(isFull ? 10_000 : 1_500)
  node.child.kill('SIGKILL')
  await once(node.child, 'exit')
  await underWay
  node = await open()
  const killed = await difference()
  promise(
    t,
    `usage on ${name}, kill -9 with audit.required`,
    `${asked.calls - before} calls, ${asked.unanswered} of them unanswered: ${killed.lost.evaluations} acknowledged evaluations lost, ${killed.over.evaluations} counted of those unanswered`,
    // The dearest call counts three.
    'none lost, no more than was asked',
    killed.lost.evaluations === 0 && killed.lost.characters === 0 && killed.over.evaluations <= asked.unanswered * 3
  )
}

t.test('sqlite', (t) => count(t, 'SQLite', `sqlite:${join(tempDir(t), 'gate.db')}`))
t.test('postgres', { skip: noPostgres }, async (t) => count(t, 'PostgreSQL', await createDatabase(t)))
