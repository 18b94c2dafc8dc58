import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { addressBucket, clientAddress, compileAddressList, normaliseAddress } from '../../src/identity/address.js'
import { presentedKey } from '../../src/identity/credentials.js'
import { generateKey, keyPattern, parseKey } from '../../src/identity/key-format.js'

t.test('a generated key has the published form and its own checksum', (t) => {
  fc.assert(
    fc.property(fc.constantFrom('live' as const, 'test' as const), (environment) => {
      const key = generateKey(environment)
      const parsed = parseKey(key)
      return (
        new RegExp(`^${keyPattern}$`).test(key) &&
        parsed?.environment === environment &&
        key.startsWith(`slg_${environment}_${parsed.prefix}_`)
      )
    })
  )
  t.pass('for every key drawn')
  t.end()
})

t.test('the checksum is CRC-32 of all before it, in base62 with digits 0-9A-Za-z, padded to six', (t) => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let padded = 0
  for (let i = 0; i < 2000; i++) {
    const key = generateKey('live')
    const sum = key.slice(-6)
    const value = [...sum].reduce((value, digit) => value * 62 + digits.indexOf(digit), 0)
    if (value !== crc32(key.slice(0, -6))) t.fail(`wrong checksum ${sum}`)
    if (sum.startsWith('0')) padded++
  }
  t.ok(padded > 100, 'values below 62^5 were among them')
  t.end()
})

t.test('a key with any one character changed is no key', (t) => {
  const key = generateKey('live')
  for (let i = 0; i < key.length; i++) {
    for (const other of ['0', 'a', 'Z', '_', '-', 'é']) {
      const changed = key.slice(0, i) + other + key.slice(i + 1)
      if (changed !== key && parseKey(changed)) t.fail(changed)
    }
  }
  for (const text of ['', key.slice(1), `${key}0`, `${key}\n`, ` ${key}`, key.toLowerCase()]) {
    t.equal(parseKey(text), undefined)
  }
  t.end()
})

t.test('characters are drawn without bias: bytes that would favour some are drawn again', (t) => {
  let calls = 0
  const key = generateKey('live', (n) => {
    // First only bytes from 248 on, which must all be refused, then every byte value in turn.
    return calls++ === 0 ? new Uint8Array(n).fill(255) : Uint8Array.from({ length: n }, (_, i) => 247 - i)
  })
  t.equal(calls, 2)
  t.match(key, /^slg_live_zyxwvuts_rqponm/)
  t.end()
})

t.test('keys are found in every header that may carry one, and nowhere else', (t) => {
  const [a, b] = [generateKey('live'), generateKey('test')]
  const found = (key: string) => ({ kind: 'key', key: parseKey(key) })
  const none = { kind: 'none' }
  const unusable = { kind: 'unusable' }
  const table: [string, Record<string, string | string[]>, readonly string[], object][] = [
    ['nothing', {}, [], none],
    ['the key header', { 'x-api-key': a }, [], found(a)],
    ['white space around it', { 'x-api-key': ` ${a} ` }, [], found(a)],
    ['a bearer token', { authorization: `Bearer ${a}` }, [], found(a)],
    ['schemes are case-insensitive (RFC 9110)', { authorization: `bEARER  ${a}` }, [], found(a)],
    ['the same key twice is one key', { 'x-api-key': a, authorization: `Bearer ${a}` }, [], found(a)],
    ['two different keys', { 'x-api-key': a, authorization: `Bearer ${b}` }, [], unusable],
    ['two different keys in one repeated header', { 'x-api-key': `${a}, ${b}` }, [], unusable],
    ['the same key in a repeated header', { 'x-api-key': [a, a] }, [], found(a)],
    ["a provider's key beside ours", { 'x-api-key': a, authorization: 'Bearer sk-other' }, [], found(a)],
    ["a provider's key before ours", { 'x-api-key': 'sk-other', authorization: `Bearer ${a}` }, [], found(a)],
    ["a provider's key alone", { authorization: 'Bearer sk-other' }, [], unusable],
    ['a mistyped key', { 'x-api-key': a.replace(/.$/, '_') }, [], unusable],
    ['an empty header', { 'x-api-key': '' }, [], none],
    ['another scheme', { authorization: `Basic ${a}` }, [], none],
    ['no scheme', { authorization: a }, [], none],
    ['a header that is not asked for', { 'x-goog-api-key': a, cookie: a }, [], none],
    ['a header of the route', { 'x-goog-api-key': a }, ['x-goog-api-key'], found(a)],
    ['a header of the route against another', { 'api-key': a, 'x-api-key': b }, ['api-key'], unusable]
  ]
  for (const [name, headers, extra, expected] of table) t.same(presentedKey(headers, extra), expected, name)
  t.end()
})

t.test('an address has one spelling, and odd spellings are no addresses', (t) => {
  const table: [string, string | undefined][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:201', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['010.0.0.1', undefined],
    ['0x7f.0.0.1', undefined],
    ['127.1', undefined],
    ['2130706433', undefined],
    ['1.2.3.4.5', undefined],
    ['256.1.1.1', undefined],
    ['fe80::1%eth0', undefined],
    ['::ffff:010.0.0.1', undefined],
    ['[::1]', undefined],
    [' 192.0.2.1', undefined],
    ['192.0.2.1\n', undefined],
    ['１92.0.2.1', undefined],
    ['localhost', undefined],
    ['', undefined]
  ]
  for (const [text, expected] of table) t.equal(normaliseAddress(text), expected, JSON.stringify(text))
  t.end()
})

t.test('a list matches by number, in both families, and a bad entry is named', (t) => {
  const table: [string[], string, boolean][] = [
    [['10.0.0.0/8'], '10.255.255.255', true],
    [['10.0.0.0/8'], '11.0.0.0', false],
    [['10.1.2.3/8'], '10.200.0.1', true],
    [['192.0.2.1'], '192.0.2.1', true],
    [['192.0.2.1'], '::ffff:192.0.2.1', true],
    [['192.0.2.1'], '192.0.2.2', false],
    [['::ffff:10.0.0.0/104'], '10.9.9.9', true],
    [['::ffff:192.0.2.1'], '192.0.2.1', true],
    [['2001:db8::/32'], '2001:db8:ffff::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['::/0'], '192.0.2.1', false],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['0.0.0.0/0', '::/0'], '2001:db8::1', true],
    [['0.0.0.0/0', '::/0'], 'unknown', false],
    [[], '192.0.2.1', false]
  ]
  for (const [list, address, expected] of table) {
    t.equal(compileAddressList(list)(address), expected, `${list} ${address}`)
  }
  for (const bad of ['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/', '10.0.0.0/8/8', '1', 'fe80::1%1', '']) {
    t.throws(() => compileAddressList(['10.0.0.1', bad]), { message: new RegExp(`^"${bad.replace(/[/]/g, '\\/')}" `) })
  }
  t.throws(() => compileAddressList(['::ffff:0.0.0.0/95']))
  t.end()
})

t.test('no way of writing X-Forwarded-For lends a client another address', (t) => {
  const trusted = compileAddressList(['10.0.0.0/8', '2001:db8:aaaa::/48'])
  const client = '203.0.113.9'
  const victim = '192.0.2.1'
  // An untrusted peer is the client, whatever it claims.
  for (const claim of [victim, '10.0.0.1', `${victim}, 10.0.0.1`, 'unknown', '', ',', '::1']) {
    t.equal(clientAddress(client, claim, trusted), client, `untrusted peer: ${claim}`)
    t.equal(clientAddress(`::ffff:${client}`, claim, trusted), client)
  }
  // A trusted peer appended the true client last; everything before that is the client's own claim.
  for (const claim of [
    victim,
    '10.0.0.1',
    '127.0.0.1',
    '::1',
    `${victim}, 10.0.0.1`,
    `10.0.0.1, ${victim}`,
    `${victim},${victim}`,
    `${victim}:80`,
    `[${victim}]`,
    `::ffff:${victim}`,
    `"${victim}"`,
    `for=${victim}`,
    '0x7f.0.0.1',
    '010.0.0.1',
    '2130706433',
    '127.1',
    'fe80::1%eth0',
    'unknown',
    '_hidden',
    'localhost',
    '',
    ',',
    ' , ,',
    '\t',
    '10.0.0.0/8',
    '999.1.1.1',
    `${victim} 10.0.0.1`,
    `${victim};10.0.0.1`,
    'a'.repeat(5000)
  ]) {
    const name = JSON.stringify(claim.slice(0, 40))
    t.equal(clientAddress('10.0.0.1', `${claim}, ${client}`, trusted), client, name)
    t.equal(clientAddress('10.0.0.1', [claim, client], trusted), client, `two lines: ${name}`)
    t.equal(clientAddress('::ffff:10.0.0.1', `${claim}, ${client}, 10.9.9.9`, trusted), client, `two proxies: ${name}`)
  }
  const table: [string, string | undefined, string][] = [
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.7, 10.0.0.2', '10.0.0.7'],
    ['10.0.0.1', `${client}:4711`, client],
    ['10.0.0.1', '[2001:db8::9]:4711', '2001:db8::9'],
    ['10.0.0.1', `${client},`, client],
    ['2001:db8:aaaa::1', client, client],
    // What a trusted proxy wrote cannot be read: nobody, rather than the proxy.
    ['10.0.0.1', `${client}, junk`, 'unknown'],
    ['10.0.0.1', 'fe80::1%eth0', 'unknown'],
    ['', client, 'unknown'],
    ['fe80::1%eth0', client, 'unknown']
  ]
  for (const [peer, header, expected] of table) {
    t.equal(clientAddress(peer, header, trusted), expected, `${peer} ${header}`)
  }
  t.equal(
    clientAddress('10.0.0.1', victim, compileAddressList([])),
    '10.0.0.1',
    'no trusted proxy: nothing is believed'
  )
  t.end()
})

t.test('one IPv6 client is one bucket, whichever of its addresses it uses', (t) => {
  t.equal(addressBucket('2001:db8:1:2:3:4:5:6'), addressBucket('2001:db8:1:2::1'))
  t.not(addressBucket('2001:db8:1:2::1'), addressBucket('2001:db8:1:3::1'))
  t.equal(addressBucket('::ffff:192.0.2.1'), '192.0.2.1')
  t.not(addressBucket('192.0.2.1'), addressBucket('192.0.2.2'))
  t.equal(addressBucket('junk'), 'unknown')
  t.end()
})
