/**
 * Opens the service of samples, once per process: capture, reading, trial runs over them, deletion after their
 * retention.
 */
import type { Clock } from '../base/clock.js'
import type { SampleSettings } from '../base/settings.js'
import type { TrialReport, TrialRequest } from '../constitutions/trial.js'
import type { Encoder } from '../encoder/index.js'
import type { Actor, Caller } from '../identity/caller.js'
import { describeError, type Log } from '../observe/log.js'
import type { Metrics } from '../observe/metrics.js'
import type { RecorderDeps } from '../observe/record.js'
import { createDryRunner } from '../policy/explain/dry-run-pool.js'
import { Capture } from '../samples/capture.js'
import { Masker } from '../samples/masking.js'
import { type ReplayRequest, replay } from '../samples/replay.js'
import { SampleService } from '../samples/sample-service.js'
import type { Seal } from '../sealing/seal.js'
import type { Storage } from '../storage/contracts/index.js'

export interface Samples {
  /** Whether samples are taken now. */
  isOn(): boolean
  readonly take: NonNullable<RecorderDeps['sample']>
  readonly service: SampleService
  replay(actor: Caller, name: string, request: ReplayRequest): Promise<TrialReport>
  /** Resolves when all samples taken so far are stored or lost. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface SamplesOptions {
  storage: Storage
  seal: Seal
  clock: Clock
  log: Log
  metrics: Pick<Metrics, 'samples'>
  /** Read at each use. */
  settings: SampleSettings
  /** The encoder in force; undefined where there is none. */
  encoder: () => Encoder | undefined
  tryOut(actor: Actor, name: string, request: TrialRequest): Promise<TrialReport>
}

export function openSamples(options: SamplesOptions): Samples {
  const { storage, seal, clock, log, metrics, settings, encoder, tryOut } = options
  const { audit } = storage
  // A thread of its own, so that trials over samples and dry runs of policies do not wait for each other.
  const runner = createDryRunner()
  const masker = new Masker({ runner, encoder })
  const capture = new Capture({
    store: storage.samples,
    seal,
    masker,
    settings,
    counted: (outcome, count) => metrics.samples.inc({ outcome }, count),
    failure: (error) => log.error({ err: describeError(error) }, 'samples are lost: they could not be stored')
  })
  const scrub = () => storage.scrub()
  const service = new SampleService({ store: storage.samples, audit, clock, seal, masker, settings, scrub })
  return {
    isOn: () => settings.what !== 'off',
    take: (decided, at) => capture.take(decided, at),
    service,
    replay: (actor, name, request) => replay({ samples: service, tryOut, audit, clock }, actor, name, request),
    flush: () => capture.flush(),
    async close() {
      await capture.close()
      await runner.close()
    }
  }
}
