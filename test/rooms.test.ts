import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const src = join(dirname(fileURLToPath(import.meta.url)), '../src')
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => name.replaceAll('\\', '/'))
  .sort()
/** The dashboard runs in a browser and is built by itself: it knows no other room, and no other room knows it. */
const files = sources.filter((name) => !name.startsWith('dashboard/'))
const page = sources.filter((name) => name.startsWith('dashboard/'))

/** Room of a file: its folder, or its own name for the files at the top. */
const roomOf = (file: string) => (file.includes('/') ? file.split('/', 1)[0]! : file.replace(/\.ts$/, ''))

/** What each room may import besides itself. Types count: a type is knowledge too. */
const allowed: Record<string, string[]> = {
  // It runs elsewhere: it knows nothing of the program.
  client: [],
  base: [],
  json: ['base'],
  text: ['base'],
  classifier: ['base', 'text'],
  files: ['base'],
  encoder: ['base', 'json', 'text', 'classifier'],
  detectors: ['base', 'text', 'classifier', 'encoder'],
  policy: ['base', 'json', 'detectors', 'text', 'encoder'],
  judges: ['base', 'json', 'policy'],
  dialects: ['base', 'json', 'policy'],
  storage: ['base', 'json', 'policy'],
  limits: ['base', 'storage'],
  identity: ['base', 'storage', 'limits'],
  sealing: ['base', 'storage'],
  review: ['base', 'storage', 'identity', 'policy', 'sealing'],
  samples: ['base', 'storage', 'identity', 'policy', 'sealing', 'observe', 'constitutions', 'detectors'],
  users: ['base', 'storage', 'identity', 'limits'],
  notices: ['base', 'storage', 'identity', 'review', 'observe'],
  constitutions: ['base', 'storage', 'identity', 'policy'],
  observe: ['base', 'policy', 'identity', 'storage', 'encoder'],
  config: ['base', 'json', 'policy', 'identity', 'dialects', 'judges'],
  edge: ['base', 'json', 'identity', 'limits', 'users', 'policy', 'dialects', 'observe', 'storage', 'encoder'],
  wording: ['base', 'policy', 'text', 'identity', 'storage'],
  api: [
    'wording',
    'base',
    'json',
    'edge',
    'identity',
    'limits',
    'review',
    'samples',
    'notices',
    'users',
    'constitutions',
    'policy',
    'dialects',
    'observe',
    'storage'
  ],
  proxy: [
    'wording',
    'files',
    'sealing',
    'storage',
    'base',
    'json',
    'edge',
    'identity',
    'limits',
    'review',
    'policy',
    'dialects',
    'observe'
  ]
}
/** They put the rooms together. */
const composition = ['main', 'workers', 'cli', 'index', 'http-proxy']

const importsOf = (file: string) =>
  [
    ...readFileSync(join(src, file), 'utf8').matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)'|^import '([^']+)'/gm)
  ].map((match) => match[1] ?? match[2]!)

t.test('rooms import in one direction', async (t) => {
  for (const file of files) {
    const room = roomOf(file)
    if (composition.includes(room)) continue
    const may = new Set([room, ...(allowed[room] ?? [])])
    for (const specifier of importsOf(file)) {
      if (!specifier.startsWith('.')) continue
      const target = roomOf(relative('.', normalize(join(dirname(file), specifier))).replace(/\.js$/, '.ts'))
      if (!may.has(target)) t.fail(`${file} imports ${specifier}: ${room} may not know ${target}`)
    }
  }
  t.ok(files.length > 50)
})

t.test('no files know each other in a circle, types counted', async (t) => {
  const known = new Set(sources)
  const targets = new Map(
    sources.map((file) => {
      const local = importsOf(file).filter((specifier) => specifier.startsWith('.'))
      const stems = local.map((specifier) => join(dirname(file), specifier).replaceAll('\\', '/').replace(/\.js$/, ''))
      const found = stems.map((stem) =>
        ['.ts', '.tsx', '/index.ts'].map((end) => stem + end).find((one) => known.has(one))
      )
      return [file, found.filter((one) => one !== undefined)]
    })
  )
  const left = new Set<string>()
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) t.fail([...way.slice(way.indexOf(file)), file].join(' → '))
    if (left.has(file) || way.includes(file)) return
    for (const target of targets.get(file)!) walk(target, [...way, file])
    left.add(file)
  }
  for (const file of sources) walk(file, [])
  t.equal(left.size, sources.length)
})

t.test('the dashboard talks to the gateway over its API alone', async (t) => {
  for (const file of page) {
    for (const specifier of importsOf(file)) {
      const target = specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : 'dashboard/'
      t.ok(target.startsWith('dashboard/'), `${file} imports ${specifier}`)
    }
    t.notMatch(readFileSync(join(src, file), 'utf8'), /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML/, file)
  }
})

t.test('only the edges know Fastify, and only the platform and the command open a store', async (t) => {
  for (const file of files) {
    const text = readFileSync(join(src, file), 'utf8')
    if (
      [
        'policy',
        'detectors',
        'dialects',
        'identity',
        'limits',
        'text',
        'storage',
        'review',
        'samples',
        'notices',
        'users',
        'constitutions'
      ].includes(roomOf(file))
    ) {
      t.notMatch(text, /from '(?:@fastify\/|fastify)/, `${file} knows no Fastify`)
    }
    if (/openStorage\(\{/.test(text))
      t.match(file, /^(?:main\/platform\.ts|cli\/|storage\/open\.ts)/, `${file} may open a store`)
  }
})

t.test('every file can be imported, and doing so has no effect', async (t) => {
  const handles = () =>
    process.getActiveResourcesInfo().filter((name) => /Server|Timeout|Worker|Socket/.test(name)).length
  const before = handles()
  for (const file of files) {
    if (roomOf(file) === 'cli' || /(?:worker|process)\.ts$/.test(file)) continue
    await t.resolves(import(join(src, file)), file)
  }
  t.equal(handles(), before, 'no timer, server or worker was started')
})

t.test('no file has outgrown its readers', async (t) => {
  for (const file of sources) {
    const lines = readFileSync(join(src, file), 'utf8').split('\n').length
    t.ok(lines <= 400, `${file} has ${lines} lines`)
  }
})

t.test('a name of a class stands for one thing', async (t) => {
  const places = new Map<string, string>()
  for (const file of sources.filter((each) => !['dashboard', 'client'].includes(roomOf(each)))) {
    for (const [, name] of readFileSync(join(src, file), 'utf8').matchAll(/^export (?:abstract )?class (\w+)/gm)) {
      t.equal(places.get(name!) ?? file, file, `${name} of ${file}`)
      places.set(name!, file)
    }
  }
  t.ok(places.size > 100)
  const silent = /(?:^|\/)(?:self|shared|utils?|helpers?|misc|common|stuff)\.tsx?$/
  t.same(
    files.filter((file) => silent.test(file)),
    [],
    'and a name of a file says what is in it'
  )
})

t.test('no sentence has to be decoded', async (t) => {
  const docs = join(src, '../docs')
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(docs, name))
  const riddles =
    /\bwhat of (?:it|them|that)\b|\blets not\b|many-eth|\bof whom\b|\b(?:where|there|here)of\b|\btherein\b/i
  for (const file of [...files.map((each) => join(src, each)), ...pages]) {
    const [found] = riddles.exec(readFileSync(file, 'utf8')) ?? []
    t.equal(found, undefined, file.slice(src.length))
  }
})

t.test('the glossary is in the order of the alphabet, each word once', async (t) => {
  const page = readFileSync(join(src, '../docs/architecture.md'), 'utf8')
  const words = [...page.slice(page.indexOf('## Glossary')).matchAll(/^\| ([a-z][\w ,-]*) \|/gm)].map(
    ([, word]) => word!
  )
  t.ok(words.length > 30)
  t.same(words.slice(1), [...new Set(words.slice(1))].sort(), 'after the head of the table')
})
