/** The documents: what they link to exists, what they show runs, and comments cite nothing that is not there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { systemClock } from '../src/base/clock.js'
import { loadSettings } from '../src/config/load.js'
import { generateKey } from '../src/identity/key-format.js'
import { noReport } from '../src/judges/consult.js'
import { openJudges } from '../src/judges/open.js'
import { createEvaluator } from '../src/policy/evaluate/evaluator.js'
import { createWorkerMetrics } from '../src/workers/metrics.js'
import { build, serveReal, tempDir } from './support/gateway.js'
import { hasCommand } from './support/services.js'

t.setTimeout(300_000)
const root = fileURLToPath(new URL('..', import.meta.url))
const below = (folder: string, pattern: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`.replaceAll('\\', '/'))
    .sort()
const read = (name: string) => readFileSync(join(root, name), 'utf8')

const docs = below('docs', /\.md$/)
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'config/deploy/README.md', ...docs]

/** Fenced blocks with the words behind their fence: `yaml config`, `yaml constitution`, `sh curl`, … */
const blocksOf = (name: string, kind: string) =>
  [...read(name).matchAll(/^```(\S+(?: \S+)*)\n([\s\S]*?)^```$/gm)].flatMap(([, info, code]) =>
    info === kind ? [code!] : []
  )
const prose = (name: string) => read(name).replace(/^```[\s\S]*?^```$/gm, '')

/** As GitHub makes it of a heading. */
const anchorsOf = (name: string) =>
  new Set(
    [...prose(name).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-')
    )
  )

t.test('every relative link leads to a file, and to a heading of it', async (t) => {
  let seen = 0
  for (const page of pages) {
    for (const [, target] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue
      const [path, anchor] = target!.split('#', 2)
      const file = path === '' ? page : relative(root, join(root, dirname(page), path!))
      seen++
      if (!existsSync(join(root, file))) t.fail(`${page}: ${target} is not there`)
      else if (anchor !== undefined) t.ok(anchorsOf(file).has(anchor), `${page}: ${target}`)
    }
  }
  t.ok(seen > 80)
})

t.test('the README is short; each page says what it is for, and the list names it', async (t) => {
  t.ok(read('README.md').trimEnd().split('\n').length <= 200)
  for (const page of docs) t.ok(/^# \S.*\n\n(?![#|`<!>-])\S/.test(read(page)), `${page} opens with a sentence`)
  const list = read('docs/README.md')
  for (const page of docs.filter((name) => name !== 'docs/README.md'))
    t.ok(list.includes(`](${page.slice('docs/'.length)})`), `docs/README.md names ${page}`)
})

t.test('comments cite documents that are there', async (t) => {
  const sections = new Set([...read('docs/api.md').matchAll(/^## (\d+)\./gm)].map(([, number]) => number))
  const architecture = read('docs/architecture.md')
  const safety = architecture.slice(architecture.indexOf('## Rules of safety'), architecture.indexOf('## Glossary'))
  const rules = new Set([...safety.matchAll(/^(\d+)\. /gm)].map(([, number]) => number))
  for (const file of [...below('src', /\.(ts|tsx)$/), ...below('test', /\.(ts|mjs)$/), ...below('config', /\.mjs$/)]) {
    if (file === 'test/docs.test.ts') continue
    const source = read(file)
    t.notOk(/\bCONTRACT\b|\bDESIGN\b|\bspec(?:ification)?,? sections?\b|README['’]s|\bthe README\b/.test(source), file)
    for (const [, page, kind, number] of source.matchAll(
      /(docs\/[\w/-]+\.md|CONTRIBUTING\.md)(?:,? (sections?|rule) (\d+))?/g
    )) {
      t.ok(existsSync(join(root, page!)), `${file}: ${page}`)
      if (number !== undefined) t.ok((kind === 'rule' ? rules : sections).has(number), `${file}: ${kind} ${number}`)
    }
  }
})

t.test('every path of the API that is no chat route stands in its document', async (t) => {
  const { app, key } = await build(t)
  const answer = await app.inject({ url: '/openapi.json', headers: { 'x-api-key': key } })
  const paths = Object.keys((answer.json() as { paths: object }).paths).filter((path) => path.startsWith('/api/v1/'))
  const api = read('docs/api.md')
  // Whole, or its end behind `…/`.
  for (const path of paths) {
    const segments = path.split('/').slice(1)
    const ends = segments.map((_, from) => `…/${segments.slice(from).join('/')}`)
    t.ok(
      [path, ...ends].some((form) => api.includes(form)),
      path
    )
  }
  t.ok(paths.length > 30)
})

/** Whatever an example takes from the environment. */
const env = { OPENAI_KEY: 'k', GUARD_KEY: 'k', OIDC_SECRET: 's', COLLECTOR_TOKEN: 't' }

t.test('every example of a configuration, a constitution or JSON is valid', async (t) => {
  let seen = 0
  for (const page of pages) {
    const dir = tempDir(t)
    for (const code of blocksOf(page, 'json')) t.doesNotThrow(() => JSON.parse(code), `${page}: ${code}`)
    for (const code of blocksOf(page, 'yaml')) t.doesNotThrow(() => parse(code), `${page}: ${code}`)
    let judges = {}
    for (const code of blocksOf(page, 'yaml config')) {
      writeFileSync(join(dir, 'gateway.yaml'), code)
      t.doesNotThrow(() => {
        judges = { ...judges, ...loadSettings({ env, cwd: dir, file: 'gateway.yaml' }).judges }
      }, `${page}: ${code}`)
      seen++
    }
    const constitutions = blocksOf(page, 'yaml constitution')
    if (constitutions.length === 0) continue
    const opened = await openJudges(judges, { clock: systemClock, report: noReport })
    for (const code of constitutions) {
      const { name } = parse(code)
      const file = join(dir, 'constitution.yaml')
      writeFileSync(file, code)
      await t.resolves(
        createEvaluator({ constitutions: { [name]: file }, clock: systemClock, judges: opened }).then((evaluator) =>
          evaluator.close()
        ),
        `${page}: ${code}`
      )
      seen++
    }
    await opened.close()
  }
  t.ok(seen >= 10)
})

t.test('the overlay that refuses profanity refuses it, and its dry run says what the page shows', async (t) => {
  const page = 'docs/constitutions.md'
  const [overlay] = blocksOf('README.md', 'yaml constitution')
  const steps = blocksOf(page, 'sh curl').join('\n')
  t.equal(blocksOf(page, 'yaml constitution')[0], overlay, 'step 1 is the overlay of the README')
  t.equal(/^cat > mine\.yaml <<'YAML'\n([\s\S]*?)^YAML$/m.exec(steps)?.[1], overlay, 'and step 4 stores it')
  const file = join(tempDir(t), 'mine.yaml')
  writeFileSync(file, overlay!)
  const evaluator = await createEvaluator({ constitutions: { default: file }, clock: systemClock })
  t.teardown(() => evaluator.close())
  const judged = async (text: string) => {
    const parts = [{ text, role: 'user' as const, pointer: '' }]
    return (await evaluator.evaluate({ parts, joined: [], context: {}, direction: 'request', session: undefined }))
      .decision
  }
  const coarse = ['Shit, I lost my keys', 'What the fuck is wrong with this build', 'This damn printer jams again']
  for (const text of coarse) t.equal(await judged(text), 'forbid', text)
  for (const text of ['Hello', 'My boss is tired of the printer']) t.equal(await judged(text), 'permit', text)

  const key = generateKey('live')
  // With the encoder, as it runs out of the box: the page shows the diff of that.
  const { url } = await serveReal(t, { env: { SLUICEGATE_BOOTSTRAP_KEY: key, SLUICEGATE_ENCODER: '' } })
  const call = async (method: string, path: string, body: string) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1/constitutions/default${path}`, { method, headers, body })
    return response.json() as Promise<{ diff?: unknown }>
  }
  await call('PUT', '', JSON.stringify({ source: overlay }))
  const asked = /default\/test -d '(.*?)'/.exec(steps)![1]!
  const shown = /`(\{"changed": .*?\})` for the two texts/.exec(read(page))![1]!
  t.same((await call('POST', '/test', asked)).diff, JSON.parse(shown))
})

/** Says the status of each call, also of one whose answer is piped or kept. */
const prelude = `curl() { command curl -s -w '%{stderr}%{http_code}\\n' "$@"; }\n`

t.test(
  'every call that a page shows is answered as it says',
  { skip: (!hasCommand('curl') || !hasCommand('jq')) && 'no curl or no jq' },
  async (t) => {
    const key = generateKey('live')
    const { url } = await serveReal(t, {
      yaml: 'limits: { live_per_minute: 1000000 }\n',
      env: { SLUICEGATE_CONFIG: 'gateway.yaml', SLUICEGATE_BOOTSTRAP_KEY: key }
    })
    let seen = 0
    for (const page of pages) {
      const blocks = blocksOf(page, 'sh curl')
      if (blocks.length === 0) continue
      const script = prelude + blocks.join('\n').replaceAll('http://127.0.0.1:8080', url)
      const expected = [...blocks.join('\n').matchAll(/# (\d{3})\b.*$/gm)].map(([, status]) => status)
      const bash = spawn('bash', ['--norc', '-u', '-c', script], { cwd: tempDir(t), env: { ...process.env, KEY: key } })
      bash.stdin.end()
      const [, errors] = await Promise.all([text(bash.stdout), text(bash.stderr), once(bash, 'exit')])
      t.same(errors.trim().split('\n'), expected, page)
      seen += expected.length
    }
    t.ok(seen >= 20)
  }
)

t.test('every example of the client runs', async (t) => {
  const key = generateKey('live')
  const { url } = await serveReal(t, { yaml: 'storage: { url: "memory:" }\n', env: { SLUICEGATE_BOOTSTRAP_KEY: key } })
  const blocks = blocksOf('docs/client.md', 'js client')
  t.ok(blocks.length >= 3)
  for (const [i, code] of blocks.entries()) {
    const file = join(tempDir(t), `${i}.mjs`)
    const built = pathToFileURL(join(root, 'dist/client.js')).href
    writeFileSync(file, code.replace('sluicegate/client', built).replaceAll('http://127.0.0.1:8080', url))
    const child = spawn(process.execPath, [file], {
      env: { ...process.env, KEY: key },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    const [out, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    t.equal(status, 0, errors)
    t.notMatch(out, /no verdict/)
  }
})

t.test('the page on metrics lists what a node serves, and nothing else', async (t) => {
  const { opsUrl } = await serveReal(t)
  const workers = createWorkerMetrics({ workers: () => 2, sessions: () => 0 })
  const served = `${await (await fetch(`${opsUrl}/metrics`)).text()}\n${await workers.page(new Map())}`
  const names = [...served.matchAll(/^# TYPE (sluicegate_\S+)/gm)].map(([, name]) => name!)
  const listed = [...read('docs/metrics-and-traces.md').matchAll(/^\| `(sluicegate_\w+)` \|/gm)].map(
    ([, name]) => name!
  )
  t.same(listed.sort(), [...new Set(names)].sort())
})

t.test('every page is served beside the API reference, and its links lead to others', async (t) => {
  const { url } = await build(t, { prefix: '/guard' })
  for (const page of docs) {
    const path = `/docs/${page
      .slice('docs/'.length)
      .replace(/(^|\/)README\.md$/, '$1index.md')
      .replace(/md$/, 'html')}`
    const response = await fetch(url + path)
    const html = await response.text()
    t.equal(response.status, 200, path)
    t.match(response.headers.get('content-security-policy'), /^default-src 'none'/)
    t.match(html, `<h1 id="${[...anchorsOf(page)][0]}">`)
    t.notMatch(html, /<script|<iframe|\son\w+="|javascript:/i, 'nothing that runs')
    for (const [, target] of html.matchAll(/(?:href|src)="([^"#]+)/g)) {
      if (/^https?:/.test(target!)) continue
      const there = new URL(target!, url + path)
      t.equal((await fetch(there)).status, 200, `${path}: ${there.pathname}`)
    }
  }
  t.equal((await fetch(`${url}/docs/nothing.html`)).status, 404)
})

t.test('comments name files that are there', async (t) => {
  const files = [...below('src', /./), ...below('test', /./), ...below('config', /./), ...pages]
  for (const file of files.filter((name) => /\.(ts|tsx|mjs)$/.test(name))) {
    for (const line of read(file).split('\n')) {
      if (!/^\s*(?:\/\/|\/?\*)/.test(line)) continue
      for (const [, name] of line.matchAll(/`([\w./-]+\.(?:ts|tsx|mjs|md))`/g))
        t.ok(
          files.some((other) => other === name || other.endsWith(`/${name}`)),
          `${file}: ${name}`
        )
    }
  }
})

t.test('forms, the workflow and the updates are YAML, and run what is there', async (t) => {
  for (const file of below('.github', /\.yml$/)) t.doesNotThrow(() => parse(read(file)), file)
  const { jobs } = parse(read('.github/workflows/ci.yml'))
  t.ok(jobs.test.steps.some(({ run }: { run?: string }) => run === '.ci/run'))
})

t.test('no page starts a server through npx, which does not hand a signal on', async (t) => {
  for (const page of pages) t.notMatch(read(page), /npx sluicegate serve/, page)
})

t.test('what a page names of the tree is there', async (t) => {
  for (const page of pages.filter((name) => name !== 'CHANGELOG.md')) {
    for (const [, path] of prose(page).matchAll(/`((?:src|test|config|docs|training|\.ci|\.github)\/[\w./-]*\w)`/g))
      t.ok(existsSync(join(root, path!)) && statSync(join(root, path!)), `${page}: ${path}`)
  }
})
