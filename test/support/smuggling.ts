/**
 * Requests that two servers read differently, after the corpora of PortSwigger's HTTP Request Smuggler, the HTTP Garden
 * and llhttp's own tests, written here from RFC 9112. Each holds a second request where one of the readings has a body.
 */

export interface Payload {
  name: string
  bytes: string
  /** By the letter of RFC 9112 the second request is one of its own, or may be taken for one. */
  two?: boolean
}

export interface Parts {
  /** Request line, without its end. */
  line: string
  /** Headers besides those of the framing, each with its end. */
  headers: string
  /** A whole body, JSON. */
  body: string
  /** What is smuggled: a request, whole or begun. */
  second: string
}

const codings = [
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding: chunked x',
  'Transfer-Encoding: x chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: chunked,',
  'Transfer-Encoding: ,chunked',
  'Transfer-Encoding: , chunked ,',
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding: chunked; ext',
  'Transfer-Encoding: "chunked"',
  "Transfer-Encoding: 'chunked'",
  'Transfer-Encoding:',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding: \x0cchunked',
  'Transfer-Encoding: chunked\x0b',
  'Transfer-Encoding: chunked\x00',
  'Transfer-Encoding: \x00chunked',
  'Transfer-Encoding: chun\x00ked',
  'Transfer-Encoding: \xa0chunked',
  'Transfer-Encoding: chunked\xa0',
  'Transfer-Encoding: \xefchunked',
  'Transfer-Encoding: c\u017funked',
  'Transfer-Encoding: chunKed\u212a',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\t: chunked',
  'Transfer-Encoding\x0b: chunked',
  'Transfer-Encoding\x00: chunked',
  'Transfer\x00-Encoding: chunked',
  'Transfer-Encoding\xa0: chunked',
  ' Transfer-Encoding: chunked',
  '\tTransfer-Encoding: chunked',
  'X: y\r\n Transfer-Encoding: chunked',
  'X: y\nTransfer-Encoding: chunked',
  'X: y\rTransfer-Encoding: chunked',
  'X: y\r\r\nTransfer-Encoding: chunked',
  'X: y\x00\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding:\n chunked',
  'Transfer-Encoding: chunked\r\n ',
  'Transfer-Encoding: chunked\r\n , identity',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-encoding: x',
  'Transfer-Encoding: x\r\nTransfer-Encoding: chunked',
  'Transfer_Encoding: chunked',
  'Transfer.Encoding: chunked',
  'Transfer Encoding: chunked',
  'Transfer-Encodin\\g: chunked',
  'X-Transfer-Encoding: chunked',
  'Content-Encoding: chunked',
  'TE: chunked',
  'Connection: transfer-encoding\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked',
  'TRANSFER-ENCODING: CHUNKED',
  'Transfer-Encoding:chunked',
  'Transfer-Encoding: \tchunked',
  'Transfer-Encoding: chunked \t'
]

const lengths: readonly ((length: number) => string)[] = [
  (n) => `Content-Length: ${n}\r\nContent-Length: ${n + 5}`,
  (n) => `Content-Length: ${n}\r\nContent-Length: 0`,
  (n) => `Content-Length: 0\r\nContent-Length: ${n}`,
  (n) => `Content-Length: ${n}\r\ncontent-length: ${n}`,
  (n) => `Content-Length: ${n}, ${n}`,
  (n) => `Content-Length: ${n}, 0`,
  (n) => `Content-Length: 0, ${n}`,
  (n) => `Content-Length: ${n},`,
  (n) => `Content-Length: ,${n}`,
  (n) => `Content-Length: +${n}`,
  (n) => `Content-Length: -${n}`,
  (n) => `Content-Length: ${n}.0`,
  (n) => `Content-Length: ${n}e0`,
  (n) => `Content-Length: 0x${n.toString(16)}`,
  (n) => `Content-Length: 0${n.toString(8)}o`,
  (n) => `Content-Length: 0b${n.toString(2)}`,
  (n) => `Content-Length: ${n}_0`,
  (n) => `Content-Length: ${n} 0`,
  (n) => `Content-Length: ${n};x`,
  (n) => `Content-Length: "${n}"`,
  (n) => `Content-Length: ${n}\x00`,
  (n) => `Content-Length: \x00${n}`,
  (n) => `Content-Length: \x0b${n}`,
  (n) => `Content-Length: ${n}\x0b`,
  (n) => `Content-Length: \xa0${n}`,
  (n) => `Content-Length: ${n + 2 ** 32}`,
  (n) => `Content-Length: ${(2n ** 64n + BigInt(n)).toString()}`,
  (n) => `Content-Length: ${'9'.repeat(400)}${n}`,
  () => 'Content-Length:',
  () => 'Content-Length: x',
  (n) => `Content-Length : ${n}`,
  (n) => `Content-Length\t: ${n}`,
  (n) => `Content-Length\x0b: ${n}`,
  (n) => `Content-Length\x00: ${n}`,
  (n) => ` Content-Length: ${n}`,
  (n) => `X: y\r\n Content-Length: ${n}`,
  (n) => `X: y\nContent-Length: ${n}`,
  (n) => `X: y\rContent-Length: ${n}`,
  (n) => `Content-Length:\r\n ${n}`,
  (n) => `Content_Length: ${n}`,
  (n) => `Connection: content-length\r\nContent-Length: ${n}`,
  (n) => `Content-Length: ${'0'.repeat(20)}${n}`
]

/** One chunk of five bytes, however it is told; what follows says that the body has ended. */
const chunks = [
  '+5\r\nhello\r\n',
  '-5\r\nhello\r\n',
  ' 5\r\nhello\r\n',
  '5 \r\nhello\r\n',
  '\t5\r\nhello\r\n',
  '0x5\r\nhello\r\n',
  '5_\r\nhello\r\n',
  '5\nhello\r\n',
  '5\r\nhello\n',
  '5\rhello\r\n',
  '5\r\nhello\r',
  '5\r\nhello',
  '5\r\nhelloXX\r\n',
  '5\r\nhell\r\n',
  '5\r\n\r\nhello\r\n',
  '\r\n5\r\nhello\r\n',
  '5;\nhello\r\n',
  '5;a\nb\r\nhello\r\n',
  '5;a=b\rc\r\nhello\r\n',
  '5;a="\r\n0\r\n\r\n"\r\nhello\r\n',
  '5;a\x00b\r\nhello\r\n',
  '5\x00\r\nhello\r\n',
  '5\x0b\r\nhello\r\n',
  '10000000000000005\r\nhello\r\n',
  'ffffffffffffffff\r\nhello\r\n',
  '7fffffffffffffff\r\nhello\r\n',
  '-0\r\n\r\n',
  '0_0\r\n\r\n',
  'g\r\nhello\r\n',
  '\r\n',
  ';\r\nhello\r\n',
  '5, 5\r\nhello\r\n'
]
const chunkEnds = [
  '0\r\n\r\n',
  '0\n\n',
  '0\r\n\n',
  '0\r\r',
  '00000000000\r\n\r\n',
  '0;x=y\r\n\r\n',
  '0;x\ny\r\n\r\n',
  '0\r\nContent-Length: 5\r\n\r\n',
  '0\r\nTransfer-Encoding: chunked\r\n\r\n',
  '0\r\nHost: other\r\n\r\n',
  '0\r\nX-API-Key: other\r\n\r\n',
  '0\r\nX: y\n\r\n',
  '0\r\n X: y\r\n\r\n',
  '0\r\nX y\r\n\r\n',
  '0\r\n',
  '0'
]

export function* smuggled({ line, headers, body, second }: Parts): Generator<Payload> {
  const head = `${line}\r\n${headers}`
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n`
  for (const coding of codings) {
    const all = `0\r\n\r\n${second}`
    // CL.TE: the length covers all, the coding ends before the second request.
    yield { name: `CL.TE, ${coding}`, bytes: `${head}Content-Length: ${all.length}\r\n${coding}\r\n\r\n${all}` }
    // TE.CL: the coding covers all, the length ends in the chunk's size.
    const within = `${second.length.toString(16)}\r\n${second}\r\n0\r\n\r\n`
    const size = second.length.toString(16).length + 2
    // Headers of another name, with which the length alone counts.
    const isOther = /^(?:Transfer[_.]Encoding|X-Transfer-Encoding|Content-Encoding|TE):/.test(coding)
    yield {
      name: `TE.CL, ${coding}`,
      bytes: `${head}Content-Length: ${size}\r\n${coding}\r\n\r\n${within}`,
      two: isOther
    }
    yield { name: `TE alone, ${coding}`, bytes: `${head}${coding}\r\n\r\n${chunked}0\r\n\r\n`, two: true }
  }
  for (const [i, length] of lengths.entries()) {
    const named = length(7).slice(0, 60)
    yield {
      name: `length ${i}, ${named}`,
      bytes: `${head}${length(body.length)}\r\n\r\n${body}${second}`,
      two: i === 41 || i === 40
    }
    yield {
      name: `length ${i} over all, ${named}`,
      bytes: `${head}${length(body.length + second.length)}\r\n\r\n${body}${second}`
    }
  }
  for (const chunk of chunks) {
    yield {
      name: `chunk ${chunk}`,
      bytes: `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n${second}`,
      two: /^5;a="/.test(chunk)
    }
  }
  for (const [i, end] of chunkEnds.entries()) {
    yield {
      name: `end of chunks ${end}`,
      bytes: `${head}Transfer-Encoding: chunked\r\n\r\n${chunked}${end}${second}`,
      two: [0, 4, 5, 7, 8, 9, 10].includes(i)
    }
  }
  const sized = `Content-Length: ${body.length}\r\n`
  const coded = 'Transfer-Encoding: chunked\r\n'
  const [method, target] = line.split(' ') as [string, string]
  const lines: [string, boolean?][] = [
    [`${method} ${target} HTTP/1.0`],
    [`${method} ${target} HTTP/0.9`],
    [`${method} ${target} HTTP/1.2`],
    [`${method} ${target} HTTP/2.0`],
    [`${method} ${target} HTTP/3`],
    [`${method} ${target} http/1.1`],
    [`${method} ${target} HTTP/1.1 `],
    [`${method} ${target} HTTP/1.1x`],
    [`${method} ${target} HTTP/01.1`],
    [`${method} ${target} HTTP /1.1`],
    // Read leniently, as section 3 allows, and in one way.
    [`${method}  ${target} HTTP/1.1`, true],
    [`${method} ${target}  HTTP/1.1`, true],
    [`${method}\t${target}\tHTTP/1.1`],
    [` ${method} ${target} HTTP/1.1`],
    [`${method} ${target}`],
    [`${method} ${target}\rHTTP/1.1`],
    [`${method} http://gateway${target} HTTP/1.1`, true],
    [`${method} gateway:80 HTTP/1.1`],
    [`${method} ${target} HTTP/1.1\rX: y`],
    [`\r\n${method} ${target} HTTP/1.1`, true],
    [`X\r\n${method} ${target} HTTP/1.1`],
    [`\0${method} ${target} HTTP/1.1`],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n']
  ]
  for (const [other, two] of lines) {
    yield {
      name: `line ${other}`,
      bytes: `${other}\r\n${headers}${coded}\r\n${chunked}0\r\n\r\n${second}`,
      two: two ?? false
    }
  }
  const odd: [string, boolean?][] = [
    ['Host: other\r\n'],
    ['host : other\r\n'],
    ['Expect: 100-continue, x\r\n'],
    ['Expect: x\r\n'],
    ['Expect: 100-continue\r\n', true],
    ['Expect: \x00100-continue\r\n'],
    [': empty\r\n'],
    ['no colon\r\n'],
    ['a b: c\r\n'],
    ['a(b: c\r\n'],
    ['a: b\x00c\r\n'],
    ['a: b\nc: d\r\n'],
    ['a: b\rc\r\n'],
    ['a\x7f: b\r\n'],
    ['\xe9: b\r\n'],
    ['a: b\r\n\tc\r\n'],
    [`a: ${'x'.repeat(20_000)}\r\n`],
    ['a: b\r\n'.repeat(200)],
    ['a: b\r\n'.repeat(2_001)],
    ['Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings\r\n', true],
    ['Upgrade: h2c\r\nConnection: Upgrade\r\n', true],
    [
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
      true
    ],
    ['Upgrade: TLS/1.0\r\nConnection: Upgrade\r\n', true],
    ['Connection: content-length\r\n', true],
    ['Connection: transfer-encoding, x-api-key, host\r\n', true],
    ['Connection: close\r\n'],
    ['Proxy-Connection: keep-alive\r\n', true],
    ['Keep-Alive: timeout=1\r\n', true],
    ['TE: trailers, deflate\r\n', true],
    ['Trailer: Content-Length\r\n', true],
    ['__proto__: x\r\n', true],
    ['constructor: x\r\n', true]
  ]
  for (const [more, two] of odd) {
    yield {
      name: `header ${more.slice(0, 40)}`,
      bytes: `${head}${more}${sized}\r\n${body}${second}`,
      two: two ?? false
    }
  }
  // A body on methods that have none, line ends of one character, and what comes after a refusal.
  for (const other of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT']) {
    yield {
      name: `a length on ${other}`,
      bytes: `${other} ${target} HTTP/1.1\r\n${headers}Content-Length: ${second.length}\r\n\r\n${second}`
    }
    yield {
      name: `chunks on ${other}`,
      bytes: `${other} ${target} HTTP/1.1\r\n${headers}${coded}\r\n0\r\n\r\n${second}`
    }
  }
  yield { name: 'bare line feeds', bytes: `${head}${sized}\r\n`.replaceAll('\r\n', '\n') + body + second }
  yield { name: 'a bare line feed before the body', bytes: `${head}${sized}\n${body}${second}` }
  yield { name: 'carriage returns alone', bytes: `${head}${sized}\r\n`.replaceAll('\r\n', '\r') + body + second }
  yield { name: 'no length', bytes: `${head}\r\n${second}`, two: true }
  yield {
    name: 'a body for an unknown path',
    bytes: `${head.replace(target, '/unknown')}Content-Length: ${second.length}\r\n\r\n${second}`
  }
  yield {
    name: 'a body for a path without one',
    bytes: `${head.replace(target, '/healthz')}Content-Length: ${second.length}\r\n\r\n${second}`
  }
  yield {
    name: 'a body of another type',
    bytes: `${head}Content-Type: text/plain\r\nContent-Length: ${second.length}\r\n\r\n${second}`
  }
  yield {
    name: 'a body without a key',
    bytes: `${method} ${target} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: ${second.length}\r\n\r\n${second}`
  }
  yield {
    name: 'a body in a coding',
    bytes: `${head}Content-Encoding: gzip\r\nContent-Length: ${second.length}\r\n\r\n${second}`
  }
}
