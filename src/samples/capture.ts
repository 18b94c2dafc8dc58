/**
 * Captures samples of judged texts. A request only puts them into a queue; in the background secrets are masked in
 * groups, and texts are sealed and stored. If the queue is full or the store does not answer, samples are lost and
 * counted; requests never fail for it.
 */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Redactable } from '../base/decision.js'
import { newId } from '../base/ids.js'
import type { SampleSettings } from '../base/settings.js'
import type { Decided } from '../observe/record.js'
import { type Seal, sealedFor } from '../sealing/seal.js'
import type { SampleRow, SampleStore } from '../storage/contracts/samples.js'
import type { Masked, Masker } from './masking.js'
import { type Draft, draftOf, isOfMinors, isSexual, type Sampled, sampleOf } from './prepare.js'

/** `withheld`: content that is never kept. `queue_full`, `failed`: lost. */
export type SampleOutcome = 'stored' | 'withheld' | 'queue_full' | 'failed'

export interface CaptureDeps {
  store: Pick<SampleStore, 'add'>
  seal: Seal
  masker: Pick<Masker, 'find'>
  /** Read at each use. */
  settings: SampleSettings
  counted(outcome: SampleOutcome, count: number): void
  failure(error: unknown): void
}

interface Waiting extends Sampled {
  row: Omit<SampleRow, 'sealedText'>
  units: number
}

const maxWaiting = 1_000
/** UTF-16 units of all waiting samples. */
const maxUnits = 16_000_000
/** Samples within so many ms are written together. */
const groupMs = 250
const groupRows = 16
/** UTF-16 units of one group: a few seconds of its thread at most. */
const groupUnits = 400_000
const pauseMs = 20
/** How long a stopping process still writes, ms. */
const lastMs = 5_000
/** How often a failing store is logged, ms. */
const tellEveryMs = 60_000

export class Capture {
  readonly #deps: CaptureDeps
  readonly #waiting: Waiting[] = []
  #units = 0
  #timer: NodeJS.Timeout | undefined
  #draining: Promise<void> | undefined
  #closed = false
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(deps: CaptureDeps) {
    this.#deps = deps
  }

  /** @returns the id of the future sample; undefined where none is taken */
  take({ evaluation, parts, said, caller, surface, route, sentTo }: Decided, now: number): string | undefined {
    const { settings, counted } = this.#deps
    const { what, share } = settings
    if (what === 'off' || said === undefined || this.#closed) return undefined
    if (what === 'stopped' ? evaluation.decision === 'permit' : Math.random() >= share) return undefined
    if (said.isOfMinors === true || isOfMinors(evaluation, said.middle)) {
      counted('withheld', 1)
      return undefined
    }
    const units = parts.reduce((sum, { text }) => sum + text.length, 0)
    const isFull = this.#waiting.length >= maxWaiting || this.#units + units > maxUnits
    if (isFull && this.#waiting.length > 0) {
      counted('queue_full', 1)
      return undefined
    }
    const sampleId = newId('smp', now)
    const { detections } = evaluation
    const row = {
      sampleId,
      evaluationId: evaluation.evaluation_id,
      account: caller.accountId,
      keyId: caller.keyId,
      surface,
      route,
      policy: evaluation.policy,
      decision: evaluation.decision,
      riskScore: evaluation.risk_score,
      matchedRules: evaluation.matched_rules,
      categories: [...new Set(detections.flatMap(({ category, kind }) => (kind === undefined ? category : [])))].sort(),
      upstream: sentTo?.upstream ?? null,
      model: sentTo?.model ?? null,
      createdAt: now
    }
    this.#waiting.push({ evaluation, parts, said, row, units })
    this.#units += units
    if (this.#draining === undefined) {
      this.#timer ??= setTimeout(() => void this.#start(), groupMs)
      this.#timer.unref()
    }
    return sampleId
  }

  /** Resolves when all samples that wait now are stored or lost. */
  async flush(): Promise<void> {
    await this.#start()
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined
    })
    return this.#draining
  }

  async #drain(): Promise<void> {
    const { store, settings, counted, failure } = this.#deps
    for (let group = this.#next(); group.length > 0; group = this.#next()) {
      let rows: SampleRow[] = []
      try {
        rows = await this.#rowsOf(group)
        if (rows.length > 0) await store.add(rows, { rows: settings.rows, bytes: settings.bytes })
        counted('stored', rows.length)
      } catch (error) {
        counted('failed', rows.length || group.length)
        if (performance.now() - this.#toldAt > tellEveryMs) failure(error)
        this.#toldAt = performance.now()
      }
      // Pauses, so that requests come first.
      await delay(pauseMs)
    }
  }

  #next(): Waiting[] {
    let units = 0
    let rows = 0
    for (const one of this.#waiting) {
      if (rows === groupRows || (rows > 0 && units + one.units > groupUnits)) break
      units += one.units
      rows++
    }
    this.#units -= units
    return this.#waiting.splice(0, rows)
  }

  async #rowsOf(group: readonly Waiting[]): Promise<SampleRow[]> {
    const { seal, counted } = this.#deps
    const drafts = group.map(draftOf)
    const found = await this.#masks(group, drafts)
    const rows: SampleRow[] = []
    for (const [i, { row, ...sampled }] of group.entries()) {
      const masked = found[i]
      if (masked === undefined) counted('failed', 1)
      else if (masked.isOfMinors || (masked.hasMinors && isSexual(sampled.evaluation))) counted('withheld', 1)
      else {
        const text = sampleOf(sampled, drafts[i]!, masked)
        const bytes = Buffer.from(JSON.stringify(text))
        rows.push({ ...row, sealedText: seal.seal(bytes, sealedFor(row.sampleId, 'text')) })
      }
      await turn()
    }
    return rows
  }

  /** Each route chooses what is masked beside secrets: samples with the same choice are masked together. */
  async #masks(group: readonly Waiting[], drafts: readonly Draft[]): Promise<(Masked | undefined)[]> {
    const { masker } = this.#deps
    const asked = new Map<string, number[]>()
    for (const [i, one] of group.entries()) {
      const wanted = wantedOf(one).join()
      asked.set(wanted, [...(asked.get(wanted) ?? []), i])
    }
    const found: (Masked | undefined)[] = group.map(() => undefined)
    for (const places of asked.values()) {
      const texts = places.map((i) => ({ parts: drafts[i]!.texts, joined: drafts[i]!.joined }))
      const masks = await masker.find(texts, wantedOf(group[places[0]!]!))
      for (const [at, i] of places.entries()) found[i] = masks[at]
    }
    return found
  }

  /** Writes waiting samples for a while, and accepts no more. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.race([this.#start(), delay(lastMs, undefined, { ref: false })])
    const left = this.#waiting.splice(0).length
    if (left > 0) this.#deps.counted('failed', left)
  }
}

/** Names that were searched for the verdict are among its detections. */
function wantedOf({ said: { redact, hasNames } }: Sampled): Redactable[] {
  return redact.filter((one) => one !== 'names' || !hasNames)
}
