/** The MCP servers in the OpenAPI document. The protocol itself defines the messages. */
import type { Described } from '../../edge/doc-responses.js'

const text = { type: 'string' }
const params = {
  type: 'object',
  properties: { server: { ...text, description: 'The name of a server in the configuration.' } },
  required: ['server']
}
const message = {
  type: 'object',
  title: 'McpMessage',
  description: 'One message of JSON-RPC 2.0: a request, a notification or a response.',
  properties: {
    jsonrpc: { ...text, const: '2.0' },
    id: { anyOf: [text, { type: 'integer' }, { type: 'null' }] },
    method: text,
    params: { type: 'object', additionalProperties: true },
    result: { type: 'object', additionalProperties: true },
    error: {
      type: 'object',
      properties: { code: { type: 'integer' }, message: text, data: {} },
      required: ['code', 'message'],
      additionalProperties: true
    }
  },
  required: ['jsonrpc']
}
const stream = { ...text, description: 'Messages as events; each is released when it is judged.' }
const common = { tags: ['mcp'], params, envelope: 'mcp' as const }

export function describeMcp(method: 'POST' | 'GET' | 'DELETE'): Described {
  if (method === 'GET') {
    return {
      ...common,
      operationId: 'listenMcp',
      summary: 'What an MCP server says by itself, as events',
      response: { 200: { description: 'Messages of the server', content: { 'text/event-stream': { schema: stream } } } }
    }
  }
  if (method === 'DELETE') {
    return {
      ...common,
      operationId: 'endMcpSession',
      summary: 'Ends a session with an MCP server',
      response: { 200: { description: 'It is over.', type: 'object', additionalProperties: true } }
    }
  }
  return {
    ...common,
    operationId: 'sendMcpMessage',
    summary: 'A message to an MCP server: the message and its answer are evaluated',
    description: 'Refusals are errors of JSON-RPC with the codes -32001 to -32004: docs/mcp.md.',
    body: message,
    response: {
      200: {
        description: 'The answer, or a refusal',
        content: { 'application/json': { schema: message }, 'text/event-stream': { schema: stream } }
      },
      202: { description: 'A notification or a response was taken.', type: 'null' }
    }
  }
}
