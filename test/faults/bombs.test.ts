/** Bodies that are small to send and large to take: refused, cheaply, and the process keeps its size. */
import zlib from 'node:zlib'
import t from 'tap'
import { generateKey } from '../../src/identity/key-format.js'
import { call } from '../support/gateway.js'
import { smallConstitution, startNode } from '../support/node.js'
import { isFull, promise } from './report.js'

t.setTimeout(600_000)
const key = generateKey('live')
const path = '/api/v1/safety/evaluate'
const mebibyte = 1024 * 1024
const fine = '{"input_text":"hello"}'
const zstd = (zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer }).zstdCompressSync

/** Zeros and spaces that unpack to many times their size; each just below the limit of a body as it is sent. */
function bombs(): [name: string, coding: string, bytes: Buffer, statuses: number[]][] {
  const spaces = Buffer.alloc((isFull ? 512 : 16) * mebibyte, 0x20)
  const gzip = zlib.gzipSync(spaces, { level: 9 })
  const small = Buffer.alloc(mebibyte / 4, 0x20)
  const coders: [string, (bytes: Buffer) => Buffer][] = [
    ['gzip', (bytes) => zlib.gzipSync(bytes)],
    ['deflate', (bytes) => zlib.deflateSync(bytes)],
    ['br', (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } })],
    ...(zstd === undefined ? [] : [['zstd', zstd] as [string, (bytes: Buffer) => Buffer]])
  ]
  const all: [string, string, Buffer, number[]][] = [
    ['gzip, large', 'gzip', gzip, [413]],
    ['gzip, many members', 'gzip', Buffer.concat(Array.from({ length: 200 }, () => zlib.gzipSync(small))), [413]],
    ['gzip, nested', 'gzip', zlib.gzipSync(gzip), [400, 413]],
    ['gzip, without zlib', 'deflate', zlib.deflateRawSync(Buffer.from(fine)), [415]],
    ['gzip, cut', 'gzip', zlib.gzipSync(Buffer.from(fine)).subarray(0, -9), [415]],
    ['gzip, wrong checksum', 'gzip', flip(zlib.gzipSync(Buffer.from(fine)), -6), [415]],
    ['gzip, nothing', 'gzip', zlib.gzipSync(Buffer.alloc(0)), [400]],
    [
      'gzip, empty members',
      'gzip',
      Buffer.concat(Array.from({ length: 20_000 }, () => zlib.gzipSync(Buffer.alloc(0)))),
      [400, 415]
    ],
    ['two names', 'gzip, gzip', gzip, [415]],
    ['another case', 'GZIP', gzip, [413]]
  ]
  for (const [coding, pack] of coders) {
    all.push([`${coding}, large`, coding, pack(spaces.subarray(0, 64 * mebibyte)), [413]])
    all.push([`${coding}, a little too large`, coding, pack(Buffer.alloc(mebibyte + 1, 0x20)), [413]])
    const trailing = Buffer.concat([pack(Buffer.from(fine)), Buffer.from('{"input_text":"other"}')])
    // What is judged is what is taken: nothing that follows is ever looked at, or all of it is refused.
    all.push([`${coding}, with something after it`, coding, trailing, [200, 415]])
    all.push([`${coding}, fine`, coding, pack(Buffer.from(fine)), [200]])
  }
  return all
}

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[copy.length + at]! ^= 0xff
  return copy
}

/** Costly texts within the limit of a body. */
const costly: [string, string, number[]][] = [
  ['a million brackets', '['.repeat(1_000_000), [400]],
  ['a million objects', '{"a":'.repeat(200_000), [400]],
  ['a hundred thousand keys', `{${Array.from({ length: 90_000 }, (_, i) => `"k${i}":1`).join(',')}}`, [422]],
  ['half a million digits', `{"input_text":"x","context":{"n":0.${'1'.repeat(500_000)}}}`, [200, 400]],
  ['half a million digits of a whole number', `{"input_text":"x","context":{"n":${'1'.repeat(500_000)}}}`, [400]],
  ['a huge exponent', `{"input_text":"x","context":{"n":1e${'9'.repeat(100_000)}}}`, [400]],
  ['a million backslashes', `{"input_text":"${'\\\\'.repeat(450_000)}"}`, [400]],
  ['a string that does not end', `{"input_text":"${'\\"'.repeat(500_000)}`, [400]],
  ['the same key, 50,000 times', `{${'"a":1,'.repeat(49_999)}"a":1}`, [422]],
  ['keys that share their hash', `{${Array.from({ length: 40_000 }, (_, i) => `"${i * 65_536}":1`).join(',')}}`, [422]],
  ['escapes', `{"input_text":"${'\\u0041'.repeat(99_000)}"}`, [200]],
  ['white space', `{"input_text":"x"${' '.repeat(1_000_000)}}`, [200]]
]

t.test('bombs', async (t) => {
  const node = await startNode(t, { ...smallConstitution(t), SLUICEGATE_BOOTSTRAP_KEY: key })
  const rss = async () =>
    Number(/^process_resident_memory_bytes (\S+)/m.exec(await (await fetch(`${node.opsUrl}/metrics`)).text())![1])
  const packed = bombs()
  const send = async (coding: string | undefined, body: Buffer | string) => {
    const headers = {
      'x-api-key': key,
      'content-type': 'application/json',
      ...(coding && { 'content-encoding': coding })
    }
    const response = await fetch(node.url + path, {
      method: 'POST',
      headers,
      body: body as RequestInit['body'] & string
    })
    await response.text()
    return response.status
  }
  const inflight = isFull ? 8 : 3
  // What ordinary bodies of the same size take, and what judges long texts: both are there before.
  const large = JSON.stringify({ input_text: 'word '.repeat(19_000) }).padEnd(mebibyte - 100)
  for (let i = 0; i < (isFull ? 40 : 4); i++) {
    const seen = await Promise.all(Array.from({ length: inflight }, () => send(undefined, large)))
    t.ok(
      seen.every((status) => status === 200),
      `ordinary bodies: ${seen}`
    )
  }
  const before = await rss()
  let most = before
  let watching = true
  const watch = (async () => {
    while (watching) {
      most = Math.max(most, await rss())
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  let wrong = 0
  let slowest = 0
  let slowestName = ''
  for (let round = 0; round < (isFull ? 20 : 1); round++) {
    for (const [name, coding, bytes, statuses] of packed) {
      const seen = await Promise.all(Array.from({ length: inflight }, () => send(coding, bytes)))
      const odd = seen.filter((status) => !statuses.includes(status))
      wrong += odd.length
      if (odd.length > 0) t.fail(`${name}: ${odd}`)
    }
    for (const [name, text, statuses] of costly) {
      const began = performance.now()
      const status = await send(undefined, text)
      if (performance.now() - began > slowest) [slowest, slowestName] = [performance.now() - began, name]
      if (statuses.includes(status)) continue
      wrong++
      t.fail(`${name}: ${status}`)
    }
  }
  watching = false
  await watch
  const grown = (most - before) / mebibyte
  const bar = 64 + 4 * inflight
  promise(
    t,
    'bombs and costly bodies',
    `${wrong} told wrongly, ${packed.length + costly.length} kinds, ${grown.toFixed(0)} MiB grown, slowest ${slowest.toFixed(0)} ms (${slowestName})`,
    `0, ${bar} MiB${isFull ? '' : ' (not held to in the short form)'}`,
    wrong === 0 && (grown <= bar || !isFull)
  )
  t.equal((await call(node.url, path, { key, body: fine })).status, 200)
})
