/** The service of samples, for people who may read them: each reading and deletion is audited before the answer. */
import type { Clock } from '../base/clock.js'
import type { Redactable } from '../base/decision.js'
import { Fault, invalid } from '../base/errors.js'
import { isId } from '../base/ids.js'
import type { SampleSettings } from '../base/settings.js'
import { isoTime } from '../base/units.js'
import type { Caller } from '../identity/caller.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import { Busy } from '../policy/explain/dry-run-pool.js'
import { type Seal, sealedFor } from '../sealing/seal.js'
import type { AuditStore } from '../storage/contracts/audit.js'
import type { SampleFacts, SampleFilter, SampleRow, SampleStore } from '../storage/contracts/samples.js'
import { covered, coverOf, type Masker, moved, textsIn, withTexts } from './masking.js'
import type { SampleDetail, SampleKeeping, SampleRecord, SampleText } from './sample.js'

export interface SampleServiceDeps {
  store: SampleStore
  audit: Pick<AuditStore, 'commit'>
  clock: Clock
  seal: Seal
  masker: Masker
  /** Read at each use. */
  settings: SampleSettings
  /** After a deletion: see `Storage.scrub`. */
  scrub(): Promise<void>
}

export type Reader = Pick<Caller, 'accountId' | 'keyId' | 'scopes'>

/** In the API's own names; times in ms. */
export interface SampleQuery extends SampleFilter {
  limit?: number | undefined
  /** The last `next_cursor`. */
  cursor?: string | undefined
}

const defaultPage = 100
/** Samples that one transaction of the upkeep removes, at most. */
const purgeBatch = 1_000
/** Samples of one list that is read with its texts. */
const textsPerRead = 20

export class SampleService {
  readonly #deps: SampleServiceDeps

  constructor(deps: SampleServiceDeps) {
    this.#deps = deps
  }

  /** Newest first, without texts. */
  async list(
    reader: Reader,
    { limit = defaultPage, cursor, ...filter }: SampleQuery = {}
  ): Promise<{ samples: SampleRecord[]; keeping: SampleKeeping; next_cursor?: string }> {
    requireReader(reader)
    if (cursor !== undefined && !isId('smp', cursor)) {
      throw invalid('query.cursor', 'invalid_format', 'cursor must be a next_cursor of an earlier answer.')
    }
    const { store } = this.#deps
    const page = { filter: this.#young(filter), after: cursor, limit: limit + 1 }
    const rows = await store.list(reader.accountId, page)
    const samples = rows.slice(0, limit).map(recordOf)
    const keeping = await this.#keeping(reader.accountId)
    await this.#audit(reader, 'sample.listed', null, { ...told(filter), rows: samples.length })
    return rows.length > limit ? { samples, keeping, next_cursor: samples.at(-1)!.sample_id } : { samples, keeping }
  }

  /** @param redact kinds to replace for this reading */
  async get(reader: Reader, sampleId: string, redact: readonly Redactable[] = []): Promise<SampleDetail> {
    requireReader(reader)
    const row = isId('smp', sampleId) ? await this.#deps.store.get(reader.accountId, sampleId) : undefined
    if (row === undefined || row.createdAt < this.#oldest()) throw notFound()
    const text = await this.#redacted(this.#open(row), redact)
    await this.#audit(reader, 'sample.read', sampleId, { evaluation_id: row.evaluationId, redacted: [...redact] })
    return {
      ...recordOf({ ...row, bytes: row.sealedText.length }),
      direction: text.direction,
      parts: text.parts.map(({ role, text, isKey }) => ({ role, text, ...(isKey && { is_key: isKey }) })),
      context: text.context ?? null,
      detections: text.detections,
      scores: text.scores,
      is_cut: text.isCut,
      redacted: [...redact]
    }
  }

  async remove(reader: Reader, sampleId: string): Promise<void> {
    requireReader(reader)
    const { store, scrub } = this.#deps
    if (!isId('smp', sampleId) || !(await store.remove(reader.accountId, sampleId))) throw notFound()
    await this.#audit(reader, 'sample.deleted', sampleId, {})
    await scrub()
  }

  /** @returns how many */
  async removeAll(reader: Reader, filter: SampleFilter): Promise<{ deleted: number }> {
    requireReader(reader)
    const { store, scrub } = this.#deps
    // Audited first, so that a partial deletion is known.
    await this.#audit(reader, 'sample.deletion', null, told(filter))
    const deleted = await store.removeAll(reader.accountId, filter)
    await this.#audit(reader, 'sample.deleted', null, { ...told(filter), rows: deleted })
    if (deleted > 0) await scrub()
    return { deleted }
  }

  /**
   * The newest fitting samples, opened for a dry run; they are not shown.
   * @param units UTF-16 units of all of them together, at most
   */
  async texts(account: string, filter: SampleFilter, limit: number, units: number): Promise<[string, SampleText][]> {
    const found: [string, SampleText][] = []
    let left = units
    for (let after: string | undefined; found.length < limit; ) {
      const page = { filter: this.#young(filter), after, limit: Math.min(textsPerRead, limit - found.length) }
      const facts = await this.#deps.store.list(account, page)
      for (const { sampleId } of facts) {
        const row = await this.#deps.store.get(account, sampleId)
        if (row === undefined) continue
        const text = this.#open(row)
        const length = text.parts.reduce((sum, part) => sum + part.text.length, 0)
        if (length > left) return found
        left -= length
        found.push([sampleId, text])
      }
      if (facts.length < page.limit) return found
      after = facts.at(-1)!.sampleId
    }
    return found
  }

  /** Deletes expired samples, and the oldest beyond the bounds. @returns how many */
  async purge(): Promise<number> {
    const { store, settings } = this.#deps
    const bounds = { rows: settings.rows, bytes: settings.bytes }
    for (let gone = 0; ; ) {
      const count = await store.purge({ createdBefore: this.#oldest(), bounds, limit: purgeBatch })
      gone += count
      if (count < purgeBatch) return gone
    }
  }

  #oldest(): number {
    return this.#deps.clock.now() - this.#deps.settings.retentionMs
  }

  /** Hides samples past their retention, which stay stored until the next upkeep. */
  #young(filter: SampleFilter): SampleFilter {
    return { ...filter, from: Math.max(filter.from ?? 0, this.#oldest()) }
  }

  async #keeping(account: string): Promise<SampleKeeping> {
    const { what, share, rows: maxRows, bytes: maxBytes, retentionMs } = this.#deps.settings
    const { rows, bytes } = await this.#deps.store.totals(account)
    const retention = Math.round(retentionMs / 1000)
    return { what, share, retention_seconds: retention, max_rows: maxRows, max_bytes: maxBytes, rows, bytes }
  }

  #open({ sampleId, sealedText }: SampleRow): SampleText {
    return JSON.parse(this.#deps.seal.open(sealedText, sealedFor(sampleId, 'text')).toString('utf8'))
  }

  /** @throws Fault `overloaded`, or `evaluator_unavailable` where it cannot be read in full: then nothing is shown */
  async #redacted(text: SampleText, redact: readonly Redactable[]): Promise<SampleText> {
    if (redact.length === 0) return text
    const { context } = text
    const ofContext = context === undefined ? [] : textsIn(context)
    const parts = [
      ...text.parts.map((part) => ({ ...part, pointer: '' })),
      ...ofContext.map((text) => ({ role: 'parameter' as const, text, pointer: '' }))
    ]
    const [found] = await this.#deps.masker.find([{ parts, joined: text.joined }], redact).catch((error: unknown) => {
      if (error instanceof Busy) throw new Fault('overloaded', { headers: { 'retry-after': '5' }, cause: error })
      throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, cause: error })
    })
    if (found === undefined) throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' } })
    const covers = parts.map((_, i) => coverOf(found.masks, i))
    let next = text.parts.length
    return {
      ...text,
      parts: text.parts.map((part, i) => ({ ...part, text: covered(part.text, covers[i]!) })),
      ...(context !== undefined && {
        context: withTexts(context, (text) => covered(text, covers[next++]!)) as NonNullable<SampleText['context']>
      }),
      detections: text.detections.map((detection) => {
        const cover = covers[detection.part]!
        const { start, end } = detection.span
        return { ...detection, span: { start: moved(start, cover, 'start'), end: moved(end, cover, 'end') } }
      })
    }
  }

  /** Rejects where the audit cannot be committed: an unaudited reading is refused. */
  #audit(reader: Reader, kind: string, subject: string | null, data: Record<string, unknown>): Promise<void> {
    const { audit, clock } = this.#deps
    return audit.commit({ at: clock.now(), kind, account: reader.accountId, keyId: reader.keyId, subject, data })
  }
}

export function readsSamples({ scopes }: Pick<Caller, 'scopes'>): boolean {
  return holds(scopes, 'samples:read')
}

function requireReader({ scopes }: Reader): void {
  if (!readsSamples({ scopes })) throw insufficientScope('samples:read', scopes)
}

function recordOf(row: SampleFacts): SampleRecord {
  return {
    sample_id: row.sampleId,
    evaluation_id: row.evaluationId,
    created_at: isoTime(row.createdAt),
    decision: row.decision,
    risk_score: row.riskScore,
    matched_rules: [...row.matchedRules],
    categories: [...row.categories],
    surface: row.surface,
    route: row.route,
    policy: row.policy,
    upstream: row.upstream,
    model: row.model,
    key_id: row.keyId
  }
}

/** A filter as the audit records it. */
export function told(filter: SampleFilter): Record<string, string | number> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), value]))
}

function notFound(): Fault {
  return new Fault('not_found', { message: 'There is no such sample, or its time is over.' })
}
