/** Judges texts by one or two constitutions, for comparison: no session, no review and no count is touched by it. */
import type { ChatPart, JsonObject, Role } from '../chat.js'
import { compilePolicy } from './compile.js'
import { parseConstitution } from './constitution.js'
import { numbered } from './entry.js'
import type { Evaluation } from './evaluation.js'
import { type Explanation, explain } from './explain.js'
import { Judge, type JudgeInput } from './judge.js'
import type { Coverage } from './judges.js'
import { evaluationOf } from './outcome.js'
import { boostOf, nextState, type SessionState, textOfTurn } from './session.js'

export interface DryText {
  text: string
  role: Role
  direction: 'request' | 'answer'
  context: JsonObject | undefined
  /** Earlier turns of a session that exists only here, oldest first. */
  history: readonly string[]
}

/** One side of the comparison: a text of a constitution, and the version that verdicts name. */
export interface DrySide {
  source: string
  digest: string
  name: string
  version: string
}

export interface DryRunTask {
  sides: readonly DrySide[]
  texts: readonly DryText[]
  explain: boolean
  coverage: Coverage
}

/** `null`: the text could not be judged in full, for which the gateway itself answers `evaluator_unavailable`. */
export type DryOutcome = { evaluation: Omit<Evaluation, 'evaluation_id'> | null; explanation?: Explanation }

/** By side, by text. */
export type DryRun = DryOutcome[][]

/** @param judgeOf may remember: two sides with one digest and one version are one judge. @throws ConstitutionError */
export function dryRun(task: DryRunTask, judgeOf = readJudge): DryRun {
  return task.sides.map((side) => {
    const judge = judgeOf(side, task.coverage)
    return task.texts.map((text) => outcomeOf(judge, text, task.explain))
  })
}

export function readJudge({ source, name, version }: DrySide, coverage: Coverage): Judge {
  const label = `${name}@${version}`
  return new Judge(numbered(compilePolicy(parseConstitution(source, label, { name, coverage })), version))
}

function outcomeOf(judge: Judge, text: DryText, isExplained: boolean): DryOutcome {
  const started = performance.now()
  const input = inputOf(judge, text)
  const verdict = judge.judge(input)
  if (verdict.charsCovered !== verdict.charsTotal) return { evaluation: null }
  const ms = performance.now() - started
  const { evaluation_id: _, ...evaluation } = evaluationOf(verdict, { label: judge.policy.label, id: '', ms })
  // The only text is the input itself: a pointer to it would say nothing.
  const detections = evaluation.detections.map(({ pointer: _, ...detection }) => detection)
  return {
    evaluation: { ...evaluation, detections },
    ...(isExplained ? { explanation: explain(judge, input) } : {})
  }
}

/** The turns before are judged as they would have been, all at one moment. */
function inputOf(judge: Judge, { text, role, direction, context, history }: DryText): JudgeInput {
  const input = { parts: [{ role, text, pointer: '' }], joined: [], direction, context }
  if (history.length === 0 || direction === 'answer') return input
  const policy = judge.policy.constitution.session
  const sessionAt = (state: SessionState | undefined) => {
    return { tail: state?.tail ?? [], turn: 0, risk: boostOf(state, 0, policy) }
  }
  let state: SessionState | undefined
  for (const turn of history) {
    const parts: ChatPart[] = [{ role: 'user', text: turn, pointer: '' }]
    const { decision, ownRisk } = judge.judge({ ...input, parts, context: undefined, session: sessionAt(state) })
    state = nextState(state, { text: textOfTurn(parts, 0), decision, ownRisk }, 0, policy)
  }
  return { ...input, session: sessionAt(state) }
}
