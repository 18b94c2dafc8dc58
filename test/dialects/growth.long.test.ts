/** How the cost of reading grows with what is read: measured, so that it stands beside what else is. */
import t from 'tap'
import type { JsonObject } from '../../src/base/chat.js'
import { readFromServer } from '../../src/dialects/mcp/read.js'
import { growth } from '../support/growth.js'

t.test('reading a message of an MCP server costs what it holds', async (t) => {
  const tools = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      name: `f${i}`,
      description: `Does ${i}.`,
      inputSchema: { properties: { [`p${i}`]: { description: 'x' } } }
    }))
  const lists: [string, (n: number) => JsonObject][] = [
    ['definitions', (n) => ({ tools: tools(n) })],
    ['blocks', (n) => ({ content: Array.from({ length: n }, (_, i) => ({ type: 'text', text: `text ${i}` })) })],
    [
      'one definition',
      (n) => ({
        tools: [
          {
            name: 'f',
            inputSchema: {
              properties: Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, { enum: ['a', 'b'] }]))
            }
          }
        ]
      })
    ]
  ]
  for (const [what, make] of lists) {
    const made = new Map([2000, 4000, 8000].map((n) => [n, { body: { result: make(n) } }]))
    t.ok(growth((n) => readFromServer(made.get(n)!), 2000) < 1.6, what)
  }
})
