// npm run build && node test/bench/growth.mjs [keys]
// How cost grows: looking a key up in a store of 10 and of 1,000,000 keys, and judging a text by 100 and by 10,000 phrases.
// Prints medians in µs and their ratios.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

const dist = (name) => import(new URL(`../../dist/${name}`, import.meta.url).href)
const { openStorage } = await dist('storage/open.js')
const { newRow } = await dist('identity/key-rows.js')
const { createEvaluator } = await dist('policy/evaluate/evaluator.js')
const { categories } = await dist('policy/evaluation.js')
const { systemClock } = await dist('base/clock.js')

const wanted = {
  name: 'bench',
  environment: 'live',
  scopes: ['*'],
  ipAllowlist: [],
  expiresAt: null,
  rateLimitPerMinute: null,
  maxConcurrent: null,
  selfRotation: false
}
const many = Number(process.argv[2] ?? 1_000_000)
const dir = mkdtempSync(join(tmpdir(), 'sluicegate-growth-'))
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

try {
  await keys()
  await phrases()
} finally {
  rmSync(dir, { recursive: true, force: true })
}

async function keys() {
  const stores = []
  for (const count of [10, many]) {
    const path = join(dir, `keys-${count}.db`)
    const storage = await openStorage({ url: `sqlite:${path}` })
    await storage.keys.insert(keyRow())
    await storage.close()
    fill(path, count)
    const opened = await openStorage({ url: `sqlite:${path}` })
    const known = keyRow()
    await opened.keys.insert(known)
    stores.push({ count, storage: opened, known: known.prefix, times: [] })
  }
  for (let round = 0; round < 41; round++) {
    for (const store of stores) {
      for (const prefix of [store.known, 'zzzzzzzz']) await store.storage.keys.byPrefix(prefix)
      const start = performance.now()
      for (let i = 0; i < 200; i++) await store.storage.keys.byPrefix(i % 2 === 0 ? store.known : 'zzzzzzzz')
      store.times.push(((performance.now() - start) * 1000) / 200)
    }
  }
  const [few, more] = stores.map(({ times }) => median(times))
  console.log(
    `one indexed lookup: ${few.toFixed(1)} µs among 10 keys, ${more.toFixed(1)} µs among ${many}: ${(more / few).toFixed(2)} times`
  )
  for (const { storage } of stores) await storage.close()
}

function keyRow() {
  return newRow('default', wanted, Date.now(), { createdBy: null, roots: undefined }).row
}

/** Copies the one row that the store wrote itself, with other ids and prefixes: a million inserts one by one take an hour of fsync. */
function fill(path, count) {
  const database = new DatabaseSync(path)
  const columns = database
    .prepare("select name from pragma_table_info('keys')")
    .all()
    .map(({ name }) => name)
  const value = (name) =>
    name === 'prefix'
      ? "printf('b%07d', n)"
      : /^(key_id|keyId|lineage)$/.test(name)
        ? "printf('key_b%025d', n)"
        : `"${name}"`
  database.exec(
    `with recursive counter(n) as (select 1 union all select n + 1 from counter where n < ${count})
     insert into keys (${columns.map((name) => `"${name}"`).join(', ')})
     select ${columns.map(value).join(', ')} from counter, (select * from keys limit 1)`
  )
  database.close()
}

async function phrases() {
  const words =
    'amber basin cedar delta ember fable grove hazel inlet jetty knoll ledge maple nacre ochre plume quartz ridge slate tarn'.split(
      ' '
    )
  const phrase = (i) => `${words[i % 20]} ${words[Math.floor(i / 20) % 20]} ${words[Math.floor(i / 400) % 20]}${i}`
  const text = Array.from({ length: 700 }, (_, i) => `${words[(i * 7) % 20]} stands by the ${words[(i * 11) % 20]}`)
    .join(', ')
    .slice(0, 4096)
  const judges = []
  for (const count of [100, 10_000]) {
    const file = join(dir, `phrases-${count}.yaml`)
    const outcomes = categories.map((name) => `  ${name}: { high: forbid, middle: ask }`).join('\n')
    const list = Array.from({ length: count }, (_, i) => `      - ${phrase(i)}`).join('\n')
    writeFileSync(
      file,
      `name: growth\nversion: '1'\ndescription: bench\nbands: { middle: 0.4, high: 0.75 }\ncategories:\n${outcomes}\nrules:\n  - name: many\n    category: violence\n    weight: 0.9\n    any:\n${list}\n`
    )
    const evaluator = await createEvaluator({ constitutions: { growth: file }, clock: systemClock })
    judges.push({ evaluator, times: [] })
  }
  const input = {
    parts: [{ role: 'user', text, pointer: '' }],
    joined: [],
    context: undefined,
    session: undefined,
    direction: 'request'
  }
  for (let round = 0; round < 61; round++) {
    for (const { evaluator, times } of judges) {
      const start = performance.now()
      for (let i = 0; i < 50; i++)
        await evaluator.evaluate(
          { ...input, parts: [{ role: 'user', text: `${text} ${round}-${i}`, pointer: '' }] },
          'growth'
        )
      times.push(((performance.now() - start) * 1000) / 50)
    }
  }
  const [few, more] = judges.map(({ times }) => median(times))
  console.log(
    `a 4 KB text: ${few.toFixed(0)} µs by 100 phrases, ${more.toFixed(0)} µs by 10,000: ${(more / few).toFixed(2)} times`
  )
  for (const { evaluator } of judges) await evaluator.close()
}
