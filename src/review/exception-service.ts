/**
 * Exceptions for wrong decisions: the affected caller proposes one, a person responsible for the policy accepts it for
 * a while, and that rule then no longer counts for that text. Nobody may accept their own proposal.
 */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import { isId, newId } from '../base/ids.js'
import { durationForms, isoOrNull, isoTime, parseDuration } from '../base/units.js'
import type { Hands } from '../identity/hands.js'
import { holds, insufficientScope } from '../identity/scopes.js'
import type { Exceptions } from '../policy/evaluation.js'
import { type Seal, sealedFor } from '../sealing/seal.js'
import type { AuditStore } from '../storage/contracts/audit.js'
import type { ExceptionRow, ExceptionState, ExceptionStore } from '../storage/contracts/reviews.js'
import type { Fingerprint } from './fingerprint.js'
import type { Reviewer } from './review.js'
import { ownDecision } from './two-hands.js'

export interface ExceptionServiceDeps {
  exceptions: ExceptionStore
  audit: Pick<AuditStore, 'append' | 'flush' | 'read'>
  clock: Clock
  seal: Seal
  fingerprint: Fingerprint
  hands: Hands
  /** The account whose people are responsible for the policy. */
  account: string
  /** Read at each use. */
  settings: { readonly allowOwn: boolean }
}

export interface ExceptionRecord {
  exception_id: string
  state: ExceptionState | 'expired'
  evaluation_id: string
  account: string
  policy: string
  rules: string[]
  scope: 'key' | 'account'
  /** The first key of the chain of rotations that it holds for. */
  key_id: string
  note: string | null
  proposed_by: string
  proposed_at: string
  decided_by: string | null
  decided_at: string | null
  expires_at: string | null
}

const usualExpiry = '30d'
const maxExpiryMs = 366 * 86_400_000
const defaultPage = 100

/** What is said where an exception is no longer in the state that an act needs. */
const closedMessages = {
  proposed: 'This exception is decided already.',
  accepted: 'Only an accepted exception can be ended.'
}

export class ExceptionService {
  readonly #deps: ExceptionServiceDeps
  /** By account and fingerprint. */
  #active = new Map<string, Map<string, ExceptionRow[]>>()

  constructor(deps: ExceptionServiceDeps) {
    this.#deps = deps
  }

  /** The exceptions for a caller; undefined for most callers, who have none. */
  for({ accountId, lineage }: Pick<Reviewer, 'accountId' | 'lineage'>): Exceptions | undefined {
    const active = this.#active.get(accountId)
    if (active === undefined) return undefined
    const { clock, fingerprint } = this.#deps
    const now = clock.now()
    return {
      covers: (rule, text) =>
        (active.get(fingerprint(rule, text)) ?? []).some(
          ({ scope, lineage: owner, expiresAt }) => (scope === 'account' || owner === lineage) && expiresAt! > now
        )
    }
  }

  get active(): number {
    return new Set([...this.#active.values()].flatMap((rows) => [...rows.values()].flat())).size
  }

  /** Reads exceptions that other processes accepted and revoked. */
  async refresh(): Promise<void> {
    const { exceptions, clock } = this.#deps
    const active = new Map<string, Map<string, ExceptionRow[]>>()
    for (const row of await exceptions.active(clock.now())) {
      const ofAccount = active.get(row.account) ?? new Map<string, ExceptionRow[]>()
      active.set(row.account, ofAccount)
      for (const print of row.fingerprints) {
        const same = ofAccount.get(print)
        if (same === undefined) ofAccount.set(print, [row])
        else same.push(row)
      }
    }
    this.#active = active
  }

  /** Proposes an exception, by the affected caller or by a reviewer. */
  async propose(
    caller: Reviewer,
    { evaluation_id: evaluationId, note }: { evaluation_id: string; note?: string | undefined }
  ): Promise<{ created: boolean; record: ExceptionRecord }> {
    const { exceptions, audit, clock, seal } = this.#deps
    await audit.flush()
    const filter = { account: caller.accountId, kind: 'evaluation', subject: evaluationId }
    const [decision] = await audit.read({ filter, order: 'newest', limit: 1 })
    const data = decision?.data as Partial<StoppedData> | undefined
    const isReviewer = holds(caller.scopes, 'pdp:adjudicate') || holds(caller.scopes, 'constitutions:write')
    if (data === undefined || !(isReviewer || data.lineage === caller.lineage || decision!.keyId === caller.keyId)) {
      throw new Fault('not_found', { message: 'There is no such evaluation, or it is older than the audit.' })
    }
    if (data.decision === 'permit') {
      throw invalid('evaluation_id', 'unknown_value', 'This evaluation was permitted: it needs no exception.')
    }
    if (data.fingerprints === undefined || data.fingerprints.length === 0 || data.lineage === undefined) {
      const why =
        'The decision rests on several texts together, or on the session: no exception for one text is possible.'
      throw invalid('evaluation_id', 'unknown_value', why)
    }
    const at = clock.now()
    const exceptionId = newId('exc', at)
    const opened = await exceptions.propose({
      exceptionId,
      account: caller.accountId,
      evaluationId,
      policy: data.policy ?? '',
      rules: data.rules ?? [],
      fingerprints: data.fingerprints,
      lineage: data.lineage,
      causedBy: decision!.keyId,
      scope: 'key',
      state: 'proposed',
      sealedNote: note === undefined ? null : seal.seal(Buffer.from(note), sealedFor(exceptionId, 'note')),
      proposedBy: caller.keyId,
      proposedAt: at,
      decidedBy: null,
      decidedAt: null,
      expiresAt: null
    })
    if (opened.created) this.#audit('exception.proposed', caller, opened.exceptionId, { evaluation_id: evaluationId })
    return { created: opened.created, record: this.#record(await this.#get(opened.exceptionId)) }
  }

  async list(
    reader: Reviewer,
    { state, limit = defaultPage, cursor }: { state?: ExceptionState; limit?: number; cursor?: string } = {}
  ): Promise<{ exceptions: ExceptionRecord[]; next_cursor?: string }> {
    this.#requireOwner(reader, 'constitutions:read')
    if (cursor !== undefined && !isId('exc', cursor)) {
      throw invalid('query.cursor', 'invalid_format', 'cursor must be a next_cursor of an earlier answer.')
    }
    const rows = await this.#deps.exceptions.list({ state, after: cursor, limit: limit + 1 })
    const exceptions = rows.slice(0, limit).map((row) => this.#record(row))
    return rows.length > limit ? { exceptions, next_cursor: exceptions.at(-1)!.exception_id } : { exceptions }
  }

  async decide(
    person: Reviewer,
    exceptionId: string,
    input: { decision: 'accept' | 'reject'; scope?: 'key' | 'account' | undefined; expires_in?: string | undefined }
  ): Promise<ExceptionRecord> {
    this.#requireOwner(person, 'constitutions:write')
    const row = await this.#get(exceptionId)
    if (input.decision === 'accept' && !this.#deps.settings.allowOwn) await this.#requireOther(person, row)
    const expiryMs = parseDuration(input.expires_in ?? usualExpiry)
    if (expiryMs === undefined || expiryMs === 0 || expiryMs > maxExpiryMs) {
      throw invalid('expires_in', 'out_of_range', `expires_in must be more than 0 and at most 366d: ${durationForms}.`)
    }
    const at = this.#deps.clock.now()
    const { scope = 'key', decision } = input
    const accepted = decision === 'accept'
    return this.#change(person, row, 'proposed', {
      state: accepted ? 'accepted' : 'rejected',
      scope,
      expiresAt: accepted ? at + expiryMs : null
    })
  }

  /** Nobody may accept an own proposal, or an exception for an own key, with any of their keys. */
  async #requireOther(person: Reviewer, row: ExceptionRow): Promise<void> {
    const { hands } = this.#deps
    const proposer = await hands.of(row.account, row.proposedBy)
    const { roots } = await hands.of(row.account, row.causedBy ?? row.lineage)
    const fault =
      ownDecision(person, proposer, 'Your own hand proposed this exception.') ??
      ownDecision(person, { lineage: row.lineage, roots }, 'The decision hit a key of your own hand.')
    if (fault !== undefined) throw fault
  }

  /** Ends an accepted exception at once. */
  async revoke(person: Reviewer, exceptionId: string): Promise<ExceptionRecord> {
    this.#requireOwner(person, 'constitutions:write')
    const row = await this.#get(exceptionId)
    return this.#change(person, row, 'accepted', { state: 'revoked', scope: row.scope, expiresAt: row.expiresAt })
  }

  async #change(
    person: Reviewer,
    { exceptionId, rules }: ExceptionRow,
    from: 'proposed' | 'accepted',
    to: Pick<ExceptionRow, 'state' | 'scope' | 'expiresAt'>
  ): Promise<ExceptionRecord> {
    const { exceptions, clock } = this.#deps
    const at = clock.now()
    const decision = { ...to, decidedBy: person.keyId, decidedAt: at }
    if (!(await exceptions.decide(exceptionId, from, decision)))
      throw new Fault('already_decided', { message: closedMessages[from] })
    await this.refresh()
    const { state, scope, expiresAt } = to
    const told = { rules, scope, expires_at: isoOrNull(expiresAt), roots: person.roots }
    this.#audit(`exception.${state}`, person, exceptionId, told)
    return this.#record(await this.#get(exceptionId))
  }

  async #get(exceptionId: string): Promise<ExceptionRow> {
    const row = isId('exc', exceptionId) ? await this.#deps.exceptions.get(exceptionId) : undefined
    if (row === undefined) throw new Fault('not_found', { message: 'There is no such exception.' })
    return row
  }

  #requireOwner({ accountId, scopes }: Reviewer, scope: 'constitutions:read' | 'constitutions:write'): void {
    if (!holds(scopes, scope)) throw insufficientScope(scope, scopes)
    if (accountId !== this.#deps.account) throw new Fault('not_found', { message: 'There is no such exception.' })
  }

  #record(row: ExceptionRow): ExceptionRecord {
    const { seal, clock } = this.#deps
    const isOver = row.state === 'accepted' && row.expiresAt !== null && clock.now() >= row.expiresAt
    return {
      exception_id: row.exceptionId,
      state: isOver ? 'expired' : row.state,
      evaluation_id: row.evaluationId,
      account: row.account,
      policy: row.policy,
      rules: [...row.rules],
      scope: row.scope,
      key_id: row.lineage,
      note: row.sealedNote && seal.open(row.sealedNote, sealedFor(row.exceptionId, 'note')).toString('utf8'),
      proposed_by: row.proposedBy,
      proposed_at: isoTime(row.proposedAt),
      decided_by: row.decidedBy,
      decided_at: isoOrNull(row.decidedAt),
      expires_at: isoOrNull(row.expiresAt)
    }
  }

  #audit(kind: string, { accountId, keyId }: Reviewer, subject: string, data: Record<string, unknown>): void {
    const { audit, clock } = this.#deps
    audit.append({ at: clock.now(), kind, account: accountId, keyId, subject, data })
  }
}

/** The audit's data on a decision other than `permit`. */
interface StoppedData {
  decision: string
  policy: string
  rules: string[]
  lineage: string
  fingerprints: string[]
}
