import t from 'tap'
import { StorageWatch } from '../../src/notices/storage-watch.js'
import type { DeliveryRow } from '../../src/storage/contracts/reviews.js'
import { createMemoryCounters } from '../../src/storage/shared/local.js'
import { steppedClock } from '../identity/support.js'

const minute = 60_000

t.test(
  'a storage that takes nothing for a minute: nodes that share something tell once, and once that it is over',
  async (t) => {
    const clock = steppedClock()
    const counters = createMemoryCounters({ clock })
    const sent: DeliveryRow[] = []
    let writtenAt = clock.now()
    let isFailing = false
    let tries = 0
    const open = (node: string) =>
      new StorageWatch({
        node,
        writtenAt: () => writtenAt,
        write: async () => void tries++,
        isFailing: () => isFailing,
        counters,
        send: (rows) => void sent.push(...rows)
      })
    const watches = [open('one'), open('two')]
    const webhook = { url: 'http://127.0.0.1/', secret: 's', format: 'json' } as const
    const look = async (downMs: number | 'off' = minute) => {
      for (const watch of watches) {
        const telling = {
          settings: { webhook, email: undefined },
          account: 'a',
          publicUrl: undefined,
          now: clock.now()
        }
        await watch.look(downMs === 'off' ? undefined : downMs, 24 * 60 * minute, telling)
      }
    }
    await look()
    clock.advance(minute)
    await look()
    t.same([sent, watches[0]!.rows], [[], []], 'what is written every ten seconds may be late by that')
    clock.advance(10_000)
    await look()
    t.equal(tries, 2, 'each has tried before')
    t.match(sent, [{ event: 'alert.began', channel: 'webhook', subject: 'storage_down' }])
    t.match(JSON.parse(sent[0]!.body).data.alerts, [{ subject: 'one', facts: { nodes: ['one'] } }])
    t.same(
      watches.map(({ rows }) => rows.length),
      [1, 1],
      'each knows of itself'
    )
    clock.advance(6 * minute)
    writtenAt = clock.now()
    await look()
    t.same(watches[0]!.rows, [])
    clock.advance(6 * minute)
    writtenAt = clock.now()
    await look()
    t.same(
      sent.map(({ event }) => event),
      ['alert.began', 'alert.ended']
    )

    isFailing = true
    clock.advance(60 * minute)
    writtenAt = clock.now()
    await look()
    clock.advance(minute)
    writtenAt = clock.now()
    await look()
    t.equal(sent.length, 3, 'an audit that cannot be committed is the same')
    await look('off')
    t.same(watches[0]!.rows, [], 'off')
    t.equal(sent.length, 3)
  }
)
