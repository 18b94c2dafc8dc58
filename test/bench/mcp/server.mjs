// An MCP server that says what each row of the attack table is made of, and the client that asks for it through the gateway.
import { once } from 'node:events'
import { createServer } from 'node:http'

const revision = '2025-11-25'
/** What the calls of rows go to; it is listed before. */
const standing = {
  tools: ['bench', 'ask'].map((name) => ({
    name,
    description: 'Answers with a page.',
    inputSchema: { type: 'object' }
  })),
  prompts: [{ name: 'page', description: 'A page.' }]
}
const listOf = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates'
}

/** @param sideOf the side of a row by its name, `12-0` */
export async function serveRows(sideOf, others) {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { id, method, params = {} } = text === '' ? {} : JSON.parse(text)
    if (request.method !== 'POST') return response.writeHead(405).end()
    if (id === undefined || method === undefined) return response.writeHead(202).end()
    const result = (value) => ({ jsonrpc: '2.0', id, result: value })
    const asked = method === 'tools/call' && params.name === 'ask' ? sideOf(params.arguments.row) : undefined
    if (asked === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(result(resultOf(method, params, request.url))))
    }
    const done = result({ content: [{ type: 'text', text: 'Done.' }] })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const each of [{ jsonrpc: '2.0', id: 'q', method: asked.method, params: asked.value }, done])
      response.write(`data: ${JSON.stringify(each)}\n\n`)
    return response.end()
  })
  function resultOf(method, params, url) {
    const list = listOf[method]
    if (list !== undefined) {
      if (params.cursor === undefined) return { [list]: url === '/others' ? others : (standing[list] ?? []) }
      const [name, isFirst] = params.cursor.split(' ')
      const side = sideOf(name)
      return { [list]: [isFirst === undefined ? side.value : side.first] }
    }
    if (method === 'initialize') {
      const instructions = sideOf(params.clientInfo.version).value
      return { protocolVersion: revision, capabilities: {}, serverInfo: { name: 'rows', version: '1' }, instructions }
    }
    if (method === 'resources/read') return sideOf(params.uri.slice('memo://'.length)).value
    const row = params.arguments?.row
    return row === undefined ? { content: [{ type: 'text', text: 'Done.' }] } : sideOf(row).value
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** A client of the gateway's. `reaches` says whether what a side holds arrives where it would do harm. */
export function clientOf({ url, key }) {
  let id = 0
  const send = async (server, method, params) => {
    const response = await fetch(`${url}/mcp/${server}`, {
      method: 'POST',
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(method !== 'initialize' && { 'mcp-protocol-version': revision })
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} of ${server}: ${response.status} ${text}`)
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) return { events: text }
    const body = JSON.parse(text)
    // What fails is no refusal: it would be counted as one.
    if (body.error !== undefined && ![-32001, -32002, -32003, -32004].includes(body.error.code))
      throw new Error(`${method} of ${server}: ${text}`)
    return body
  }
  const method = (list) => Object.keys(listOf).find((each) => listOf[each] === list)
  const listed = async (list, cursor) => (await send('rows', method(list), { cursor })).result?.[list].length === 1
  return {
    async open() {
      await send('rows', 'tools/list', {})
      await send('rows', 'prompts/list', {})
      await send('others', 'tools/list', {})
    },
    async reaches(name, { way, list, value }) {
      if (way === 'definition' && list === 'instructions') {
        const clientInfo = { name: 'bench', version: name }
        const asked = { protocolVersion: revision, capabilities: {}, clientInfo }
        return (await send(`says-${name}`, 'initialize', asked)).result?.instructions !== undefined
      }
      if (way === 'definition') return listed(list, name)
      if (way === 'change') {
        if (!(await listed(list, `${name} first`))) throw new Error(`${name}: the first definition was withheld`)
        return listed(list, name)
      }
      if (way === 'call')
        return (await send('rows', 'tools/call', { name: 'bench', arguments: value })).result !== undefined
      if (way === 'resource')
        return (await send('rows', 'resources/read', { uri: `memo://${name}` })).result !== undefined
      if (way === 'prompt')
        return (await send('rows', 'prompts/get', { name: 'page', arguments: { row: name } })).result !== undefined
      if (way === 'asks') {
        const { events } = await send('rows', 'tools/call', { name: 'ask', arguments: { row: name } })
        return events.includes('"id":"q"')
      }
      return (await send('rows', 'tools/call', { name: 'bench', arguments: { row: name } })).result !== undefined
    }
  }
}
