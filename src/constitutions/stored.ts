/** Loads stored versions as policies. */
import { Fault } from '../base/errors.js'
import { ConstitutionError } from '../policy/constitution/problems.js'
import type { Coverage } from '../policy/escalate/judges.js'
import { loadPolicy } from '../policy/evaluate/entry.js'
import type { Policy } from '../policy/match/compile.js'
import type { ConstitutionStore } from '../storage/contracts/constitutions.js'
import { digestOf } from './digest.js'

export interface Versions {
  store: Pick<ConstitutionStore, 'get'>
  account: string
}

/** Reads and compiles a stored version. @throws ConstitutionError where it is not valid any more, Fault `not_found` */
export async function loadStored(
  { store, account }: Versions,
  name: string,
  version: number,
  coverage: Coverage
): Promise<Policy> {
  const row = await store.get(account, name, version)
  if (row === undefined) throw new Fault('not_found', { message: `There is no version ${version} of ${name}.` })
  const label = `${name}@${version}`
  if (digestOf(row.source) !== row.digest) {
    const message = 'is not the stored text: its digest differs'
    throw new ConstitutionError(label, [{ line: 1, column: 1, path: '', message }])
  }
  return loadPolicy(row.source, label, { name, coverage })
}

/** Loads a version that the start requires. @throws an Error that says how to recover */
export async function loadActive(
  versions: Versions,
  name: string,
  version: number,
  coverage: Coverage
): Promise<Policy> {
  try {
    return await loadStored(versions, name, version, coverage)
  } catch (error) {
    if (!(error instanceof ConstitutionError)) throw error
    const way = `"sluicegate constitutions activate ${name} VERSION" puts another in force, and so does a change of its file.`
    throw new Error(`${name}@${version} is in force and cannot be read: ${way}\n${error.message}`, { cause: error })
  }
}
