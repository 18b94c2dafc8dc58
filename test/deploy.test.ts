/** The deployment files, held to the programs that read them and to what a running node serves. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { parse, parseAllDocuments } from 'yaml'
import { loadSettings } from '../src/config/load.js'
import { createWorkerMetrics } from '../src/workers/metrics.js'
import { serveReal, tempDir } from './support/gateway.js'
import { hasCommand } from './support/services.js'

interface ComposeService {
  healthcheck?: { test?: unknown }
  secrets?: string[]
  networks: string[]
  volumes?: string[]
}

t.setTimeout(120_000)
const root = fileURLToPath(new URL('../config/deploy/', import.meta.url))
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const rules: { alert: string; expr: string; annotations: { summary: string } }[] = parse(read('prometheus/alerts.yml'))
  .groups[0].rules
const panels: { title: string; type: string; targets?: { expr: string }[] }[] = JSON.parse(
  read('grafana/dashboards/sluicegate.json')
).panels
const page = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8')
const runbook = page.slice(page.indexOf('\n## Runbook'))

t.test(
  'promtool takes the rules, and every alert fires where it must and nowhere else',
  { skip: !hasCommand('promtool') && 'no promtool' },
  async (t) => {
    const folder = join(root, 'prometheus')
    execFileSync('promtool', ['check', 'config', '--syntax-only', 'prometheus.yml'], { cwd: folder })
    execFileSync('promtool', ['check', 'rules', 'alerts.yml'], { cwd: folder })
    const run = spawnSync('promtool', ['test', 'rules', 'alerts.test.yml'], { cwd: folder, encoding: 'utf8' })
    t.equal(run.status, 0, run.stdout + run.stderr)
    const cases = parse(read('prometheus/alerts.test.yml')).tests.flatMap(
      (one: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }) => one.alert_rule_test
    )
    for (const { alert } of rules) {
      const own = cases.filter(({ alertname }: { alertname: string }) => alertname === alert)
      t.ok(
        own.some(({ exp_alerts }: { exp_alerts: unknown[] }) => exp_alerts.length > 0),
        `${alert} is seen to fire`
      )
      t.ok(
        own.some(({ exp_alerts }: { exp_alerts: unknown[] }) => exp_alerts.length === 0),
        `${alert} is seen not to`
      )
    }
  }
)

t.test('every alert has its entry in the runbook, which names panels that exist', async (t) => {
  const entries = new Map(
    [...runbook.matchAll(/^### (\w+)\n([\s\S]*?)(?=\n###|$(?![\s\S]))/gm)].map(([, name, text]) => [name, text])
  )
  t.same(
    [...entries.keys()],
    rules.map(({ alert }) => alert)
  )
  const titles = new Set(panels.map(({ title }) => title))
  for (const [name, text] of entries) {
    for (const [, title] of text!.matchAll(/(?<=Dashboard: |, |see )\*([^*]+)\*/g))
      t.ok(titles.has(title!), `${name}: ${title}`)
  }
})

t.test('queries ask for metrics that a node serves', async (t) => {
  const serving = await serveReal(t)
  const primary = createWorkerMetrics({ workers: () => 2, sessions: () => 0 })
  const page = `${await (await fetch(`${serving.opsUrl}/metrics`)).text()}\n${await primary.page(new Map())}`
  const types = new Map([...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))
  const queries = [...rules, ...panels.flatMap(({ targets = [] }) => targets)].map(({ expr }) => expr)
  t.ok(queries.length > 60)
  const asked = new Set(queries.flatMap((query) => query.match(/\b(?:sluicegate|process|nodejs)_[a-z0-9_]+/g) ?? []))
  for (const name of asked) {
    const base = name.replace(/_bucket$/, '')
    t.ok(types.has(base), `${name} is served`)
    t.equal(name.endsWith('_bucket'), types.get(base) === 'histogram', `${name} is a ${types.get(base)}`)
  }
  const own = [...types.keys()].filter((name) => name.startsWith('sluicegate_'))
  const unseen = own.filter((name) => !asked.has(name) && !asked.has(`${name}_bucket`))
  t.same(
    unseen.sort(),
    [
      'sluicegate_clarifications_total',
      'sluicegate_judge_duration_seconds',
      'sluicegate_judged_texts_total',
      'sluicegate_suppressed_matches_total',
      'sluicegate_workers'
    ],
    'what no query asks for'
  )
})

t.test(
  'the shared configuration is one, is valid, and the proxy in front drains with it',
  { skip: !hasCommand('haproxy') && 'no haproxy' },
  async (t) => {
    const text = read('gateway.yaml')
    t.equal(read('kubernetes/gateway.yaml'), text)
    const settings = loadSettings({ env: { SLUICEGATE_UPSTREAM_KEY: 'k' }, cwd: root, file: 'gateway.yaml' })
    t.equal(settings.server.drainDelayMs, 5000)
    const tls = fileURLToPath(new URL('fixtures/config/tls/test', import.meta.url))
    const folder = tempDir(t)
    writeFileSync(join(folder, 'edge.pem'), readFileSync(`${tls}.crt`, 'utf8') + readFileSync(`${tls}.key`, 'utf8'))
    const config = read('haproxy/haproxy.cfg').replace('/run/secrets/edge_certificate', join(folder, 'edge.pem'))
    writeFileSync(join(folder, 'haproxy.cfg'), config)
    const check = spawnSync('haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')], { encoding: 'utf8' })
    t.equal(check.status, 0, check.stderr)
    t.notMatch(check.stderr, /WARNING/)
  }
)

t.test('compose: what is mounted exists, secrets come by file, nodes run without rights', async (t) => {
  const { services, secrets, volumes, networks } = parse(read('compose.yaml'), { merge: true })
  const nodes = ['gateway-1', 'gateway-2', 'gateway-3']
  for (const name of [...nodes, 'migrate']) {
    t.match(
      services[name],
      { read_only: true, user: 'node', cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
      name
    )
    for (const [variable, value] of Object.entries(services[name].environment)) {
      if (/(URL|KEY)/.test(variable) && variable !== 'SLUICEGATE_PUBLIC_URL')
        t.match(`${variable}=${value}`, /_FILE=\/run\/secrets\/\w+$/)
    }
  }
  for (const name of nodes) {
    t.match(services[name], {
      depends_on: { migrate: { condition: 'service_completed_successfully' } },
      environment: { SLUICEGATE_NODE: name }
    })
    t.ok(Number.parseInt(services[name].stop_grace_period, 10) >= 5 + 30 + 5)
  }
  for (const [name, service] of Object.entries(services) as [string, ComposeService][]) {
    if (name !== 'migrate') t.ok(service.healthcheck?.test, `${name} is asked for its health`)
    for (const secret of service.secrets ?? []) t.ok(secrets[secret], secret)
    for (const network of service.networks) t.ok(network in networks, network)
    for (const volume of service.volumes ?? []) {
      const from = volume.split(':')[0]!
      t.ok(from.startsWith('./') ? existsSync(join(root, from)) : from in volumes, `${name} mounts ${from}`)
    }
  }
  for (const secret of Object.keys(secrets))
    t.match(page, new RegExp(`\\b${secret}\\b`), `${secret} is made at the start`)
  t.equal(networks.inside.internal, true)
})

/** Beside the validators of the package, its types: the validators let unknown fields pass, and TypeScript does not. */
const models: Record<string, string> = {
  Namespace: 'v1',
  ServiceAccount: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  Job: 'batch/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  NetworkPolicy: 'networking.k8s.io/v1'
}

t.test('kubernetes: every object has the shape of its API, and nodes run as they must', async (t) => {
  const folder = join(root, 'kubernetes')
  const { resources, configMapGenerator } = parse(read('kubernetes/kustomization.yaml'))
  t.same([...resources, ...configMapGenerator[0].files, 'kustomization.yaml'].sort(), readdirSync(folder).sort())
  const require = createRequire(import.meta.url)
  const objects = resources.flatMap((name: string) =>
    parseAllDocuments(read(`kubernetes/${name}`)).map((one) => one.toJS())
  )
  const lines: string[] = []
  for (const [i, { apiVersion, kind, ...rest }] of objects.entries()) {
    t.equal(models[kind], apiVersion, kind)
    const model = require(`kubernetes-models/${apiVersion}/${kind}`)[kind]
    t.doesNotThrow(() => new model(rest).validate(), kind)
    lines.push(`import type { I${kind} as T${i} } from 'kubernetes-models/${apiVersion}/${kind}'`)
    lines.push(`export const o${i}: T${i} = ${JSON.stringify({ apiVersion, kind, ...rest })}`)
  }
  t.same(problemsOf(t, lines.join('\n')), [])
  t.not(problemsOf(t, lines.join('\n').replace('"failureThreshold"', '"failureTreshold"')).length, 0, 'a slip is seen')

  const { spec } = objects.find(({ kind }: { kind: string }) => kind === 'Deployment')
  const { spec: pod, metadata } = spec.template
  const [container] = pod.containers
  t.match(pod.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  t.match(container.securityContext, {
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] }
  })
  t.ok(pod.terminationGracePeriodSeconds >= 5 + 30 + 5, 'the drain fits into the grace')
  t.match(container, {
    startupProbe: { httpGet: { path: '/healthz' } },
    readinessProbe: { httpGet: { path: '/readyz' } },
    livenessProbe: { httpGet: { path: '/healthz' } }
  })
  t.match(container.resources, { requests: { cpu: String, memory: String }, limits: { memory: String } })
  for (const { kind, spec: one } of objects) {
    const pod = one?.template?.spec
    if (pod !== undefined)
      t.equal(pod.enableServiceLinks, false, `${kind}: no SLUICEGATE_PORT=tcp://… from the Service`)
  }
  const selecting = objects.filter(({ kind }: { kind: string }) =>
    ['Service', 'PodDisruptionBudget', 'NetworkPolicy'].includes(kind)
  )
  for (const { kind, spec: one } of selecting) {
    const labels = one.podSelector?.matchLabels ?? one.selector?.matchLabels ?? one.selector
    t.match(metadata.labels, labels, `${kind} selects the nodes`)
  }
  if (spawnSync('kubectl', ['version', '--client']).status === 0) {
    t.doesNotThrow(() => execFileSync('kubectl', ['kustomize', folder], { stdio: 'pipe' }))
  }
})

function problemsOf(t: { teardown(fn: () => unknown): unknown }, source: string): string[] {
  const file = join(tempDir(t), 'objects.ts')
  writeFileSync(file, source)
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: []
  }
  const host = ts.createCompilerHost(options)
  // The objects lie in a folder of the test's own, and their types in the project.
  const own = fileURLToPath(import.meta.url)
  host.resolveModuleNameLiterals = (names, containing) =>
    names.map(({ text }) =>
      ts.resolveModuleName(
        text,
        containing === file ? own : containing,
        options,
        host,
        undefined,
        undefined,
        ts.ModuleKind.CommonJS
      )
    )
  const program = ts.createProgram([file], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

t.test('another user than the one that builds may read what is built: the image runs without rights', (t) => {
  const dist = fileURLToPath(new URL('../dist', import.meta.url))
  for (const name of ['', ...readdirSync(dist, { recursive: true, encoding: 'utf8' })]) {
    const stat = statSync(join(dist, name))
    const needed = stat.isDirectory() ? 0o5 : 0o4
    if ((stat.mode & needed) !== needed) t.fail(`${name || 'dist'} is ${(stat.mode & 0o777).toString(8)}`)
  }
  t.end()
})
