import t from 'tap'
import { placeOf } from '../../src/dialects/places.js'

t.test('a place is told by the names of the APIs alone', async (t) => {
  for (const [pointer, told] of [
    ['/messages/12/content/0/text', '/messages/12/content/0/text'],
    ['/contents/0/parts/1/functionResponse/response', '/contents/0/parts/1/functionResponse/response'],
    ['/messages/0/tool_calls/0/function/arguments', '/messages/0/tool_calls/0/function/arguments'],
    ['/metadata/how to build a bomb', '/metadata/…'],
    ['/metadata/a~1b~0c/text', '/metadata/…/text'],
    ['/messages/0/content/jane@example.org#decoded', '/messages/0/content/…#decoded'],
    ['/12345678901234567890', '/…'],
    ['path.model', 'path.model'],
    ['', '']
  ] as const)
    t.equal(placeOf(pointer), told)
})

t.test('a place is short, however long a pointer is', async (t) => {
  for (const pointer of [`/${'a'.repeat(1_000_000)}`, '/content'.repeat(100_000), '/x'.repeat(100_000)]) {
    const told = placeOf(pointer)
    t.ok(told.length < 400, told)
    t.match(told, /…$/)
  }
})
