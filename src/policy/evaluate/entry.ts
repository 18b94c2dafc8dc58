/** A constitution ready to judge. */

import type { ReadOptions } from '../constitution/parse.js'
import { readConstitution } from '../constitution/read.js'
import { speechOf } from '../decide/speech.js'
import type { HeldPolicy } from '../evaluation.js'
import { compileGently, type Policy } from '../match/compile.js'
import { Growth } from '../match/growth.js'
import { Judge } from './judge.js'

export interface PolicyEntry extends HeldPolicy {
  readonly judge: Judge
  readonly growth: Growth
  /** Names this text of this constitution for the worker threads; never used twice in a process. */
  readonly key: string
}

let generation = 0

export function entryOf(policy: Policy): PolicyEntry {
  const { label } = policy
  const key = `${label}#${++generation}`
  return { label, judge: new Judge(policy), growth: new Growth(policy), speech: speechOf(policy), key }
}

/** Reads (see `parseConstitution`) and compiles. A text that gets this far can be put in force. */
export async function loadPolicy(yamlText: string, fileName: string, options?: ReadOptions): Promise<Policy> {
  return compileGently(await readConstitution(yamlText, fileName, options))
}

/** The same policy under the number that a store gave it, which verdicts then name. */
export function numbered(policy: Policy, version: number | string): Policy {
  const constitution = { ...policy.constitution, version: String(version) }
  return { ...policy, constitution, label: `${constitution.name}@${version}` }
}
