// npm run build && node test/bench/without-files.mjs [--rounds 300] [--starts 5]
// What reading files costs those who send none: processor time and memory of a start, and processor time of a chat of 300 bytes,
// with every process counted. The encoder is off. Side by side: without the optional packages, with them, and with `scan`.
// Needs Linux.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cpuOf } from './cpu.mjs'
import { gateway, script } from './systems.mjs'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '300' }, starts: { type: 'string', default: '5' } }
})
const rounds = Number(values.rounds)
const starts = Number(values.starts)
const root = fileURLToPath(new URL('../..', import.meta.url))
const { optionalDependencies, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The package as `npm install --omit=optional` leaves it. */
function withoutPackages() {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-bare-'))
  for (const name of ['dist', 'config', 'docs', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  const link = (name) => {
    if (Object.hasOwn(optionalDependencies, name)) return
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('@')) link(name)
    else {
      mkdirSync(join(folder, 'node_modules', name))
      for (const each of readdirSync(join(root, 'node_modules', name))) link(`${name}/${each}`)
    }
  }
  return folder
}

/** A process and all that it started. */
function family(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    try {
      return readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
    } catch {
      return []
    }
  })
  return [pid, ...children.flatMap(family)]
}

/** ms of processor time so far, those of threads that have ended with them. */
function spent(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13)
  return (Number(user) + Number(system)) * 10
}
const resident = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
const sum = (pids, of) => pids.reduce((all, pid) => all + of(pid), 0)
const sorted = (numbers) => [...numbers].sort((a, b) => a - b)
const median = (numbers) => sorted(numbers)[Math.floor(numbers.length / 2)]
const spread = (numbers, digits) => {
  const all = sorted(numbers)
  return `${median(all).toFixed(digits)} (${all[0].toFixed(digits)}–${all.at(-1).toFixed(digits)})`
}

const upstream = await script('upstream.mjs')
const bare = withoutPackages()
const route = (unscannable) =>
  [
    `upstreams: { default: { url: '${upstream.url}', max_connections: 1000 } }`,
    `transcription: { base_url: '${upstream.url}/v1', model: w }`,
    `defaults: { unscannable: ${unscannable} }`
  ].join('\n')
const kinds = [
  ['`deny`, without the packages', 'deny', bare],
  ['`deny`', 'deny', root],
  ['`scan`, files alone', '{ file: scan }', root],
  ['`scan`, files, pictures and sound', 'scan', root]
]
const open = ([, unscannable, folder]) =>
  gateway({ SLUICEGATE_ENCODER: 'off' }, route(unscannable), 'safety:evaluate', join(folder, 'dist/cli.js'))

console.log(`sluicegate ${version}, Node ${process.version}, ${starts} starts of each, in turns\n`)
console.log('| | processor time of a start, ms | resident, gateway, MiB | all processes, MiB |\n|---|---:|---:|---:|')
const seen = kinds.map(() => ({ cpu: [], own: [], all: [] }))
for (let i = 0; i < starts; i++) {
  for (const [k, kind] of kinds.entries()) {
    const system = await open(kind)
    const cpu = sum(family(system.pid), spent)
    // What starting took goes back within seconds; idle is what stays.
    await setTimeout(5_000)
    seen[k].cpu.push(cpu)
    seen[k].own.push(resident(system.pid))
    seen[k].all.push(sum(family(system.pid), resident))
    system.stop()
  }
}
for (const [k, [name]] of starts > 0 ? kinds.entries() : [])
  console.log(`| ${name} | ${spread(seen[k].cpu, 0)} | ${spread(seen[k].own, 0)} | ${spread(seen[k].all, 0)} |`)

// In one process, by its path, in short turns: what other programs do falls on both alike.
const acts = { deny: 'deny', scan: 'scan', again: 'deny' }
const routes = Object.entries(acts).map(
  ([name, act]) =>
    `  - { path: /${name}/v1/chat/completions, upstream_path: /v1/chat/completions, dialect: openai-chat, unscannable: ${act} }`
)
const both = `${route('deny')}\nroutes:\n${routes.join('\n')}`
const system = await gateway({ SLUICEGATE_ENCODER: 'off' }, both, 'safety:evaluate')
const words = 'garden party sunday noon salad bring table music winter river letter paper window morning'.split(' ')
let count = 0
/** About 300 bytes that were never sent before. */
function body() {
  let text = `Note ${++count}:`
  for (let i = count; text.length < 230; i = (i * 48271) % 2147483647) text += ` ${words[i % words.length]}`
  return JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] })
}
async function ask(name, times) {
  for (let i = 0; i < times; i++) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${system.key}` }
    const answer = await fetch(`${system.url}/${name}/v1/chat/completions`, { method: 'POST', headers, body: body() })
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status}`)
  }
}
const used = () => sum(family(system.pid), (pid) => cpuOf(pid).all)
/** µs for each chat, four at once. */
async function turn(name, times = 25) {
  const before = used()
  await Promise.all([1, 2, 3, 4].map(() => ask(name, times)))
  return (used() - before) / (4 * times)
}
const names = Object.keys(acts)
for (const name of names) await turn(name, 250)
const costs = Object.fromEntries(names.map((name) => [name, []]))
for (let round = 0; round < rounds; round++) {
  // Each stands in each place as often as the others.
  for (let i = 0; i < names.length; i++) {
    const name = names[(i + round) % names.length]
    costs[name].push(await turn(name))
  }
}
console.log(`\nprocessor time of a chat of 300 bytes, ${rounds} turns of 100 chats each, µs; median, and quarters`)
const quarter = (numbers, part) => sorted(numbers)[Math.floor(numbers.length * part)]
console.log('| | µs | quarters | ratio to `deny` |\n|---|---:|---:|---:|')
for (const name of names) {
  const own = costs[name]
  const ratio = median(own) / median(costs.deny)
  const quarters = `${quarter(own, 0.25).toFixed(0)}–${quarter(own, 0.75).toFixed(0)}`
  console.log(
    `| ${name === 'again' ? '`deny`, another route' : `\`${name}\``} | ${median(own).toFixed(0)} | ${quarters} | ${ratio.toFixed(3)} |`
  )
}
for (const each of [system, upstream]) each.stop()
rmSync(bare, { recursive: true, force: true })
