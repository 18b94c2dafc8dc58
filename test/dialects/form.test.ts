/** Forms: what is read is what is written, and whatever two readers could take differently is refused by its place. */
import fc from 'fast-check'
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { Fault } from '../../src/base/errors.js'
import { boundaryOf, readForm, writeForm } from '../../src/dialects/form.js'

const files = { file: 'audio', 'image[]': 'image' } as const
const named = (name: string, more = '') => `Content-Disposition: form-data; name="${name}"${more}`
const part = (headers: string, content: string) => `--B\r\n${headers}\r\n\r\n${content}\r\n`
const end = '--B--\r\n'
const sound = (content: string, more = 'Content-Type: audio/mpeg') =>
  part(`${named('file', '; filename="a.mp3"')}\r\n${more}`, content)
const read = (text: string) => readForm(Buffer.from(text, 'latin1'), 'B', files)
const inBase64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')

t.test('forms as clients write them', async (t) => {
  t.same(read(part(named('model'), 'whisper-1') + sound('\xff\xfb\r\n--\r\n') + end), {
    model: 'whisper-1',
    file: { filename: 'a.mp3', mime_type: 'audio/mpeg', data: inBase64('\xff\xfb\r\n--\r\n') }
  })
  const lists = ['word', 'segment'].map((each) => part(named('timestamp_granularities[]'), each)).join('')
  t.same(
    read(lists + end.trimEnd()),
    { 'timestamp_granularities[]': ['word', 'segment'] },
    'a list, and no last line end'
  )
  t.same(read(part('content-disposition:form-data;name=prompt', '') + end), { prompt: '' }, 'as .NET writes it, empty')
  const typed = `${named('a')}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2`
  t.same(read(part(typed, '\xc3\xa9') + end), { a: 'é' })
  t.same(read(sound('x', 'Content-Type: audio/webm;codecs=opus\r\nContent-Transfer-Encoding: binary') + end).file, {
    filename: 'a.mp3',
    mime_type: 'audio/webm;codecs=opus',
    data: inBase64('x')
  })
  t.same(read(part(named('__proto__'), 'x') + end), JSON.parse('{"__proto__":"x"}'))
  for (const [type, boundary] of [
    ['multipart/form-data; boundary=----formdata-undici-012345678901', '----formdata-undici-012345678901'],
    ['Multipart/Form-Data;boundary="a b=c"', 'a b=c'],
    ['multipart/form-data; boundary=B; charset=utf-16', undefined],
    ['multipart/form-data; charset=utf-8; boundary=B', undefined],
    ['multipart/form-data', undefined],
    ['multipart/form-data; boundary=', undefined],
    ['multipart/form-data; boundary="B "', undefined],
    [`multipart/form-data; boundary=${'b'.repeat(71)}`, undefined],
    ['multipart/mixed; boundary=B', undefined],
    ['application/json', undefined]
  ] as const) {
    t.equal(boundaryOf(type), boundary, type)
  }
})

const one = part(named('a'), '1')
const refused: Readonly<Record<string, [form: string, field: string, reason: string, says: RegExp]>> = {
  'nothing but an end': [end, '', 'invalid_format', /begin with its boundary/],
  'something before': [`x\r\n${one}${end}`, '', 'invalid_format', /begin with its boundary/],
  'a line end before': [`\r\n${one}${end}`, '', 'invalid_format', /begin with its boundary/],
  'something behind': [`${one}${end}x`, '', 'invalid_format', /follow the last/],
  'another form behind': [one + end + one + end, '', 'invalid_format', /follow the last/],
  'no final boundary': [one, '', 'invalid_format', /Part 1 does not end/],
  'no final boundary, but a next one': [`${one}--B\r\n`, '', 'invalid_format', /Part 2 does not end/],
  'a boundary that goes on': [`${one}--BX\r\n\r\nx\r\n${end}`, '', 'invalid_format', /After part 1, a line begins/],
  'blanks behind a boundary': [`${one}--B \r\n${named('b')}\r\n\r\nx\r\n${end}`, '', 'invalid_format', /After part 1/],
  'line feeds alone': [`--B\r\n${named('a')}\n\n1\r\n${end}`, '', 'invalid_format', /Part 1 has no headers/],
  'an empty part': [`--B\r\n${end}`, '', 'invalid_format', /Part 1 (?:has no headers|does not end)/],
  'a part without headers': [`--B\r\n\r\nx\r\n${end}`, '', 'invalid_format', /Part 1 has/],
  'a name twice': [one + one + end, 'a', 'duplicate_key', /given twice/],
  'a file twice': [sound('x') + sound('y') + end, 'file', 'duplicate_key', /given twice/],
  'no disposition': [part('Content-Type: text/plain', 'x') + end, '', 'invalid_format', /Part 1: Content-Disposition/],
  'an attachment': [
    part('Content-Disposition: attachment; name="a"', 'x') + end,
    '',
    'invalid_format',
    /Part 1: Content-Disposition/
  ],
  'no name': [part('Content-Disposition: form-data', 'x') + end, '', 'invalid_format', /Part 1: Content-Disposition/],
  'two names': [part(named('a', '; name="b"'), 'x') + end, '', 'invalid_format', /Part 1: Content-Disposition/],
  'two dispositions': [part(`${named('a')}\r\n${named('b')}`, 'x') + end, '', 'invalid_format', /Part 1 has a header/],
  'a folded disposition': [
    part('Content-Disposition: form-data;\r\n name="a"', 'x') + end,
    '',
    'invalid_format',
    /Part 1 has a header/
  ],
  'an escaped name': [part(named('a\\"b'), 'x') + end, '', 'invalid_format', /Part 1: Content-Disposition/],
  'a name in percent signs': [part(named('%66ile'), 'x') + end, '', 'invalid_format', /no field has/],
  'a name with a blank': [part(named('a b'), 'x') + end, '', 'invalid_format', /no field has/],
  'the field of the charset': [part(named('_charset_'), 'utf-16') + end, '', 'invalid_format', /no field has/],
  'an unknown header': [part(`${named('a')}\r\nX-Name: b`, 'x') + end, '', 'invalid_format', /Part 1 has a header/],
  'a header that is none': [part(`${named('a')}\r\nnonsense`, 'x') + end, '', 'invalid_format', /Part 1 has a header/],
  'many headers': [
    part(`${named('a')}\r\nContent-Type: ${'x'.repeat(5000)}`, 'x') + end,
    '',
    'invalid_format',
    /or too many/
  ],
  'headers that are not UTF-8': [
    part(named('file', '; filename="\xff"'), 'x') + end,
    '',
    'invalid_format',
    /not UTF-8/
  ],
  'a second filename': [
    part(named('file', '; filename="a"; filename*=UTF-8\'\'b'), 'x') + end,
    '',
    'invalid_format',
    /Part 1: Content-Disposition/
  ],
  'a filename in another charset': [
    part(named('file', "; filename*=utf-16''b"), 'x') + end,
    '',
    'invalid_format',
    /Part 1: Content-Disposition/
  ],
  'control characters in a filename': [
    part(named('file', '; filename="a\nb"'), 'x') + end,
    'file',
    'invalid_format',
    /control/
  ],
  'a file where a text must be': [
    part(named('prompt', '; filename="a"'), 'x') + end,
    'prompt',
    'wrong_type',
    /must be a text/
  ],
  'a text where a file must be': [part(named('file'), 'x') + end, 'file', 'wrong_type', /must be a file/],
  'a text in another charset': [
    part(`${named('a')}\r\nContent-Type: text/plain; charset=utf-16le`, 'x\0') + end,
    'a',
    'wrong_type',
    /UTF-8/
  ],
  'a text of another type': [part(`${named('a')}\r\nContent-Type: text/html`, 'x') + end, 'a', 'wrong_type', /UTF-8/],
  'a text that is not UTF-8': [part(named('a'), '\xff') + end, 'a', 'invalid_utf8', /not UTF-8/],
  base64: [
    part(`${named('a')}\r\nContent-Transfer-Encoding: base64`, 'eA==') + end,
    'a',
    'invalid_format',
    /transfer encoding/
  ],
  'another length': [part(`${named('a')}\r\nContent-Length: 5`, 'x') + end, 'a', 'invalid_format', /Content-Length/],
  'parts within a part': [
    sound('x', 'Content-Type: multipart/mixed; boundary=C') + end,
    'file',
    'invalid_format',
    /plain media type/
  ],
  'a message within a part': [
    sound('x', 'Content-Type: message/http') + end,
    'file',
    'invalid_format',
    /plain media type/
  ],
  'parameters of a file': [
    sound('x', 'Content-Type: audio/mpeg; name="Explain"') + end,
    'file',
    'invalid_format',
    /plain media type/
  ]
}

t.test('whatever readers differ on is refused, and the place is named', async (t) => {
  for (const [what, [form, field, reason, says]] of Object.entries(refused)) {
    t.throws(
      () => read(form),
      { code: 'validation_error', message: says, fields: { details: { field, reason } } },
      what
    )
  }
  t.throws(() => read(`${one.replace('"a"', '"a[]"').repeat(1001)}${end}`), { code: 'too_complex' }, 'many parts')
})

t.test('what was read is written so that it is read again as the same, under a boundary of our own', async (t) => {
  const text = fc.string({ unit: 'grapheme' })
  const name = fc.stringMatching(/^[a-z]{1,8}$/)
  const bytes = fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each).toString('base64'))
  const file = fc.record({
    filename: fc.stringMatching(/^[A-Za-z0-9 .é-]{1,20}$/),
    mime_type: fc.constantFrom('audio/mpeg', 'audio/webm;codecs=opus'),
    data: bytes
  })
  fc.assert(
    fc.property(
      fc.dictionary(name, text),
      fc.option(file),
      fc.array(file, { maxLength: 3 }),
      (texts, sound, pictures) => {
        const { file: _, ...others } = texts
        const body: JsonObject = {
          ...others,
          ...(sound !== null && { file: sound }),
          ...(pictures.length > 0 && { 'image[]': pictures })
        }
        if (Object.keys(body).length === 0) return true
        const written = writeForm(body)
        const again = readForm(written.bytes, boundaryOf(written.type)!, files)
        return JSON.stringify(again) === JSON.stringify(body)
      }
    )
  )
  const [first, second] = [writeForm({ a: '1' }), writeForm({ a: '1' })]
  t.not(first.type, second.type, 'nobody knows the next boundary')
  t.throws(() => writeForm({ file: { filename: 'a', mime_type: 'audio/mpeg', data: '<SECRET>' } }), {
    code: 'unscannable_content'
  })
})

t.test('a form is read in time that grows with its length, whatever its boundary', async (t) => {
  const boundary = 'a'.repeat(70)
  const formOf = (content: string) =>
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${content}\r\n--${boundary}--\r\n`
    )
  const cost = (form: Buffer) => {
    let least = Number.POSITIVE_INFINITY
    for (let run = 0; run < 4; run++) {
      const { user, system } = process.cpuUsage()
      readForm(form, boundary, files)
      const after = process.cpuUsage()
      least = Math.min(least, (after.user + after.system - user - system) / 1000)
    }
    return least
  }
  for (const unit of ['a', '\r\n--', `\r\n--${'a'.repeat(69)}b`, `\r\n-${'a'.repeat(70)}`, '-a', '\r\n']) {
    const of = (bytes: number) => formOf(unit.repeat(bytes / unit.length))
    cost(of(1e5))
    const [small, large] = [cost(of(2e6)), cost(of(16e6))]
    t.ok(
      large < 24 * Math.max(small, 4),
      `${JSON.stringify(unit.slice(0, 8))}: ${small.toFixed(1)} and ${large.toFixed(1)} ms`
    )
  }
})

t.test('any bytes are a form or a refusal', async (t) => {
  const piece = fc.constantFrom(
    '--B',
    '\r\n',
    '--',
    named('a'),
    named('file', '; filename="x"'),
    '\r\n\r\n',
    'x',
    '\n',
    '\xff',
    ': '
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      try {
        const body = read(`--B\r\n${pieces.join('')}`)
        const { type, bytes } = writeForm(body)
        return JSON.stringify(readForm(bytes, boundaryOf(type)!, files)) === JSON.stringify(body)
      } catch (error) {
        return error instanceof Fault
      }
    }),
    { numRuns: 3000 }
  )
  t.pass('for all that were tried')
})
