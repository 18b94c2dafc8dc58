/** Why a call got no verdict, as metric, audit and log tell it. */
import t from 'tap'
import { EncoderError, encoderFailures } from '../../src/encoder/index.js'
import { createLog } from '../../src/observe/log.js'
import { createUnjudgedRecorder } from '../../src/observe/unjudged.js'
import { EvaluatorError } from '../../src/policy/evaluate/evaluator-options.js'
import type { AuditRow } from '../../src/storage/contracts/audit.js'

/** What is recorded of a call that passed without a verdict. */
function record(error: unknown) {
  const counted: unknown[] = []
  const rows: Pick<AuditRow, 'data'>[] = []
  const lines: string[] = []
  const counter = { inc: (labels: unknown) => counted.push(labels) }
  const unjudged = createUnjudgedRecorder({
    metrics: { evaluatorFailures: counter, failOpen: counter } as never,
    audit: { append: (row: AuditRow) => rows.push(row) } as never,
    clock: { now: () => 0 } as never,
    log: createLog({ destination: { write: (line) => lines.push(line) } }),
    settings: { required: false }
  })
  const caller = { accountId: 'a', keyId: 'k' } as never
  unjudged({ surface: 'chat', route: '/v1/chat/completions', requestId: 'r', caller, error, passed: true })
  return { counted, rows, err: JSON.parse(lines[0]!).err }
}

t.test('a deadline and a full queue of the encoder are want of time, its other failures are faults', async (t) => {
  for (const failure of encoderFailures) {
    const cause = failure === 'deadline' || failure === 'queue_full' ? 'timeout' : 'error'
    const { counted, rows, err } = record(new EvaluatorError('the evaluation failed', new EncoderError(failure)))
    t.match(counted, [{ surface: 'chat', cause }, { cause }], failure)
    t.match(rows, [{ data: { cause } }], failure)
    t.match(err, { name: 'EvaluatorError', cause: { name: 'EncoderError', failure } }, 'the log names it')
  }
})

t.test(
  'a deadline of a thread is want of time too, and another error says nothing of itself but its name',
  async (t) => {
    const late = new EvaluatorError('late', new DOMException('the text', 'TimeoutError'))
    t.match(record(late).counted, [{ cause: 'timeout' }, { cause: 'timeout' }])
    const fault = Object.assign(new Error('the text'), { failure: 'the text' })
    const { counted, err } = record(fault)
    t.match(counted, [{ cause: 'error' }, { cause: 'error' }])
    t.notMatch(JSON.stringify(err), /the text/)
  }
)
