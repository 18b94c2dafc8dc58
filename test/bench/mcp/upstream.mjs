// An MCP server whose one tool answers with a text as long as is asked for, as JSON: node upstream.mjs [PORT]
import { createServer } from 'node:http'
import { textOf } from './texts.mjs'

const tool = { name: 'page', description: 'Answers with a page.', inputSchema: { type: 'object' } }

const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const { id, method, params } = text === '' ? {} : JSON.parse(text)
  if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end()
  const { size = 0, seed = 0 } = params?.arguments ?? {}
  const result = method === 'tools/list' ? { tools: [tool] } : { content: [{ type: 'text', text: textOf(size, seed) }] }
  response.writeHead(200, { 'content-type': 'application/json' })
  return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
})
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => process.stdout.write(`READY ${server.address().port}\n`))
