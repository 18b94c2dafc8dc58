import t from 'tap'
import { Fault } from '../../src/base/errors.js'
import { complain, exitCodes } from '../../src/cli/terminal.js'
import { unavailable } from '../../src/storage/contracts/failure.js'

t.test('a storage that fails is told with its cause, in one line', async (t) => {
  const { write } = process.stderr
  let said = ''
  process.stderr.write = (text) => {
    said += text
    return true
  }
  t.teardown(() => {
    process.stderr.write = write
  })
  t.equal(complain(unavailable(new Error('database or disk is full'))), exitCodes.failure)
  t.equal(said, 'sluicegate: The storage is unavailable. Try again shortly. The cause: database or disk is full\n')
  said = ''
  complain(new Fault('not_found', { message: 'There is no such key.' }))
  t.equal(said, 'sluicegate: There is no such key.\n')
})
