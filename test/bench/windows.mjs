/**
 * What made-up texts of everyday kinds take of the encoder: `node test/bench/windows.mjs [OTHER_DIST]`, after
 * `npm run build`. Per shape of text and speaker the windows that are read and the processor time of all threads, each the
 * mean of `EACH` texts (5) of `LEN` characters (4000); with a second build both in turns, and their ratio.
 */
import { createHash } from 'node:crypto'
import { fileURLToPath, pathToFileURL } from 'node:url'

const length = Number(process.env['LEN'] ?? 4000)
const each = Number(process.env['EACH'] ?? 5)
const own = fileURLToPath(new URL('../../dist', import.meta.url))
const dists = process.argv[2] === undefined ? [own] : [process.argv[2], own]

let drawn = 0
/** Bytes that are the same in every run. */
function noise(bytes) {
  const blocks = Array.from({ length: Math.ceil(bytes / 32) }, () => createHash('sha256').update(`${drawn++}`).digest())
  return Buffer.concat(blocks).subarray(0, bytes)
}
const number = (below) => noise(4).readUInt32LE() % below
const pick = (list) => list[number(list.length)]
const hex = (bytes) => noise(bytes).toString('hex')
const words =
  'river stone paper window garden yellow music letter bridge winter coffee market doctor school kettle engine'.split(
    ' '
  )
const thai = ['น้ำ', 'ตอนเช้า', 'ทำอาหาร', 'กระดาษ', 'หน้าต่าง', 'คำถาม']

function filled(line) {
  let text = ''
  while (text.length < length) text += line()
  return text.slice(0, length)
}

const shapes = {
  prose: () => filled(() => `${pick(words)} ${pick(words)} ${pick(words)}. `),
  'a page with a picture': () =>
    `Why does it not show?\n<img src="data:image/png;base64,${noise((length * 3) / 4).toString('base64')}">\n<p>Thanks.</p>`,
  'a certificate': () =>
    `-----BEGIN CERTIFICATE-----\n${noise((length * 3) / 4)
      .toString('base64')
      .replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----`,
  'a lock file': () => filled(() => `"integrity": "sha512-${noise(64).toString('base64')}",\n`),
  'hashes of files': () => filled(() => `${hex(32)}  ${pick(words)}.txt\n`),
  UUIDs: () => filled(() => `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-a${hex(2).slice(1)}-${hex(6)}\n`),
  'a log': () =>
    filled(() => `2024-01-0${1 + number(9)}T12:00:0${number(9)}Z [${hex(4)}] ERROR ${pick(words)}: 0x${hex(8)}\n`),
  addresses: () => filled(() => `https://${pick(words)}.example.com/${hex(8)}?q=${hex(4)}&t=${number(1e9)}\n`),
  'a table of numbers': () => filled(() => `${Array.from({ length: 8 }, () => number(1e7) / 100).join(',')}\n`),
  'Thai words': () => filled(() => `${pick(thai)} `)
}

const builds = await Promise.all(dists.map(open))
for (const build of builds) for (const make of Object.values(shapes)) await build.judge(make(), 'user')
console.log(`| text of ${length} characters | speaker | windows | ms CPU |${builds.length > 1 ? ' × CPU |' : ''}`)
for (const [name, make] of Object.entries(shapes)) {
  for (const role of ['user', 'tool']) {
    const sums = builds.map(() => ({ windows: 0, ms: 0 }))
    for (let i = 0; i < each; i++) {
      const text = make()
      for (const [b, build] of builds.entries()) {
        const { windows, ms } = await build.judge(text, role)
        sums[b].windows += windows / each
        sums[b].ms += ms / each
      }
    }
    const told = (of) => sums.map(of).join(' → ')
    const ratio = sums.length > 1 ? ` ${(sums[1].ms / sums[0].ms).toFixed(2)} |` : ''
    console.log(
      `| ${name} | ${role} | ${told((s) => s.windows.toFixed(0))} | ${told((s) => s.ms.toFixed(0))} |${ratio}`
    )
  }
}
process.exit(0)

async function open(dist) {
  const load = (name) => import(pathToFileURL(`${dist}/${name}`).href)
  const { createEvaluator } = await load('policy/evaluate/evaluator.js')
  const { shippedConstitutions } = await load('config/load.js')
  const { systemClock } = await load('base/clock.js')
  const { openEncoder, noReport } = await load('encoder/open.js')
  let windows = 0
  const report = {
    ...noReport,
    windows(from, count) {
      if (from === 'model') windows += count
    }
  }
  const folder = fileURLToPath(new URL('../../config/models', import.meta.url))
  const settings = { use: 'required', folder, threads: 1, queue: 4096, deadlineMs: Number.POSITIVE_INFINITY }
  const { encoder } = await openEncoder(settings, { clock: systemClock, report, crashed() {} })
  const evaluator = await createEvaluator({
    constitutions: { default: shippedConstitutions().default },
    clock: systemClock,
    deadlineMs: 30_000,
    encoder
  })
  return {
    async judge(text, role) {
      windows = 0
      const before = process.cpuUsage()
      await evaluator.evaluate({ parts: [{ role, text, pointer: '' }], joined: [], direction: 'request' }, 'default')
      const { user, system } = process.cpuUsage(before)
      return { windows, ms: (user + system) / 1000 }
    }
  }
}
