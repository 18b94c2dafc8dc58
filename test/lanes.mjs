// Runs lanes of tests, one after the other: node test/lanes.mjs LANE… [options of tap]. The place of a test says its
// lane. What a lane needs is built first, and with `fast` the types are checked.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)

/**
 * Lanes that are a folder of `test`; `jobs`: files at once. One where a file brings a browser, several processes, or a
 * budget of time: two of them beside one another would measure each other.
 */
const folders = {
  e2e: { jobs: 2 },
  services: { jobs: 2 },
  sdks: { jobs: 1 },
  dashboard: { jobs: 1 },
  python: { jobs: 1 },
  faults: { jobs: 1 }
}
const names = ['fast', 'long', ...Object.keys(folders)]

const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.test.ts'))
  .sort()

/** The lane of a file, by its path below `test`. */
const laneOf = (file) => {
  const folder = file.split('/', 1)[0]
  if (Object.hasOwn(folders, folder)) return folder
  return file.endsWith('.long.test.ts') ? 'long' : 'fast'
}

/**
 * @param output where it writes to: this process's own output, or an open file
 * @returns the exit status; 1 where a signal ended it
 */
async function run(output, program, ...args) {
  const options = { cwd: root, stdio: ['inherit', output, output] }
  const [status] = await once(spawn(process.execPath, [program, ...args], options), 'exit')
  return status ?? 1
}

const isOption = (word) => word.startsWith('-')
const asked = process.argv.slice(2).filter((word) => !isOption(word))
const options = process.argv.slice(2).filter(isOption)
const wanted = asked.includes('all') ? names : asked
for (const name of wanted) if (!names.includes(name)) throw new Error(`no lane ${name}: ${names.join(', ')}, all`)

const seconds = (since) => Math.round((performance.now() - since) / 1000)
const told = []
let status = 0

async function stage(name, what) {
  const begun = performance.now()
  const failed = await what()
  told.push(`${failed === 0 ? 'pass' : 'FAIL'}  ${name}: ${seconds(begun)} s`)
  status ||= failed
}

// The programs that build and those that check types need nothing of each other.
await Promise.all([
  stage('build', () => run('inherit', 'config/build.mjs', '--if-stale')),
  ...(wanted.includes('fast') ? [stage('types', () => run('inherit', 'config/types.mjs'))] : [])
])

/** As many files, or fewer, make a small room: such rooms share a process. What lies above the rooms stands alone. */
const few = 3

/**
 * @param own files of the fast lane
 * @returns one file for each room, which brings all of the room's: to load the program and to compile the constitutions
 * takes longer than most files do. Those with the most files come first.
 */
function roomsOf(own) {
  const folder = join(root, '.tap/rooms')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const rooms = new Map()
  for (const file of own) {
    const room = file.split('/').at(1).replace('.test.ts', '')
    rooms.set(room, [...(rooms.get(room) ?? []), file])
  }
  const small = [...rooms].filter(([, members]) => members.length <= few && members[0].split('/').length > 2)
  for (const [room] of small) rooms.delete(room)
  rooms.set(
    'small',
    small.flatMap(([, members]) => members)
  )
  return [...rooms]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([room, members]) => {
      const imports = members.map((file) => `await import('../../${file}')`)
      const source = ["import '../../test/support/sole-domain.mjs'", "import t from 'tap'", ...imports]
      // Each file's own bound is on itself alone.
      writeFileSync(join(folder, `${room}.mjs`), [...source, 't.setTimeout(0)', ''].join('\n'))
      return `.tap/rooms/${room}.mjs`
    })
}

const tap = join(require.resolve('tap/package.json'), '..', require('tap/package.json').bin.tap)
async function lane(name, output = 'inherit') {
  const own = files.filter((file) => laneOf(file) === name).map((file) => `test/${file}`)
  const { jobs } = folders[name] ?? { jobs: 2 }
  await stage(`${name}, ${own.length} files`, () =>
    name === 'fast'
      ? run(output, 'test/support/rooms.mjs', `--jobs=${jobs}`, ...roomsOf(own))
      : run(output, tap, `--jobs=${jobs}`, ...options, ...own)
  )
}

/** Lanes of one file at a time that may stand beside the browser's, which waits more than it computes. */
const beside = ['sdks', 'python']

/** The lane of the browser with those beside it. Their output comes after its own: two reports in one are none. */
async function browserAndOthers(others) {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-lanes-'))
  const path = join(folder, 'output')
  const output = openSync(path, 'a')
  const aside = (async () => {
    for (const name of others) await lane(name, output)
  })()
  await Promise.all([lane('dashboard'), aside])
  closeSync(output)
  process.stdout.write(readFileSync(path))
  rmSync(folder, { recursive: true })
}

const others = wanted.includes('dashboard') ? wanted.filter((name) => beside.includes(name)) : []
for (const name of status === 0 ? wanted : []) {
  if (others.includes(name)) continue
  await (name === 'dashboard' ? browserAndOthers(others) : lane(name))
}
process.stderr.write(`\n${told.join('\n')}\n`)
process.exitCode = status
