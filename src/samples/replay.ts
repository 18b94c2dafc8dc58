/**
 * A dry run over samples: compares a candidate's decisions with those in force. No text leaves it; callers without the
 * right to read samples get only counts over many samples.
 */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import { isId } from '../base/ids.js'
import type { TrialReport, TrialRequest, TrialText } from '../constitutions/trial.js'
import { maxTotal } from '../constitutions/trial.js'
import type { Actor, Caller } from '../identity/caller.js'
import { insufficientScope } from '../identity/scopes.js'
import type { AuditStore } from '../storage/contracts/audit.js'
import type { SampleFilter } from '../storage/contracts/samples.js'
import { readsSamples, type SampleService, told } from './sample-service.js'

/** Samples of one dry run. */
export const maxReplayed = 100
/** Least samples for callers who may not read them: counts over fewer would reveal single samples. */
export const fewestCounted = 20

export type ReplayRequest = Omit<TrialRequest, 'texts' | 'explain'> & { samples: SampleFilter & { limit?: number } }

export interface ReplayDeps {
  samples: Pick<SampleService, 'texts'>
  tryOut(actor: Actor, name: string, request: TrialRequest): Promise<TrialReport>
  audit: Pick<AuditStore, 'commit'>
  clock: Clock
}

/** @throws Fault `insufficient_scope` for a key, whatever it holds */
export async function replay(
  { samples, tryOut, audit, clock }: ReplayDeps,
  actor: Caller,
  name: string,
  { samples: wanted, ...candidate }: ReplayRequest
): Promise<TrialReport> {
  // With its own candidates a key could probe a sample word by word.
  if (!isId('usr', actor.keyId)) throw insufficientScope('samples:read', actor.scopes)
  const { limit = maxReplayed, ...filter } = wanted
  const found = await samples.texts(actor.accountId, filter, limit, maxTotal)
  const mayRead = readsSamples(actor)
  if (found.length === 0) throw new Fault('not_found', { message: 'There are no samples that fit.' })
  if (!mayRead && found.length < fewestCounted) {
    throw invalid(
      'samples',
      'out_of_range',
      `Fewer than ${fewestCounted} samples fit: without samples:read only counts over more are told.`
    )
  }
  await audit.commit({
    at: clock.now(),
    kind: 'sample.replayed',
    account: actor.accountId,
    keyId: actor.keyId,
    subject: name,
    data: { ...told(filter), rows: found.length, counts_only: !mayRead }
  })
  const texts = found.map(
    ([id, { parts, joined, direction, context }]): TrialText => ({
      input_text: '',
      chat: { parts: parts.map((part, i) => ({ ...part, pointer: `/${i}` })), joined },
      id,
      direction,
      ...(context !== undefined && { context })
    })
  )
  const report = await tryOut(actor, name, { ...candidate, texts })
  return mayRead ? report : { ...report, results: [] }
}
