/** Reads changed files of constitutions, which become versions. */
import { readFile } from 'node:fs/promises'
import type { Coverage } from '../policy/escalate/judges.js'
import { loadPolicy } from '../policy/evaluate/entry.js'
import type { Policy } from '../policy/match/compile.js'
import type { ConstitutionFile } from '../storage/contracts/constitutions.js'
import { digestOf } from './digest.js'

/**
 * Reads a constitution that the configuration names.
 * @throws Error that names the setting, the file and the reason
 */
export async function readNamed(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`${path} constitutions.${name}: cannot be read (${code ?? message})`, { cause: error })
  }
}

export interface ChangedFile {
  file: ConstitutionFile
  policy: Policy
}

/**
 * Reads the files that differ from the store.
 * @param files YAML files by name
 * @param known the digest of each file when it was last taken over
 * @throws ConstitutionError, or an Error that names a file that cannot be read
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
    const source = await readNamed(name, path)
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
