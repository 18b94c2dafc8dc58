import t, { type Test } from 'tap'
import { Fault } from '../../src/base/errors.js'
import type { Reading } from '../../src/files/file.js'
import type { Start } from '../../src/files/isolation.js'
import { Memory } from '../../src/files/memory.js'
import { FilesError, findPackages, packages, picturePackages } from '../../src/files/packages.js'
import { type Job, Pool } from '../../src/files/pool.js'

/** A child of which the name of a file says what it does. */
const script = `
const frame = (value) => { const body = Buffer.from(JSON.stringify(value)); const head = Buffer.alloc(4); head.writeUInt32BE(body.length); return Buffer.concat([head, body]) }
const answer = (text, where = 'text') => { process.stdout.write(frame({ text, where })); process.stdout.write(frame({ whole: true, kind: 'text', hasPictures: false })) }
let got = Buffer.alloc(0)
process.stdin.on('data', (part) => {
  got = Buffer.concat([got, part])
  for (;;) {
    if (got.length < 4) return
    const length = got.readUInt32BE(0)
    if (got.length < 4 + length) return
    const head = JSON.parse(got.toString('utf8', 4, 4 + length))
    if (got.length < 4 + length + head.size) return
    const bytes = got.subarray(4 + length, 4 + length + head.size)
    got = got.subarray(4 + length + head.size)
    const { name } = head
    if (name === 'slow') for (;;);
    if (name === 'large') { const kept = []; setInterval(() => kept.push(Buffer.alloc(64 * 1024 * 1024, 1)), 5); continue }
    if (name === 'crash') process.exit(3)
    if (name === 'lies') { answer('x', '<script>'); continue }
    if (name === 'floods') { process.stdout.write(Buffer.alloc(8, 255)); continue }
    if (name === 'waits') { setTimeout(() => answer('waited'), 300); continue }
    answer(name === 'pid' ? String(process.pid) : bytes.toString())
  }
})
process.stdout.write(frame({ ready: true }))
`
const start: Start = { program: process.execPath, args: ['-e', script], env: {} }
/** The deadline is one that no other end can miss, however busy the machine is. */
const settings = { processes: 1, queue: 8, deadlineMs: 60_000, memoryBytes: 400 * 1024 ** 2 }

async function open(t: Pick<Test, 'teardown'>, own: Partial<typeof settings> = {}, from = start) {
  const pool = new Pool(from, { ...settings, ...own })
  t.teardown(() => pool.close())
  await pool.open()
  return (
    name: string,
    {
      whose = 'k',
      content = '',
      isGone = () => false
    }: Partial<Pick<Job, 'whose' | 'isGone'>> & { content?: string } = {}
  ) =>
    pool.read({
      whose,
      head: { size: Buffer.byteLength(content), type: '', name, readsPictures: false },
      parts: [Buffer.from(content)],
      isGone
    })
}

const said = (reading: Reading) => (reading.whole ? reading.texts[0]!.text : reading.reason)

t.test('a child that does not end, grows, crashes or says what it should not is replaced', async (t) => {
  const rows = [
    ['slow', 'too_slow', 2_000],
    ['large', 'too_large', settings.deadlineMs],
    ['crash', 'reader_failed', settings.deadlineMs],
    ['lies', 'reader_failed', settings.deadlineMs],
    ['floods', 'reader_failed', settings.deadlineMs]
  ] as const
  for (const [name, reason, deadlineMs] of rows) {
    const read = await open(t, { deadlineMs })
    t.equal(said(await read('a', { content: 'first' })), 'first')
    t.equal(said(await read(name)), reason, name)
    t.equal(said(await read('a', { content: name })), name, 'the next file is read')
  }
})

t.test('files are read one after the other, and keys take turns', async (t) => {
  const read = await open(t)
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  const first = read('waits').then(note('first'))
  const many = ['a1', 'a2'].map((name) => read('a', { whose: 'a' }).then(note(name)))
  const other = read('a', { whose: 'b' }).then(note('b'))
  await Promise.all([first, ...many, other])
  t.same(order, ['first', 'a1', 'b', 'a2'])
})

t.test('a key that sends slow files lets a small one of another key go before its next', async (t) => {
  const read = await open(t)
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  // The first is under way when the others come, so that only its time says who is next.
  const flood = ['a1', 'a2', 'a3'].map((name) => read('waits', { whose: 'a' }).then(note(name)))
  const small = read('a', { whose: 'b' }).then(note('b1'))
  await small
  const next = read('a', { whose: 'b' }).then(note('b2'))
  await Promise.all([...flood, next])
  t.same(order.slice(0, 2), ['a1', 'b1'])
  t.ok(order.indexOf('b2') < order.indexOf('a3'), 'and its next one too')
})

t.test('a file that is ended for its time counts as much', async (t) => {
  const read = await open(t, { deadlineMs: 2_000 })
  const order: string[] = []
  const slow = ['a1', 'a2'].map((name) => read('slow', { whose: 'a' }).then(() => order.push(name)))
  const small = read('a', { whose: 'b' }).then((reading) => order.push(said(reading) === '' ? 'b' : 'b unread'))
  await Promise.all([...slow, small])
  t.same(order, ['a1', 'b', 'a2'])
})

t.test('beyond the queue a file is refused at once, with the time to come again', async (t) => {
  const read = await open(t)
  const under = [read('waits'), read('a'), read('a')]
  await t.rejects(read('a'), { code: 'overloaded', headers: { 'retry-after': '2' } }, 'a quarter of it for one key')
  under.push(...['b', 'c', 'd'].flatMap((whose) => [read('a', { whose }), read('a', { whose })]))
  await t.rejects(read('a', { whose: 'e' }), Fault)
  await Promise.all(under)
  t.equal(said(await read('a', { content: 'again' })), 'again')
})

t.test('what nobody waits for any more is not read', async (t) => {
  const read = await open(t)
  const first = read('waits')
  const gone = read('slow', { whose: 'b', isGone: () => true })
  await first
  t.equal(said(await gone), 'reader_failed')
})

t.test('where no child starts, nothing opens', async (t) => {
  const pool = new Pool({ ...start, args: ['-e', 'console.error("no such flag"); process.exit(1)'] }, settings)
  await t.rejects(pool.open(), { message: /did not start: no such flag/ })
  pool.close()
})

t.test('readings are remembered for an account, and not for another', async (t) => {
  const memory = new Memory()
  const digest = (account: string, name: string, readsPictures = false) =>
    memory.digest(account, { type: '', name, readsPictures }).update('bytes').digest('base64')
  memory.set(digest('a', 'x'), { whole: false, reason: 'macros' })
  t.same(memory.get(digest('a', 'x')), { whole: false, reason: 'macros' })
  t.equal(memory.get(digest('b', 'x')), undefined)
  t.equal(memory.get(digest('a', 'y')), undefined)
  t.equal(memory.get(digest('a', 'x', true)), undefined, 'what was read without its pictures')
  t.not(
    digest('a', 'x'),
    new Memory().digest('a', { type: '', name: 'x', readsPictures: false }).update('bytes').digest('base64')
  )
  memory.set(digest('a', 'slow'), { whole: false, reason: 'too_slow' })
  t.equal(memory.get(digest('a', 'slow')), undefined)
})

t.test('without its packages nothing starts, and the message says what to install', async (t) => {
  const without =
    (...names: string[]) =>
    (name: string) => {
      if (names.includes(name)) throw new Error('none')
      return name
    }
  t.throws(() => findPackages([], without('saxes')), {
    name: 'FilesError',
    message: /\(saxes\)\. Install them: npm install unpdf@/
  })
  t.throws(() => findPackages([], without(...Object.keys(packages))), FilesError)
  t.doesNotThrow(() => findPackages([], without('tesseract.js-core')), 'where no pictures are read')
  t.throws(() => findPackages(['eng', 'deu'], without('@tesseract.js-data/deu')), {
    message:
      /\(@tesseract\.js-data\/deu\)\. Install them: .* tesseract\.js-core@7\.0\.0 .*@tesseract\.js-data\/deu@1\.0\.0$/
  })
  t.equal(findPackages([]).entries.length, Object.keys(packages).length)
  t.match(findPackages(['eng']).languages, [/4\.0\.0_best_int\/eng\.traineddata\.gz$/])
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
  t.same({ ...packages, ...picturePackages }, manifest.optionalDependencies)
})
