/** Reads changed files of constitutions, which become versions. */
import { readFile } from 'node:fs/promises'
import type { Coverage } from '../policy/escalate/judges.js'
import { loadPolicy } from '../policy/evaluate/entry.js'
import type { Policy } from '../policy/match/compile.js'
import type { ConstitutionFile } from '../storage/contracts/constitutions.js'
import { digestOf } from './digest.js'

export interface ChangedFile {
  file: ConstitutionFile
  policy: Policy
}

/**
 * Reads the files that differ from the store.
 * @param files YAML files by name
 * @param known the digest of each file when it was last taken over
 * @throws ConstitutionError, or the file system's error
 */
export async function changedFiles(
  files: Readonly<Record<string, string>>,
  known: (name: string) => string | null | undefined,
  {
    account,
    coverage,
    now,
    displaces
  }: { account: string; coverage: Coverage; now: number; displaces(path: string): boolean }
): Promise<Map<string, ChangedFile>> {
  const changed = new Map<string, ChangedFile>()
  for (const [name, path] of Object.entries(files)) {
    const source = await readFile(path, 'utf8')
    const digest = digestOf(source)
    if (known(name) === digest) continue
    const policy = await loadPolicy(source, path, { name, coverage })
    const file: ConstitutionFile = {
      account,
      name,
      declared: policy.constitution.version,
      digest,
      length: source.length,
      origin: 'file',
      note: null,
      createdAt: now,
      createdBy: null,
      source,
      displaces: displaces(path)
    }
    changed.set(name, { file, policy })
  }
  return changed
}
