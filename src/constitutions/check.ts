/**
 * Checks the text of a constitution without storing it: returns every problem with its place, or the effective
 * constitution with its base.
 */
import { Fault, invalid } from '../base/errors.js'
import type { Actor } from '../identity/caller.js'
import type { Constitution } from '../policy/constitution/parse.js'
import { ConstitutionError, type Problem } from '../policy/constitution/problems.js'
import { readConstitution } from '../policy/constitution/read.js'
import type { Rule } from '../policy/constitution/rules.js'
import { constitutionName } from './constitution-service.js'
import type { Enforcement } from './enforcement.js'
import { createQueue } from './queue.js'

/** Most reported problems: a file of another kind has one in every line. */
const maxProblems = 500

export interface CheckReport {
  valid: boolean
  problems: readonly Problem[]
  /** Entries that do not do what they say, such as dropped names of the shipped constitution. */
  warnings: readonly Problem[]
  /** Null where it is not valid. */
  effective: ReturnType<typeof effectiveOf> | null
}

export interface Checker {
  check(actor: Actor, name: string, source: string): Promise<CheckReport>
}

export function createChecker({
  account,
  enforcement
}: {
  account: string
  enforcement: Pick<Enforcement, 'coverage'>
}): Checker {
  // A queue of its own, so that activations do not wait for editors.
  const queue = createQueue()
  return {
    async check(actor, name, source) {
      if (actor.accountId !== account) throw new Fault('not_found', { message: 'There is no such constitution.' })
      if (!constitutionName.test(name)) throw invalid('name', 'invalid_format', 'This is no name of a constitution.')
      const read = () => readConstitution(source, name, { name, coverage: enforcement.coverage })
      try {
        const constitution = await queue.run(read)
        const { warnings } = constitution
        return { valid: true, problems: [], warnings, effective: effectiveOf(constitution) }
      } catch (error) {
        if (!(error instanceof ConstitutionError)) throw error
        return { valid: false, problems: error.problems.slice(0, maxProblems), warnings: [], effective: null }
      }
    }
  }
}

/** The effective constitution with its base merged, without phrases. */
function effectiveOf({ base, readers, bands, categories, assume, rules, escalate }: Constitution) {
  return {
    extends: base ?? null,
    readers,
    bands,
    categories,
    assume: assume ?? {},
    rules: rules.map(ruleOf),
    judges: [...new Set(escalate.map(({ judge }) => judge))]
  }
}

function ruleOf(rule: Rule) {
  const { name, category, weight, nominate, detector, any, all, patterns, guarded, direction, roles, context } = rule
  return {
    name,
    category,
    weight,
    nominate,
    detector: detector?.id ?? null,
    kinds: detector?.kinds === undefined ? null : [...detector.kinds],
    min_confidence: detector?.minConfidence ?? null,
    phrases: any.length + all.reduce((sum, group) => sum + group.length, 0),
    patterns: patterns.length,
    guarded: guarded === undefined ? null : [...guarded],
    direction,
    roles: roles === undefined ? null : [...roles],
    context_keys: context.keys
  }
}
