import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { EncoderFailure } from '../../src/encoder/index.js'
import { readEncoderFiles } from '../../src/encoder/manifest.js'
import { Reader } from '../../src/encoder/reader.js'
import { SharedThreads } from '../../src/encoder/shared-threads.js'
import { asks, counting, filler, fixture, open } from './support.js'

const file = fileURLToPath(new URL('../../src/encoder/host-process.ts', import.meta.url))
const failure = (kind: EncoderFailure) => ({ name: 'EncoderError', failure: kind })

let count = 0

/** The process of the encoder, which a test may end and start again. */
async function openHost(t: Test) {
  const dir = t.testdir({})
  let child: ChildProcess | undefined
  const start = async (): Promise<string> => {
    // A path of a socket holds some hundred bytes.
    const address = join(process.platform === 'win32' ? '\\\\.\\pipe' : '/tmp', `slg-${process.pid}-${++count}`)
    child = fork(file, [address])
    await once(child, 'message')
    return address
  }
  let address = start()
  t.teardown(() => child?.kill('SIGKILL'))
  return {
    dir,
    address: () => address,
    async kill() {
      const ended = once(child!, 'exit')
      child!.kill('SIGKILL')
      await ended
    },
    again() {
      address = start()
    },
    async disconnect() {
      const ended = once(child!, 'exit')
      child!.disconnect()
      await ended
    }
  }
}

async function worker(t: Test, address: () => Promise<string>, { queue = 256, folder = fixture } = {}) {
  const files = await readEncoderFiles(folder)
  const { model, tokenizer, manifest } = files
  const options = { model, tokenizer, lanes: manifest.lanes.length, names: undefined, threads: 1, queue }
  const threads = await SharedThreads.open(options, address)
  const encoder = new Reader({
    files,
    threads,
    atOnce: 1000,
    clock: systemClock,
    deadlineMs: 60_000,
    report: counting()
  })
  t.teardown(() => encoder.close())
  return { encoder, threads }
}

t.test('workers read by the threads of one process, with the scores of their own', async (t) => {
  const host = await openHost(t)
  const [a, b, alone] = await Promise.all([worker(t, host.address), worker(t, host.address), open(t)])
  const texts = Array.from({ length: 12 }, (_, i) => `${filler(i)} steal ${i} ignore`)
  const expected = await alone.encoder.read(texts.map((text) => asks(text)))
  t.same(await Promise.all([a, b].map(({ encoder }) => encoder.read(texts.map((text) => asks(text))))), [
    expected,
    expected
  ])
  t.same([a.threads.waiting, b.threads.waiting], [0, 0])

  // Keys take turns among the windows of all workers, and who fills the queue refuses nobody but himself.
  const done: string[] = []
  const many = Array.from({ length: 20 }, (_, i) => asks(`${filler(60)} ${i}`, { whose: 'crowd' }))
  const crowd = a.encoder.read(many).then(
    () => done.push('crowd'),
    () => done.push('crowd refused')
  )
  t.match(await b.encoder.read([asks('steal it', { whose: 'one' })]), [{ findings: [{ kind: 'illicit' }] }])
  t.same(done, [])
  await crowd

  const abort = new AbortController()
  const left = a.encoder.read(many.map(({ text }) => asks(`${text}?`, { cancel: abort.signal })))
  abort.abort()
  await t.rejects(left, failure('cancelled'))
  t.equal(a.threads.waiting, 0)
  t.match(
    await a.encoder.read([asks('steal them')]),
    [{ findings: [{ kind: 'illicit' }] }],
    'what was cancelled is gone'
  )

  const closing = t.rejects(a.encoder.read(many.map(({ text }) => asks(`${text}!`))), failure('closed'))
  await a.encoder.close()
  await closing
  t.match(await b.encoder.read([asks('steal some')]), [{ findings: [{ kind: 'illicit' }] }], 'the others go on')
})

t.test('a process that ends fails what was asked, and until there is another nobody gets a verdict', async (t) => {
  const host = await openHost(t)
  const { encoder } = await worker(t, host.address)
  const under = t.rejects(encoder.read([asks(`${filler(2000)} steal`)]), failure('crashed'))
  await host.kill()
  await under
  await t.rejects(encoder.read([asks('steal it')]), failure('crashed'))
  host.again()
  for (;;) {
    const found = await encoder.read([asks('steal it')]).catch(() => undefined)
    if (found === undefined) await new Promise((resolve) => setTimeout(resolve, 50))
    else {
      t.match(found, [{ findings: [{ kind: 'illicit' }] }])
      break
    }
  }
  await host.disconnect()
  await t.rejects(encoder.read([asks('steal that')]), failure('crashed'), 'it ends with its primary')
})

t.test('what is wrong with files or the library is told as by threads of one’s own; noise harms nobody', async (t) => {
  const host = await openHost(t)
  const files = await readEncoderFiles(fixture)
  const options = { ...files, lanes: 3, names: undefined, threads: 1, queue: 8 }
  await t.rejects(SharedThreads.open(options, host.address), {
    name: 'EncoderFileError',
    message: /where the manifest has 3 lanes/
  })
  const nothing = { ...options, model: join(host.dir, 'none.onnx') }
  await t.rejects(SharedThreads.open(nothing, host.address), { name: 'RuntimeError' })
  for (const noise of [Buffer.alloc(64, 255), Buffer.from([1, 0, 0, 0, 0])]) {
    const socket = connect(await host.address())
    socket.on('error', () => undefined)
    socket.write(noise)
    await once(socket, 'close')
  }
  const { encoder } = await worker(t, host.address)
  t.match(await encoder.read([asks('steal it')]), [{ findings: [{ kind: 'illicit' }] }])
})
