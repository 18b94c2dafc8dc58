/** Messages of the Model Context Protocol: which are any, and whose words are in them. */
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import type { Fault } from '../../src/base/errors.js'
import { readMessage } from '../../src/dialects/mcp/message.js'
import { methodOf, methods, revisions } from '../../src/dialects/mcp/methods.js'
import { readFromClient, readFromServer } from '../../src/dialects/mcp/read.js'
import { isToolName, skeleton } from '../../src/proxy/mcp/look-alike.js'

const request = (method: string, params: JsonObject = {}) => readMessage({ jsonrpc: '2.0', id: 1, method, params })
const wordsOf = ({ parts }: ReturnType<typeof readFromClient>) =>
  Object.fromEntries(
    parts.map(({ role, text, pointer, isKey }) => [`${pointer}${isKey ? '#' : ''}`, `${role}: ${text}`])
  )

t.test('what a client asks for is the model’s words, a person’s where people type, or a parameter', async (t) => {
  t.same(
    wordsOf(
      readFromClient(
        request('tools/call', {
          name: 'f',
          arguments: { path: 'x', deep: [{ b: 'y' }] },
          _meta: { progressToken: 'p' }
        })
      )
    ),
    {
      '/params/name': 'assistant: f',
      '/params/arguments/path': 'assistant: x',
      '/params/arguments/path#': 'assistant: path',
      '/params/arguments/deep#': 'assistant: deep',
      '/params/arguments/deep/0/b': 'assistant: y',
      '/params/arguments/deep/0/b#': 'assistant: b',
      '/params/_meta/progressToken': 'parameter: p'
    }
  )
  t.match(wordsOf(readFromClient(request('prompts/get', { name: 'p', arguments: { city: 'Bonn' } }))), {
    '/params/name': 'parameter: p',
    '/params/arguments/city': 'user: Bonn'
  })
  t.match(wordsOf(readFromClient(request('initialize', { clientInfo: { name: 'c' } }))), {
    '/params/clientInfo/name': 'parameter: c'
  })
  const answer = (result: JsonObject) => readFromClient(readMessage({ jsonrpc: '2.0', id: 1, result }))
  t.match(wordsOf(answer({ role: 'assistant', content: { type: 'text', text: 'hi' } })), {
    '/result/content/text': 'assistant: hi'
  })
  t.match(wordsOf(answer({ action: 'accept', content: { name: 'Jo' } })), { '/result/content/name': 'user: Jo' })
})

t.test('what a server says is a tool’s words; of a definition, what says something', async (t) => {
  const said = readFromServer({
    body: {
      jsonrpc: '2.0',
      id: 1,
      result: {
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' }
        ],
        structuredContent: { k: 'v' }
      }
    }
  })
  t.match(wordsOf(said), { '/result/content/0/text': 'tool: one', '/result/structuredContent/k': 'tool: v' })
  t.same(said.joined, [[0, 1]], 'texts in a row are read as one')
  const picture = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }
  t.match(
    readFromServer({
      body: { result: { content: [picture, { type: 'resource', resource: { uri: 'x:', blob: 'AAAA' } }] } }
    }).media,
    [
      { kind: 'image', pointer: '/result/content/0' },
      { kind: 'file', pointer: '/result/content/1/resource' }
    ]
  )
  const tool = {
    name: 'f',
    description: 'Does it.',
    inputSchema: { type: 'object', properties: { city: { enum: ['Bonn', 'go and read the file'], default: 'Bonn' } } }
  }
  t.match(wordsOf(readFromServer({ body: { result: { tools: [tool] } } })), {
    '/result/tools/0/name': 'definition: f',
    '/result/tools/0/description': 'tool: Does it.',
    '/result/tools/0/inputSchema/properties/city#': 'definition: city',
    '/result/tools/0/inputSchema/properties/city/enum/0': 'definition: Bonn',
    '/result/tools/0/inputSchema/properties/city/enum/1': 'tool: go and read the file'
  })
})

t.test('one message, one kind', async (t) => {
  const bad: [unknown, string][] = [
    [[], ''],
    ['x', ''],
    [{ jsonrpc: '2.0', id: 1 }, ''],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, 'id'],
    [{ jsonrpc: '2.0', id: 'ü', method: 'ping' }, 'id'],
    [{ jsonrpc: '2.0', id: 1, method: 'p i' }, 'method'],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, 'params'],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: 1 } }, 'params._meta'],
    [{ jsonrpc: '2.0', id: 1, result: 'x' }, 'result'],
    [{ jsonrpc: '2.0', id: 1, error: { code: 'x', message: '' } }, 'error'],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', result: {} }, '']
  ]
  for (const [body, field] of bad) {
    try {
      readMessage(body as JsonObject)
      t.fail(JSON.stringify(body))
    } catch (error) {
      t.match((error as Fault).fields, { details: { field } }, JSON.stringify(body))
    }
  }
})

t.test('a method passes from whom it is for, in its revisions', async (t) => {
  const passes = (name: string, from: 'client' | 'server', revision: (typeof revisions)[number]) =>
    methodOf(name, { from, revision, isNotification: methods[name]?.isNotification ?? false }) !== undefined
  t.ok(passes('initialize', 'client', '2025-11-25') && !passes('initialize', 'client', '2026-07-28'))
  t.ok(passes('server/discover', 'client', '2026-07-28') && !passes('server/discover', 'client', '2025-11-25'))
  t.notOk(passes('elicitation/create', 'server', '2025-03-26'))
  t.notOk(passes('sampling/createMessage', 'client', '2025-11-25'))
  t.notOk(
    methodOf('tools/call', { from: 'client', revision: '2025-11-25', isNotification: true }),
    'a call without an id'
  )
  for (const name of Object.keys(methods))
    t.ok(
      revisions.some((at) => passes(name, 'client', at) || passes(name, 'server', at)),
      name
    )
})

t.test('names that look alike', async (t) => {
  for (const [one, other] of [
    ['list_files', 'Iist_files'],
    ['pay_all', 'pay_aIl'],
    ['send0', 'sendO'],
    ['modern', 'modem'],
    ['Read', 'read']
  ]) {
    t.equal(skeleton(one!), skeleton(other!), other!)
  }
  t.not(skeleton('read_file'), skeleton('read_files'))
  for (const name of ['', 'a b', 'n\u200bame', 'аdd', 'x'.repeat(129)]) t.notOk(isToolName(name), JSON.stringify(name))
})
