import fc from 'fast-check'
import t from 'tap'
import type { Json, JsonObject } from '../../src/chat.js'
import { dialects } from '../../src/dialects/index.js'
import { names } from '../../src/dialects/openai/names.js'
import { pointerSegments, type Replacement, rewriteTree, splice } from '../../src/dialects/rewrite.js'
import { type ErrorCode, errorTable, Fault } from '../../src/errors.js'
import { dialectIds } from '../../src/settings.js'

const dialect = dialects['openai-chat'][0]
const target = { params: {}, query: '' }

t.test('every dialect of the settings is registered under its id', async (t) => {
  t.same(Object.keys(dialects), [...dialectIds])
  for (const id of dialectIds) for (const operation of dialects[id]) t.equal(operation.id, id)
})

t.test('roles, pointers and runs that a model reads as one', async (t) => {
  const { parts, joined, model, stream } = dialect.readRequest(
    {
      model: 'm',
      stream: true,
      messages: [
        { role: 'developer', content: 'd' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' }
          ]
        },
        { role: 'user', content: 'c' },
        { role: 'assistant', content: 'e' },
        { role: 'tool', tool_call_id: 'call', content: 'f' },
        { role: 'user', content: 'g' }
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'h' } }],
      metadata: { 'a/b~c': 'v' }
    },
    target
  )
  t.equal(model, 'm')
  t.equal(stream, true)
  const at = (pointer: string) =>
    parts.filter((part) => part.pointer === pointer).map(({ role, text, isKey }) => [role, text, isKey])
  t.same(at('/messages/0/content'), [['system', 'd', undefined]])
  t.same(at('/messages/1/content/0/text'), [['user', 'a', undefined]])
  t.same(at('/messages/4/content'), [['tool', 'f', undefined]])
  t.same(at('/tools/0/function/description'), [['definition', 'h', undefined]])
  t.same(at('/model'), [['parameter', 'm', undefined]])
  t.same(at('/metadata/a~1b~0c'), [
    ['parameter', 'a/b~c', true],
    ['parameter', 'v', undefined]
  ])
  const texts = joined.map((run) => run.map((i) => parts[i]!.text).join(''))
  t.same(texts.sort(), ['ab', 'abc', 'abcg'])
})

/** Every string leaf and key of a value. */
function leaves(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(leaves)
  return Object.entries(value).flatMap(([key, child]) => [key, ...leaves(child)])
}

const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>

t.test('whatever stands in a request or an answer is seen, unless it is a word of the closed set', async (t) => {
  const seen = (parts: readonly { text: string }[], body: Json) => {
    const texts = new Set(parts.map(({ text }) => text))
    const missing = leaves(body).filter((leaf) => leaf !== '' && !names.has(leaf) && !texts.has(leaf))
    return missing.length === 0
  }
  fc.assert(
    fc.property(anyJson, anyJson, anyJson, anyJson, (a, b, c, d) => {
      const body = {
        messages: [{ role: 'user', content: 'x', extra: a, tool_calls: b, function_call: c }],
        tools: a,
        other: d,
        response_format: b
      } as JsonObject
      return seen(dialect.readRequest(body, target).parts, body)
    })
  )
  fc.assert(
    fc.property(anyJson, anyJson, anyJson, (a, b, c) => {
      const body = {
        choices: [{ message: { content: a, tool_calls: b, more: c }, extra: b }, { message: c }],
        other: a
      } as JsonObject
      return seen(dialect.readReply(body)!.parts, body) && seen(dialect.readError(body).parts, body)
    })
  )
  t.pass('for all of the bodies tried')
})

t.test('a stream cut into increments anywhere is assembled to the same texts', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 }), (pieces) => {
      const stream = dialect.openStream(target)
      for (const content of pieces) {
        const delta = { content, tool_calls: [{ index: 3, function: { arguments: content } }] }
        stream.push({ data: JSON.stringify({ id: 'x', choices: [{ index: 1, delta }] }) })
      }
      const { parts } = stream.content()
      const text = pieces.join('')
      const at = (pointer: string) => parts.find((part) => part.pointer === pointer)?.text
      return (
        at('/choices/1/message/content') === text && at('/choices/1/message/tool_calls/3/function/arguments') === text
      )
    })
  )
  const stream = dialect.openStream(target)
  t.equal(stream.push({ data: '[DONE]' }), 'end')
  for (const [data, event] of [
    ['{"error":{"message":"x"}}'],
    ['nonsense'],
    ['[1]'],
    ['{"choices":5}'],
    ['{"choices":[5]}'],
    ['{}', 'error']
  ]) {
    t.throws(() => stream.push({ data: data!, event }), { code: 'upstream_error' }, String(data))
  }
})

t.test('rewriting changes the span that was named and nothing else', async (t) => {
  const root = (): JsonObject => ({
    a: 'one two three',
    'k/1': { 'me@x': 'v', list: ['x', 'y secret'] },
    args: JSON.stringify({ q: 'a "secret" b', n: [1, 'secret'] })
  })
  const replace = (pointer: string, start: number, end: number, isKey?: true): Replacement => ({
    pointer,
    start,
    end,
    text: '<X>',
    ...(isKey && { isKey })
  })
  t.same(rewriteTree(root(), [replace('/a', 4, 7), replace('/a', 0, 3)]), { ...root(), a: '<X> <X> three' })
  t.same(
    rewriteTree(root(), [replace('/a', 0, 7), replace('/a', 4, 9)]),
    { ...root(), a: '<X>hree' },
    'overlapping spans'
  )
  t.same((rewriteTree(root(), [replace('/k~11/list/1', 2, 8)]) as JsonObject)['k/1'], {
    'me@x': 'v',
    list: ['x', 'y <X>']
  })
  const renamed = rewriteTree(root(), [replace('/k~11/me@x', 0, 4, true)]) as JsonObject
  t.equal(JSON.stringify(renamed['k/1']), '{"<X>":"v","list":["x","y secret"]}', 'a key is renamed in its place')
  const inner = rewriteTree(root(), [replace('/args/q', 3, 9), replace('/args/n/1', 0, 6)]) as JsonObject
  t.same(JSON.parse(inner.args as string), { q: 'a "<X>" b', n: [1, '<X>'] }, 'inside the JSON that a string holds')
  t.same(rewriteTree(root(), [replace('/none', 0, 1), replace('/a/b', 0, 1), replace('/a', 99, 100)]), root())
  t.equal(splice('abc', [replace('', 1, 2)]), 'a<X>c')
  t.same(pointerSegments('/a~1b/~0/'), ['a/b', '~', ''])
})

t.test('every code of the error table has its shape', async (t) => {
  const types: Record<number, string> = {
    401: 'authentication_error',
    403: 'permission_error',
    429: 'rate_limit_error'
  }
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    const { status, message } = errorTable[code]
    const body = dialect.error(new Fault(code, { fields: { retry_after: 1 } }), 'req_1')
    const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
    t.same(body, { error: { message, type, param: null, code, retry_after: 1, request_id: 'req_1' } })
  }
})

t.test('an offender is the message, or the leaf where it lies in none', async (t) => {
  t.equal(dialect.offender('/messages/12/content/0/text'), '/messages/12')
  t.equal(dialect.offender('/tools/0/function/description'), '/tools/0/function/description')
  t.equal(dialect.offender('/metadata/how to do harm'), '/metadata', 'names that a caller made up are not repeated')
  t.equal(dialect.offender('/how to do harm/0'), '')
})
