/** The policy decision point for the rest of the program: constitutions in force, sessions, threads. */

import { createHmac, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { LRUCache } from 'lru-cache'
import { defaultBudget } from '../../base/budget.js'
import { createIdSource } from '../../base/ids.js'
import { type LetGo, Places } from '../../base/places.js'
import type { Constitution } from '../constitution/parse.js'
import { suppressedOf } from '../decide/exceptions.js'
import { findNames } from '../decide/names.js'
import { doubtsOf, doubtsOfPictures } from '../escalate/doubts.js'
import { consult } from '../escalate/rulings.js'
import type { Evaluation, EvaluationInput, Evaluator, HeldPolicy } from '../evaluation.js'
import { type Explanation, explain } from '../explain/explain.js'
import { keptOf } from '../explain/kept.js'
import type { Policy } from '../match/compile.js'
import { type Beside, besideOf } from '../match/guarded/beside.js'
import { askEncoder, noReadings, type Question, type Readings } from './asking.js'
import { createBatch } from './batch.js'
import { entryOf, loadPolicy, numbered, type PolicyEntry, warmUp } from './entry.js'
import {
  beyondBudget,
  costOf,
  EvaluatorError,
  type EvaluatorOptions,
  guarded,
  labelOf,
  noJudges,
  unpaidOf
} from './evaluator-options.js'
import { LoopShare, shortUnits } from './loop-share.js'
import { isVerdict, type Told } from './packed.js'
import { createPool } from './pool.js'
import {
  boostOf,
  memorySessions,
  nextState,
  type SessionState,
  type SessionStore,
  saidBefore,
  stateWith,
  textOfTurn,
  turnOf
} from './session.js'
import { type Beyond, evaluationOf, type JudgeInput, promptsOf, type Verdict } from './verdict.js'

export { EvaluatorError, type EvaluatorOptions } from './evaluator-options.js'

/** The evaluation, and the score of each category with its thresholds. */
export interface Assessment {
  evaluation: Evaluation
  categories: Verdict['categories']
  bands: Constitution['bands']
}

export interface PolicyEvaluator extends Evaluator {
  assess(input: EvaluationInput, constitution?: string): Promise<Assessment>
  /** The evaluation and how it came about, for the command line. Costs many times an evaluation. */
  explain(input: EvaluationInput, constitution?: string): Promise<{ evaluation: Evaluation; explanation: Explanation }>
  /** Puts a constitution in force under its own name. Calls under way and holders of the old one keep the old one. */
  put(entry: PolicyEntry): void
  /**
   * Judges made-up texts with the policies in force for about `ms`, so that first callers need not wait for the engine.
   */
  warmUp(ms: number): void
  readonly sessions: SessionStore
  /** Whether `names` can be asked for. */
  readonly findsNames: boolean
  /** Characters that were never scanned, in total. Above 0 the engine has a defect: those calls were refused. */
  uncoveredChars(): number
}

/** On files alone; `version` in place of the numbers that they declare. @throws ConstitutionError, or the file system's error */
export async function createEvaluator({
  constitutions,
  ...options
}: EvaluatorOptions & { constitutions: Readonly<Record<string, string>>; version?: string }): Promise<PolicyEvaluator> {
  const entries: PolicyEntry[] = []
  for (const [name, file] of Object.entries(constitutions)) {
    const policy = await loadPolicy(await readFile(file, 'utf8'), file, { name, coverage: options.judges?.coverage })
    entries.push(entryOf(options.version === undefined ? policy : numbered(policy, options.version)))
  }
  return evaluatorOf(entries, options)
}

/** @param initial read for the same judges */
export function evaluatorOf(initial: Iterable<PolicyEntry>, options: EvaluatorOptions): PolicyEvaluator {
  const {
    clock,
    deadlineMs = 2000,
    inlineLimit = 32_768,
    judgesApart = () => false,
    remembers = true,
    judged = () => {}
  } = options
  const budget = options.budget ?? defaultBudget
  const sessions = options.sessions ?? memorySessions(clock)
  const judges = options.judges ?? noJudges
  const { encoder } = options
  const readings = encoder && noReadings
  const nextId = createIdSource(options.idPrefix ?? 'ev_', () => clock.now())
  // One more than a caller may have at once, which starts when others wait for that one.
  const mostEach = Math.min(2, Math.max(1, availableParallelism() - 1))
  const pool = createPool({ deadlineMs, maxThreads: mostEach + 1, mostEach })
  const loop = new LoopShare(clock)
  const inTurn = createBatch((whose) => loop.isBeyond(whose))
  // They wait here and not in the pool, whose queue is bounded in time.
  const apart = new Places({ most: Number.POSITIVE_INFINITY, mostEach, refusal: () => new EvaluatorError(leftEarly) })
  const remembered = remembers ? secretsOf() : undefined
  let uncovered = 0
  const entries = new Map<string, PolicyEntry>()
  const put = (entry: PolicyEntry) => void entries.set(entry.engine.policy.constitution.name, entry)
  for (const entry of initial) put(entry)

  function lookUp(constitution: string | HeldPolicy): PolicyEntry | undefined {
    return typeof constitution === 'string' ? entries.get(constitution) : (constitution as PolicyEntry)
  }

  function loaded(entry: PolicyEntry | undefined): PolicyEntry {
    if (entry === undefined) throw new EvaluatorError('The constitution is not loaded.')
    return entry
  }

  /** Adds the session's state. Sessions follow the caller's turns; an answer is judged by itself. */
  function withSession(input: EvaluationInput, { engine }: PolicyEntry): JudgeInput | Promise<JudgeInput> {
    const {
      parts,
      joined,
      context,
      settled,
      direction,
      prompts,
      session: key,
      calledFrom,
      isBrought,
      whose = ''
    } = input
    const beside = besideFor(input, engine.policy)
    const flips = input.explained !== undefined
    const given: JudgeInput = {
      parts,
      joined,
      context,
      settled,
      direction,
      prompts,
      beside,
      readings,
      flips,
      remembered: remembered?.(whose)
    }
    if (key === undefined || direction === 'answer' || isBrought === true) return { ...given, session: undefined }
    const rules = engine.policy.constitution.session
    const withState = (state: SessionState | undefined): JudgeInput => {
      const risk = boostOf(state, clock.monotonic(), rules)
      const whose =
        calledFrom === undefined
          ? ({ turn: turnOf(parts), by: 'user' } as const)
          : ({ turn: calledFrom, by: 'assistant' } as const)
      return { ...given, session: { tail: saidBefore(state), ...whose, risk, brought: state?.brought } }
    }
    const state = sessions.get(key)
    return state instanceof Promise ? state.then(withState) : withState(state)
  }

  /** The prompts for the encoder, where a rule asks about guarded content and the prompts may hold some. */
  function besideFor(input: EvaluationInput, { asksBeside }: Policy): Beside | undefined {
    if (!asksBeside || encoder === undefined) return undefined
    const beside = besideOf(promptsOf(input))
    return beside === undefined || encoder.keepsNothing?.(beside.text) === true ? undefined : beside
  }

  function judge(input: EvaluationInput, entry: PolicyEntry): Verdict | Promise<Verdict> {
    const judgeInput = withSession(input, entry)
    return judgeInput instanceof Promise
      ? judgeInput.then((judgeInput) => inTurn(() => judgeWith(input, judgeInput, entry), input.whose))
      : judgeWith(input, judgeInput, entry)
  }

  function judgeWith(input: EvaluationInput, judgeInput: JudgeInput, entry: PolicyEntry): Verdict | Promise<Verdict> {
    const { policy } = entry.engine
    const { parts, session: key } = input
    const { session } = judgeInput
    const total = parts.reduce((sum, { text }) => sum + text.length, 0)
    const units = costOf(input)

    function settle(given: JudgeInput, verdict: Verdict): Verdict | Promise<Verdict> {
      checkVerdict(verdict, total)
      const { exceptions } = input
      if (exceptions !== undefined && verdict.decision !== 'permit') {
        const suppressed = suppressedOf(exceptions, verdict.detections, parts)
        // Decides again without excepted matches; this is rare, and keeps the weighing in one place.
        if (suppressed.length > 0) return decide({ ...given, suppressed })
      }
      return conclude(verdict)
    }
    function conclude(verdict: Verdict): Verdict | Promise<Verdict> {
      const { constitution } = policy
      const doubts = [
        ...doubtsOf(constitution, verdict, parts),
        ...doubtsOfPictures(constitution, verdict, input, judges.sees)
      ]
      if (doubts.length === 0) return remember(verdict)
      return consult(judges, policy, verdict, doubts, input).then(remember, (error: unknown) => {
        throw new EvaluatorError(leftEarly, error)
      })
    }
    function remember(verdict: Verdict): Verdict | Promise<Verdict> {
      if (key === undefined) return verdict
      const store = (next: (state: SessionState | undefined) => SessionState) => {
        const stored = sessions.update(key, next)
        return stored instanceof Promise ? stored.then(() => verdict) : verdict
      }
      // Stored whatever the decision, since routes that only observe let it pass.
      if (input.isBrought === true) return store((state) => stateWith(state, parts, clock.monotonic()))
      if (session === undefined) return verdict
      const { decision, ownRisk } = verdict
      input.recalled?.(session.tail)
      const { turn: first, by } = session
      const turn = { role: by, text: textOfTurn(parts, first, by), decision, ownRisk }
      return store((state) => nextState(state, turn, clock.monotonic(), policy.constitution.session))
    }
    function withinBudget(verdict: Verdict): Verdict {
      if (verdict?.beyond !== undefined) throw beyondBudget(input, verdict.beyond, budget)
      return verdict
    }
    function decide(given: JudgeInput): Verdict | Promise<Verdict> {
      const next = (verdict: Verdict) => {
        if (verdict.questions !== undefined) return read(given, verdict, verdict.questions)
        return given.suppressed === undefined ? settle(given, verdict) : checked(verdict)
      }
      const whose = input.whose ?? ''
      const yields = loop.yields(whose, () => pool.isReady({ key: entry.key, constitution: policy.constitution }))
      const most = yields ? shortUnits : inlineLimit
      const { views, findings } = budget
      if (!judgesApart()) {
        // Of a repeated chat only the new texts count.
        const fresh = units <= most ? units : entry.engine.newUnits(given, most)
        if (fresh <= most) {
          loop.uses(whose, fresh)
          const { scanned, remembered } = entry.engine.texts
          const verdict = guarded(() => entry.engine.judge({ ...given, views, scans: inlineLimit, findings }))
          const { texts } = entry.engine
          judged({ scanned: texts.scanned - scanned, remembered: texts.remembered - remembered })
          // The size of other readings becomes known only when they are made.
          if (verdict?.beyond?.field !== 'views') return next(withinBudget(verdict))
        }
      }
      return inThread(given, yields).then(
        (verdict) => next(withinBudget(verdict)),
        (error: unknown) => {
          throw new EvaluatorError('The text could not be judged in time.', error)
        }
      )
    }
    async function inThread(given: JudgeInput, yields: boolean): Promise<Verdict> {
      const { whose = '', cancel } = input
      const over = loop.apart(whose)
      let letGo: LetGo | undefined
      try {
        if (yields) letGo = await apart.take(whose, cancel)
        const { views, findings } = budget
        const told = entry.engine.told(given)
        return await pool.judge({
          whose,
          key: entry.key,
          constitution: policy.constitution,
          input: { ...given, views, findings, told },
          hear({ texts, learnt }: Told) {
            judged(texts)
            if (learnt !== undefined) entry.engine.learn(learnt)
          }
        })
      } finally {
        letGo?.()
        over()
      }
    }
    /** Judges again, with the encoder's answers to all questions. */
    function read(given: JudgeInput, verdict: Verdict, questions: readonly Question[]): Promise<Verdict> {
      checkVerdict(verdict, total)
      if (given.readings !== noReadings) throw new EvaluatorError('The text was not read in full.')
      input.raised?.()
      return ask(questions, input).then((readings) => inTurn(() => decide({ ...given, readings }), input.whose))
    }
    const checked = (verdict: Verdict) => {
      checkVerdict(verdict, total)
      return conclude(verdict)
    }
    return decide(judgeInput)
  }

  /** @throws EvaluatorError: questions to the encoder are never decided without it */
  function ask(questions: readonly Question[], { whose = '', cancel, pay }: EvaluationInput): Promise<Readings> {
    return askEncoder(encoder!, questions, { whose, cancel, pay }).catch((error: unknown) => {
      const unpaid = unpaidOf(error)
      if (unpaid !== undefined) throw unpaid
      const why = cancel?.reason === undefined ? 'The text could not be read by the encoder.' : leftEarly
      throw new EvaluatorError(why, error)
    })
  }

  function checkVerdict(verdict: Verdict, total: number): void {
    const covered = verdict?.charsCovered
    if (verdict?.charsTotal !== total || covered !== total) {
      uncovered += Math.max(0, total - (Number.isFinite(covered) ? covered : 0))
      throw new EvaluatorError('The text was not judged in full.')
    }
    if (!isVerdict(verdict)) throw new EvaluatorError('The verdict is malformed.')
  }

  /** @param constitution is looked up before the call waits, so that the call uses the version in force when it came */
  function verdictOf<T>(
    input: EvaluationInput,
    constitution: string | HeldPolicy,
    told: (verdict: Verdict, entry: PolicyEntry, ms: number) => T
  ): Promise<T> {
    const found = lookUp(constitution)
    loop.asks(input.whose ?? '')
    return inTurn(() => {
      const entry = loaded(found)
      const started = clock.monotonic()
      const tell = (verdict: Verdict) => {
        if (verdict.categories.length > 0) input.explained?.(keptOf(verdict, entry.engine.policy.constitution))
        return told(verdict, entry, clock.monotonic() - started)
      }
      const verdict = judge(input, entry)
      return verdict instanceof Promise ? verdict.then(tell) : tell(verdict)
    }, input.whose)
  }

  function toEvaluation(verdict: Verdict, { label: whole, engine }: PolicyEntry, ms: number): Evaluation {
    const label = labelOf(whole, engine.policy.constitution.readers, options.lacksEncoder === true)
    return evaluationOf(verdict, { label, id: nextId(), ms })
  }

  return {
    async evaluate(input, constitution = 'default') {
      if (input.names !== true) return verdictOf(input, constitution, toEvaluation)
      const held = lookUp(constitution) ?? constitution
      // First, since the windows that the verdict needs are then read already.
      const names = await findNames(encoder, input)
      const evaluation = await verdictOf(input, held, toEvaluation)
      const detections = [...evaluation.detections, ...names]
      const beyond: Beyond = { field: 'findings', actual: detections.length }
      if (detections.length > budget.findings) throw beyondBudget(input, beyond, budget)
      return { ...evaluation, detections }
    },
    settled(text, growing, constitution) {
      return lookUp(constitution)?.growth.settled(text, growing) ?? 0
    },
    hold: (constitution) => entries.get(constitution) ?? constitution,
    assess: (input, constitution = 'default') =>
      verdictOf(input, constitution, (verdict, entry, ms) => ({
        evaluation: toEvaluation(verdict, entry, ms),
        categories: verdict.categories,
        bands: entry.engine.policy.constitution.bands
      })),
    async explain(input, constitution = 'default') {
      const entry = loaded(lookUp(constitution))
      // Before the verdict, which the session remembers.
      const judgeInput = await withSession(input, entry)
      const { questions } = await inTurn(() => guarded(() => entry.engine.find(judgeInput)))
      const readings = questions.length === 0 ? judgeInput.readings : await ask(questions, input)
      const explanation = await inTurn(() => guarded(() => explain(entry.engine, { ...judgeInput, readings })))
      return { evaluation: await verdictOf(input, entry, toEvaluation), explanation }
    },
    put,
    warmUp(ms) {
      for (const { engine } of entries.values()) warmUp(engine, ms / entries.size)
    },
    loaded: () =>
      [...entries.values()]
        .map(({ engine: { policy } }) => policy.constitution)
        .map(({ name, version }) => ({ name, version })),
    sessions,
    findsNames: encoder?.findsNames === true,
    uncoveredChars: () => uncovered,
    close: () => pool.close()
  }
}

/** @returns a function that names an account in the memory of texts, by a secret of this evaluator */
function secretsOf(): (whose: string) => string {
  const secret = randomBytes(32)
  const known = new LRUCache<string, string>({ max: 10_000 })
  return (whose) => {
    let named = known.get(whose)
    if (named === undefined) {
      named = createHmac('sha256', secret).update(whose).digest('base64')
      known.set(whose, named)
    }
    return named
  }
}

const leftEarly = 'The caller left before the verdict.'
