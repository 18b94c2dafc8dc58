/** Judges texts by one or two constitutions, for comparison. It changes no session, review or counter. */
import type { ChatPart, JsonObject, Role } from '../../base/chat.js'
import type { Encoder } from '../../encoder/index.js'
import { parseConstitution } from '../constitution/parse.js'
import type { Coverage } from '../escalate/judges.js'
import { askEncoder, noReadings, type Question, type Readings } from '../evaluate/asking.js'
import { numbered } from '../evaluate/entry.js'
import { RuleEngine } from '../evaluate/rule-engine.js'
import { boostOf, nextState, type SessionState, saidBefore, textOfTurn } from '../evaluate/session.js'
import type { JudgeInput } from '../evaluate/verdict.js'
import { evaluationOf } from '../evaluate/verdict.js'
import type { Evaluation } from '../evaluation.js'
import { compilePolicy } from '../match/compile.js'
import { type Explanation, explain } from './explain.js'

export interface DryText {
  text: string
  /** A chat instead of one text: its parts as its dialect reads them, and the groups that a model reads as one. */
  chat?: { parts: readonly ChatPart[]; joined: readonly (readonly number[])[] } | undefined
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
  /** The encoder's answers so far; undefined where none decides. */
  readings?: Readings | undefined
}

/** `null`: the text could not be judged in full, for which the gateway itself answers `evaluator_unavailable`. */
export type DryOutcome = { evaluation: Omit<Evaluation, 'evaluation_id'> | null; explanation?: Explanation }

/** By side, by text. */
export type DryRun = DryOutcome[][]

/** One round of a run: texts with open questions to the encoder have no outcome yet. */
export interface DryRound {
  run: DryRun
  /** By text. */
  questions: (readonly Question[])[]
}

/** @param engineOf may cache: two sides with the same digest and version share one judge. @throws ConstitutionError */
export function dryRun(task: DryRunTask, engineOf = readEngine): DryRound {
  const questions: (readonly Question[])[] = []
  const run = task.sides.map((side) => {
    const engine = engineOf(side, task.coverage)
    return task.texts.map((text): DryOutcome => {
      const outcome = outcomeOf(engine, text, task)
      if (!('questions' in outcome)) return outcome
      questions.push(outcome.questions)
      return { evaluation: null }
    })
  })
  return { run, questions }
}

/**
 * Runs round by round, with the encoder's answers for each text. A turn of a session raises questions only after the
 * earlier turns are decided, so at most one more round than turns is needed.
 * @throws ConstitutionError, EncoderError
 */
export async function runDry(
  task: DryRunTask,
  encoder: Pick<Encoder, 'read'> | undefined,
  round: (task: DryRunTask) => Promise<DryRound>
): Promise<DryRun> {
  let readings = encoder && noReadings
  for (;;) {
    const { run, questions } = await round({ ...task, readings })
    if (encoder === undefined || questions.length === 0) return run
    const all = new Map(readings)
    for (const each of questions)
      for (const [key, reading] of await askEncoder(encoder, each, { whose: dryRunner })) all.set(key, reading)
    readings = all
  }
}

/** Name under which dry runs take turns with callers at the encoder. */
const dryRunner = 'dry run'

export function readEngine({ source, name, version }: DrySide, coverage: Coverage): RuleEngine {
  const label = `${name}@${version}`
  return new RuleEngine(numbered(compilePolicy(parseConstitution(source, label, { name, coverage })), version))
}

type Open = { questions: readonly Question[] }

function outcomeOf(engine: RuleEngine, text: DryText, task: DryRunTask): DryOutcome | Open {
  const started = performance.now()
  const input = inputOf(engine, text, task.readings)
  if ('questions' in input) return input
  const verdict = engine.judge(input)
  if (verdict.questions !== undefined) return { questions: verdict.questions }
  if (verdict.charsCovered !== verdict.charsTotal) return { evaluation: null }
  const ms = performance.now() - started
  const { evaluation_id: _, ...evaluation } = evaluationOf(verdict, { label: engine.policy.label, id: '', ms })
  // With a single text a pointer would tell nothing.
  const detections = text.chat
    ? evaluation.detections
    : evaluation.detections.map(({ pointer: _, ...detection }) => detection)
  return {
    evaluation: { ...evaluation, detections },
    ...(task.explain ? { explanation: explain(engine, input) } : {})
  }
}

/** The earlier turns are judged as usual, but all at the same moment. */
function inputOf(
  engine: RuleEngine,
  { text, chat, role, direction, context, history }: DryText,
  readings: Readings | undefined
): JudgeInput | Open {
  const said = chat ?? { parts: [{ role, text, pointer: '' }], joined: [] }
  const input: JudgeInput = { ...said, direction, context, readings }
  if (history.length === 0 || direction === 'answer') return input
  const policy = engine.policy.constitution.session
  const sessionAt = (state: SessionState | undefined) => {
    return { tail: saidBefore(state), turn: 0, by: 'user' as const, risk: boostOf(state, 0, policy) }
  }
  let state: SessionState | undefined
  for (const turn of history) {
    const parts: ChatPart[] = [{ role: 'user', text: turn, pointer: '' }]
    const verdict = engine.judge({ ...input, parts, context: undefined, session: sessionAt(state) })
    if (verdict.questions !== undefined) return { questions: verdict.questions }
    const { decision, ownRisk } = verdict
    state = nextState(state, { role: 'user', text: textOfTurn(parts, 0), decision, ownRisk }, 0, policy)
  }
  return { ...input, session: sessionAt(state) }
}
