/** Messages of MCP clients and servers, in families. */
import {
  type Json,
  keyed,
  long,
  many,
  name,
  object,
  type Shape,
  type Style,
  styles,
  type Traffic,
  words
} from './shape.js'

/** The name of the server, and of the tool that is listed before. */
export const mcpServer = 'growth'
export const mcpTool = 'look'

const headers = { accept: 'application/json, text/event-stream' }

function ask(method: string, params: Json, answer?: Traffic['answer']): Traffic {
  const body = { jsonrpc: '2.0', id: 1, method, params }
  return { path: `/mcp/${mcpServer}`, headers, body, ...(answer !== undefined && { answer }) }
}

const whole = (result: Json) => ({
  type: 'application/json',
  writes: [JSON.stringify({ jsonrpc: '2.0', id: 1, result })]
})
const frame = (message: Json) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
const call = (args: Json, answer?: Traffic['answer']) =>
  ask('tools/call', { name: mcpTool, arguments: args }, answer ?? whole({ content: [] }))

const tool = (name: string, description: string, properties: Json = {}) => ({
  name,
  description,
  inputSchema: { type: 'object', properties }
})

/** What lists the one tool that calls go to. */
export const listed: Traffic = ask('tools/list', {}, whole({ tools: [tool(mcpTool, 'Looks at a place.')] }))

/** Objects in objects, `levels` deep at most, as often as fill the bytes. */
function nested(bytes: number, seed: number, levels: number, wrap: (inner: Json, i: number) => Json): Json[] {
  return many(bytes, (i) => {
    let value: Json = { description: words(i, seed) }
    for (let level = 0; level < levels; level++) value = wrap(value, level)
    return value
  })
}

type Make = (bytes: number, seed: number, style: Style) => Traffic

/** Results, by what they answer. */
const results: Record<string, Make> = {
  'a result of many blocks': (bytes, seed, style) =>
    call({}, whole({ content: many(bytes, (i) => ({ type: 'text', text: style(i, seed) })) })),
  'a result of one long block': (bytes, seed, style) =>
    call({}, whole({ content: [{ type: 'text', text: long(bytes, seed, style) }] })),
  'a result of many fields': (bytes, seed, style) =>
    call(
      {},
      whole({ content: [], structuredContent: { rows: many(bytes, (i) => ({ id: i, place: style(i, seed) })) } })
    ),
  'a result of many keys': (bytes, seed) =>
    call({}, whole({ content: [], structuredContent: keyed(bytes, seed, name, 1) })),
  'a result of deep objects': (bytes, seed) =>
    call({}, whole({ content: [], structuredContent: { rows: nested(bytes, seed, 24, (inner) => ({ a: inner })) } })),
  'contents of a resource': (bytes, seed, style) =>
    ask(
      'resources/read',
      { uri: 'memo://a' },
      whole({ contents: many(bytes, (i) => ({ uri: 'memo://a', text: style(i, seed) })) })
    ),
  'notifications before the result': (bytes, seed, style) =>
    call(
      {},
      {
        type: 'text/event-stream',
        writes: [
          ...many(bytes, (i) =>
            frame({ method: 'notifications/message', params: { level: 'info', data: style(i, seed) } })
          ),
          frame({ id: 1, result: { content: [] } })
        ]
      }
    ),
  'one long notification': (bytes, seed, style) =>
    call(
      {},
      {
        type: 'text/event-stream',
        writes: [
          frame({ method: 'notifications/message', params: { level: 'info', data: long(bytes, seed, style) } }),
          frame({ id: 1, result: { content: [] } })
        ]
      }
    )
}

const definitions: Record<string, Make> = {
  'definitions of many tools': (bytes, seed, style) =>
    ask('tools/list', {}, whole({ tools: many(bytes, (i) => tool(`${name(i, seed)}.${i}`, style(i, seed))) })),
  'tools of deep schemas': (bytes, seed) => {
    const schemas = nested(bytes, seed, 20, (inner, i) => ({ type: 'object', properties: { [`p${i}`]: inner } }))
    const tools = schemas.map((inner, i) => tool(`${name(i, seed)}.${i}`, 'Looks.', { deep: inner }))
    return ask('tools/list', {}, whole({ tools }))
  },
  'tools of long enums': (bytes, seed, style) =>
    ask(
      'tools/list',
      {},
      whole({
        tools: many(bytes, (i) =>
          tool(`${name(i, seed)}.${i}`, 'Looks.', {
            place: { enum: Array.from({ length: 20 }, (_, k) => style(20 * i + k, seed)) }
          })
        )
      })
    ),
  'tools of many parameters': (bytes, seed, style) =>
    ask(
      'tools/list',
      {},
      whole({
        tools: many(bytes, (i) =>
          tool(
            `${name(i, seed)}.${i}`,
            'Looks.',
            object(
              Array.from({ length: 20 }, (_, k) => [`p${k}`, { type: 'string', description: style(20 * i + k, seed) }])
            )
          )
        )
      })
    ),
  'definitions of many resources': (bytes, seed, style) =>
    ask(
      'resources/list',
      {},
      whole({
        resources: many(bytes, (i) => ({ uri: `memo://${seed}/${i}`, name: `r${i}`, description: style(i, seed) }))
      })
    ),
  'long instructions': (bytes, seed, style) =>
    ask(
      'initialize',
      { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      whole({
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 's', version: '1' },
        instructions: long(bytes, seed, style)
      })
    )
}

const calls: Record<string, Make> = {
  'arguments in a list': (bytes, seed, style) => call({ list: many(bytes, (i) => style(i, seed)) }),
  'one long argument': (bytes, seed, style) => call({ text: long(bytes, seed, style) }),
  'arguments of many keys': (bytes, seed) => call(keyed(bytes, seed, name, 'x')),
  'deep arguments': (bytes, seed) => call({ list: nested(bytes, seed, 24, (inner) => ({ a: inner })) }),
  'arguments of a prompt': (bytes, seed, style) =>
    ask(
      'completion/complete',
      {
        ref: { type: 'ref/prompt', name: 'p' },
        argument: { name: 'a', value: style(1, seed) },
        context: { arguments: object(many(bytes, (i) => style(i, seed)).map((text, i) => [`a${i}`, text])) }
      },
      whole({ completion: { values: [] } })
    )
}

/** Of one session, which remembers what was called and what tools have brought. */
const session = { 'x-session-id': 'growth' }
const within = (traffic: Traffic): Traffic => ({ ...traffic, headers: { ...headers, ...session } })
const sessions: Record<string, Make> = {
  'a result of a session': (bytes, seed, style) => within(results['a result of many blocks']!(bytes, seed, style)),
  'arguments of a session': (bytes, seed, style) => within(call({ list: many(bytes, (i) => style(i, seed)) })),
  'a chat of a session': (bytes, seed, style) => ({
    path: '/v1/chat/completions',
    headers: session,
    body: { model: 'm', messages: [{ role: 'user', content: long(bytes, seed, style) }] }
  })
}

export const mcp: readonly Shape[] = Object.entries({ ...results, ...definitions, ...calls, ...sessions }).flatMap(
  ([what, make]) =>
    Object.entries(styles).map(([style, of]) => ({
      name: `mcp, ${what}, ${style}`,
      of: (bytes: number, seed: number) => make(bytes, seed, of)
    }))
)
