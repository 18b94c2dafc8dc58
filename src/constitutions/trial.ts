/**
 * Dry runs: the decisions of a candidate constitution over texts, beside those of the one in force. It changes no
 * session, review or counter, asks no judge, and stores nothing.
 */
import type { ChatPart, JsonObject, Role } from '../base/chat.js'
import { Fault, invalid } from '../base/errors.js'
import type { Actor } from '../identity/caller.js'
import { ConstitutionError } from '../policy/constitution/problems.js'
import { type Decision, decisions } from '../policy/evaluation.js'
import type { DryOutcome, DryRun, DryRunTask, DrySide, DryText } from '../policy/explain/dry-run.js'
import { Busy, type DryRunner } from '../policy/explain/dry-run-pool.js'
import type { ConstitutionService } from './constitution-service.js'
import { digestOf } from './digest.js'
import type { Enforcement } from './enforcement.js'
import { notFit } from './faults.js'

export interface TrialText {
  input_text: string
  /** A chat as its dialect reads it, in the place of the text. */
  chat?: { parts: readonly ChatPart[]; joined: readonly (readonly number[])[] } | undefined
  /** Returned with the result. */
  id?: string | undefined
  context?: JsonObject | undefined
  /** Role of the text. Default `user`. */
  role?: Role | undefined
  direction?: 'request' | 'answer' | undefined
  /** Earlier turns of a session that exists only in this call, oldest first. */
  history?: string[] | undefined
}

export interface TrialRequest {
  texts: (string | TrialText)[]
  /** The candidate: a text, or a stored version. Neither: only the version in force is asked. */
  source?: string | undefined
  version?: number | undefined
  /**
   * The constitution to compare with: `name` (its version in force, else the shipped one) or `name@version`. Default:
   * the one in force of this name.
   */
  beside?: string | undefined
  explain?: boolean | undefined
}

interface Tried {
  version: number | null
  label: string
  digest: string
}

/** A decision, or `error` where a text could not be judged in full. */
type Said = Decision | 'error'

export interface TrialReport {
  name: string
  active: Tried | null
  candidate: Tried | null
  /** In the order of the texts. */
  results: {
    index: number
    id?: string
    active: DryOutcome['evaluation'] | undefined
    candidate: DryOutcome['evaluation'] | undefined
    changed: boolean
    explanation?: { active?: unknown; candidate?: unknown }
  }[]
  /** Null where only one side was asked. */
  diff: {
    changed: number
    unchanged: number
    stricter: number
    milder: number
    transitions: { from: Said; to: Said; count: number }[]
    /** Number of texts in which a rule bears on the decision, where the sides differ. */
    rules: { rule: string; active: number; candidate: number }[]
  } | null
}

/** UTF-16 units of all texts together, histories included. */
export const maxTotal = 500_000
/** An explanation is many times as long as its text. */
export const maxExplained = 10

export interface TrialDeps {
  constitutions: ConstitutionService
  enforcement: Pick<Enforcement, 'coverage'>
  runner: DryRunner
}

export async function tryOut(
  { constitutions, enforcement, runner }: TrialDeps,
  actor: Actor,
  name: string,
  request: TrialRequest
): Promise<TrialReport> {
  const texts = request.texts.map((text): TrialText => (typeof text === 'string' ? { input_text: text } : text))
  checkBounds(request, texts)
  const active = await besideOf(constitutions, actor, name, request)
  const candidate = await candidateOf(constitutions, actor, name, request)
  const sides = [active, candidate].flatMap((side) => side ?? [])
  if (sides.length === 0) throw invalid('', 'missing', `No version of ${name} is active: give a source or a version.`)
  const task = { sides, texts: texts.map(dryText), explain: request.explain === true, coverage: enforcement.coverage }
  const run = await runTask(
    runner,
    task,
    active !== undefined && candidate === undefined ? 'version' : candidateField(request)
  )
  const ofActive = active === undefined ? undefined : run[0]
  const ofCandidate = candidate === undefined ? undefined : run[sides.length - 1]
  return {
    name,
    active: active === undefined ? null : triedOf(active, active.version === 'shipped' ? null : Number(active.version)),
    candidate: candidate === undefined ? null : triedOf(candidate, request.version ?? null),
    results: texts.map(({ id }, index) => resultOf(index, id, ofActive?.[index], ofCandidate?.[index])),
    diff: ofActive === undefined || ofCandidate === undefined ? null : diffOf(ofActive, ofCandidate)
  }
}

function checkBounds({ source, version, explain }: TrialRequest, texts: readonly TrialText[]): void {
  if (source !== undefined && version !== undefined) {
    throw invalid('version', 'unknown_field', 'Give a source or a version, not both.')
  }
  if (explain === true && texts.length > maxExplained) {
    throw invalid('texts', 'too_long', `With explain, at most ${maxExplained} texts are allowed.`)
  }
  const total = texts.reduce(
    (sum, { input_text, chat, history = [] }) =>
      sum + lengthOf(history) + (chat === undefined ? input_text.length : lengthOf(chat.parts.map(({ text }) => text))),
    0
  )
  if (total > maxTotal)
    throw invalid('texts', 'too_long', `The texts are too long: at most ${maxTotal} in all are allowed.`)
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

/** The side to compare with; absent for a given source whose name is not stored yet. */
async function besideOf(
  constitutions: ConstitutionService,
  actor: Actor,
  name: string,
  { beside, source }: TrialRequest
): Promise<DrySide | undefined> {
  const [of = name, number] = (beside ?? name).split('@')
  try {
    if (number !== undefined)
      return sideOf(of, Number(number), (await constitutions.version(actor, of, Number(number))).source)
    const { version, source: text } =
      beside === undefined ? await constitutions.get(actor, of) : await constitutions.yardstick(actor, of)
    return !version || text === undefined ? undefined : sideOf(of, version, text)
  } catch (error) {
    if (error instanceof Fault && error.code === 'not_found' && source !== undefined && (beside ?? name) === name)
      return undefined
    throw error
  }
}

async function candidateOf(
  constitutions: ConstitutionService,
  actor: Actor,
  name: string,
  { source, version }: TrialRequest
): Promise<DrySide | undefined> {
  if (source !== undefined) return sideOf(name, 'draft', source)
  return version === undefined
    ? undefined
    : sideOf(name, version, (await constitutions.version(actor, name, version)).source)
}

function candidateField({ source }: TrialRequest): string {
  return source === undefined ? 'version' : 'source'
}

function sideOf(name: string, version: number | 'draft' | 'shipped', source: string): DrySide {
  return { name, version: String(version), source, digest: digestOf(source) }
}

function dryText({
  input_text: text,
  chat,
  role = 'user',
  direction = 'request',
  context,
  history = []
}: TrialText): DryText {
  return { text, chat, role, direction, context, history }
}

async function runTask(runner: DryRunner, task: DryRunTask, field: string): Promise<DryRun> {
  try {
    return await runner.run(task)
  } catch (error) {
    if (error instanceof Busy) throw new Fault('overloaded', { headers: { 'retry-after': '5' }, cause: error })
    if (error instanceof ConstitutionError) throw notFit(error, field)
    throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, cause: error })
  }
}

function triedOf({ name, version: label, digest }: DrySide, version: number | null): Tried {
  return { version, label: `${name}@${label}`, digest }
}

function resultOf(
  index: number,
  id: string | undefined,
  active: DryOutcome | undefined,
  candidate: DryOutcome | undefined
): TrialReport['results'][number] {
  const changed = active !== undefined && candidate !== undefined && saidBy(active) !== saidBy(candidate)
  const result = {
    index,
    ...(id === undefined ? {} : { id }),
    active: active?.evaluation,
    candidate: candidate?.evaluation,
    changed
  }
  if (active?.explanation === undefined && candidate?.explanation === undefined) return result
  return { ...result, explanation: { active: active?.explanation, candidate: candidate?.explanation } }
}

/** Mildest first; a text that could not be judged is not forwarded, so `error` is the strictest. */
const strictness: readonly Said[] = [...decisions, 'error']

function diffOf(active: readonly DryOutcome[], candidate: readonly DryOutcome[]): NonNullable<TrialReport['diff']> {
  const transitions = new Map<string, { from: Said; to: Said; count: number }>()
  const rules = new Map<string, { rule: string; active: number; candidate: number }>()
  let stricter = 0
  let milder = 0
  const count = (outcome: DryOutcome, side: 'active' | 'candidate') => {
    for (const rule of outcome.evaluation?.matched_rules ?? []) {
      const entry = rules.get(rule) ?? { rule, active: 0, candidate: 0 }
      entry[side]++
      rules.set(rule, entry)
    }
  }
  for (const [i, before] of active.entries()) {
    const after = candidate[i]!
    count(before, 'active')
    count(after, 'candidate')
    const from = saidBy(before)
    const to = saidBy(after)
    const entry = transitions.get(`${from} ${to}`) ?? { from, to, count: 0 }
    entry.count++
    transitions.set(`${from} ${to}`, entry)
    if (strictness.indexOf(to) > strictness.indexOf(from)) stricter++
    if (strictness.indexOf(to) < strictness.indexOf(from)) milder++
  }
  return {
    changed: stricter + milder,
    unchanged: active.length - stricter - milder,
    stricter,
    milder,
    transitions: [...transitions.values()].sort((a, b) => b.count - a.count),
    rules: [...rules.values()].filter((entry) => entry.active !== entry.candidate)
  }
}

function saidBy({ evaluation }: DryOutcome): Said {
  return evaluation === null ? 'error' : evaluation.decision
}
