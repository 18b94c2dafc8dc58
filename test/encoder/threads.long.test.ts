import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { EncoderError } from '../../src/encoder/index.js'
import { isShipped, open, shipped } from './support.js'

/** A thread that is ended within a call of onnxruntime-node ends the process: this one would be gone. */
t.test(
  'threads are closed while they read, and the process goes on',
  { skip: !isShipped && 'no weights' },
  async (t) => {
    for (let round = 0; round < 8; round++) {
      const { threads } = await open(t, { threads: 2 }, shipped)
      const { signal } = new AbortController()
      const ids = () => BigInt64Array.from({ length: 128 }, (_, i) => BigInt(i + 10))
      const told = Array.from({ length: 12 }, () =>
        threads.run({ ids: ids() }, 'k1', signal).then(
          () => 'read',
          ({ failure }: EncoderError) => failure
        )
      )
      await setTimeout(5 + 4 * round)
      await threads.close()
      const ends = new Set(await Promise.all(told))
      t.ok(ends.has('closed'), 'what was under way is told that it is closed')
      t.notOk([...ends].some((end) => end !== 'closed' && end !== 'read'))
      await t.rejects(threads.run({ ids: ids() }, 'k1', signal), { name: 'EncoderError', failure: 'closed' })
    }
  }
)
