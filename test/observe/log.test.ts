import t from 'tap'
import { createLog, describeError } from '../../src/observe/log.js'

/** What `createLog` writes of an error: as it is given, and described before, as for logs of other programs. */
function written(error: unknown): Record<string, unknown>[] {
  const lines: string[] = []
  const log = createLog({ destination: { write: (line) => lines.push(line) } })
  log.error({ err: error }, 'failed')
  log.error({ err: describeError(error) }, 'failed')
  return lines.map((line) => (JSON.parse(line) as { err: Record<string, unknown> }).err)
}

t.test('an error is written with the places of its stack and of its cause, and without its message', async (t) => {
  const cause = Object.assign(new TypeError('hunter2 was refused'), { code: 'ECONNREFUSED' })
  const [given, before] = written(new RangeError('the words of a caller', { cause }))
  t.same(given, before, 'described once or twice')
  t.match(given, { name: 'RangeError', cause: { name: 'TypeError', code: 'ECONNREFUSED' } })
  for (const stack of [given!['stack'], (given!['cause'] as { stack: string[] }).stack]) {
    t.match((stack as string[])[0], /^at .*log\.test/)
  }
  t.notMatch(JSON.stringify(given), /hunter2|caller/)
})

t.test('what is thrown need not be an error', async (t) => {
  for (const thrown of ['text', 7, {}]) {
    const [given, before] = written(thrown)
    t.same(given, before)
    t.same(given?.['stack'], [])
  }
})
