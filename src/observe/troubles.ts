/**
 * Tracks lasting failures of this process: judges, the encoder, upstreams. Other processes read them in its presence.
 */
import type { Clock } from '../base/clock.js'
import type { EncoderReport } from '../encoder/index.js'
import type { Metrics } from './metrics.js'

const windowMs = 300_000
/** Earlier samples add nothing: a window has some thirty. */
const sampleMs = 9_000
/** Fewer failures are no lasting trouble. */
const leastFailures = 5
/**
 * Least shares of failures. Callers notice if half of their upstream's calls fail; texts that the encoder does not read
 * are refused at once.
 */
const shares = { upstream_failing: 0.5, encoder_failing: 0.1 } as const
/** Causes on the caller's or this process's side: the encoder did not fail. */
const notItsFault = new Set(['cancelled', 'closed'])

export const troubleKinds = ['judge_failing', 'encoder_failing', 'upstream_failing'] as const

/** Names and counts alone. */
export interface Trouble {
  kind: (typeof troubleKinds)[number]
  /** Name of the judge or the upstream; empty for the encoder. */
  subject: string
  /** Failures in the last five minutes; not counted for judges, whose breaker opens first. */
  failures: number
  requests: number
}

export interface Troubles {
  /** Counts what the encoder reports, and passes it on. */
  watching(report: EncoderReport): EncoderReport
  now(): Trouble[]
}

export interface TroublesDeps {
  metrics: Pick<Metrics, 'upstreamRequests'>
  judges(): readonly { judge: string; state: string }[]
  clock: Pick<Clock, 'monotonic'>
}

type Counts = Map<string, { failures: number; requests: number }>

export function watchTroubles({ metrics, judges, clock }: TroublesDeps): Troubles {
  const encoder = { failures: 0, requests: 0 }
  /** Oldest first: one at the beginning of the window or before, and those within it. */
  const samples: { at: number; counts: Counts }[] = [{ at: clock.monotonic(), counts: new Map() }]

  function count(): Counts {
    const counts: Counts = new Map([['', { ...encoder }]])
    metrics.upstreamRequests.each(({ value }, upstream, status) => {
      const sum = counts.get(upstream) ?? { failures: 0, requests: 0 }
      sum.requests += value
      if (status === '5xx') sum.failures += value
      counts.set(upstream, sum)
    })
    return counts
  }

  return {
    watching: (report) => ({
      ...report,
      reading(seconds) {
        encoder.requests++
        report.reading(seconds)
      },
      failure(cause) {
        if (!notItsFault.has(cause)) {
          encoder.requests++
          encoder.failures++
        }
        report.failure(cause)
      }
    }),

    now() {
      const at = clock.monotonic()
      const counts = count()
      while (samples.length > 1 && samples[1]!.at <= at - windowMs) samples.shift()
      const before = samples[0]!.counts
      if (at - samples.at(-1)!.at >= sampleMs) samples.push({ at, counts })
      const troubles: Trouble[] = judges()
        .filter(({ state }) => state !== 'closed')
        .map(({ judge }) => ({ kind: 'judge_failing', subject: judge, failures: 0, requests: 0 }))
      for (const [subject, sum] of counts) {
        const kind = subject === '' ? 'encoder_failing' : 'upstream_failing'
        const failures = sum.failures - (before.get(subject)?.failures ?? 0)
        const requests = sum.requests - (before.get(subject)?.requests ?? 0)
        if (failures >= leastFailures && failures >= requests * shares[kind])
          troubles.push({ kind, subject, failures, requests })
      }
      return troubles
    }
  }
}
