/**
 * One call of the evaluator, for every surface: without a verdict it fails closed, unless its route says otherwise;
 * each outcome is counted and audited.
 */
import { Fault } from '../base/errors.js'
import type { Caller } from '../identity/caller.js'
import type { Evaluation, EvaluationInput, Evaluator, Exceptions, HeldPolicy } from '../policy/evaluation.js'
import type { KeptExplanation } from '../policy/explanation.js'
import type { Decided, Recorder, Said, SentTo, Surface } from './record.js'
import type { UnjudgedRecorder } from './unjudged.js'

/** The evaluator, which also knows the score from which a category counts. */
type Judged = Pick<Evaluator, 'evaluate' | 'hold'>

export interface JudgingDeps<E extends Judged> {
  evaluator: E
  /** Counts, meters and audits each verdict. */
  record: Recorder
  /** Counts and audits each call that got no verdict. */
  unjudged: UnjudgedRecorder
  /** The exceptions for a caller. */
  exceptions(caller: Caller): Exceptions | undefined
  /** Takes windows of the encoder from a caller's limit. Default: they cost nothing. */
  chargeWindows?(caller: Caller, windows: number, refuses: boolean): MaybePromise<object | Fault>
  /** Whether samples are taken now. Default: none are. */
  sampling?(): boolean
}

type MaybePromise<T> = T | Promise<T>

/** The caller, and the surface. */
export interface Asked {
  surface: Surface
  /** Id of the route, or the path of the endpoint. */
  route: string
  caller: Caller
  requestId: string
  /** Default: nowhere, only a verdict is requested. */
  sentTo?: SentTo | undefined
}

/** Further facts for the row and the sample of a verdict. */
export interface Besides extends Pick<Decided, 'beyond'>, Partial<Pick<Said, 'redact' | 'isOfMinors'>> {
  /** The constitution. Default: `default`. */
  policy?: string | HeldPolicy | undefined
}

export class Judging<E extends Judged> {
  readonly #deps: JudgingDeps<E>
  /** Explanations of verdicts that are not recorded yet. */
  readonly #explanations = new WeakMap<EvaluationInput, KeptExplanation>()

  constructor(deps: JudgingDeps<E>) {
    this.#deps = deps
  }

  /**
   * @param passes whether the route says `on_failure: open`
   * @returns undefined without a verdict where the route permits that
   * @throws Fault `evaluator_unavailable` without a complete verdict, and the evaluator's own Faults; the reason for
   * which the caller's exchange was ended
   */
  evaluate(
    input: EvaluationInput,
    constitution: string | HeldPolicy | undefined,
    asked: Asked,
    passes?: false
  ): Promise<Evaluation>
  evaluate(
    input: EvaluationInput,
    constitution: string | HeldPolicy | undefined,
    asked: Asked,
    passes: boolean
  ): Promise<Evaluation | undefined>
  evaluate(
    input: EvaluationInput,
    constitution: string | HeldPolicy | undefined,
    asked: Asked,
    passes = false
  ): Promise<Evaluation | undefined> {
    const failed = (error: unknown) => this.#failed(error, input, asked, passes)
    try {
      return this.#deps.evaluator.evaluate(this.#with(input, asked), constitution).catch(failed)
    } catch (error) {
      return failed(error)
    }
  }

  /** Calls another function of the evaluator; never passes without a verdict. */
  async by<T>(
    ask: (evaluator: E, input: EvaluationInput) => Promise<T>,
    input: EvaluationInput,
    asked: Asked
  ): Promise<T> {
    try {
      return await ask(this.#deps.evaluator, this.#with(input, asked))
    } catch (error) {
      return (await this.#failed(error, input, asked, false)) as never
    }
  }

  /** @returns a promise only where the answer must wait for the commit; it is rejected where that failed */
  record(
    { surface, route, caller, requestId, sentTo }: Asked,
    evaluation: Evaluation,
    input: EvaluationInput,
    besides: Besides = {}
  ): Promise<void> | undefined {
    const said = this.#deps.sampling?.() === true ? this.#said(input, besides) : undefined
    const { parts } = input
    const { beyond } = besides
    const explanation = this.#explanations.get(input)
    return this.#deps.record({
      surface,
      evaluation,
      caller,
      route,
      requestId,
      sentTo,
      parts,
      beyond,
      explanation,
      said
    })
  }

  #said(
    { joined, context, direction, names = false }: EvaluationInput,
    { redact = [], isOfMinors, policy = 'default' }: Besides
  ): Said {
    const held = typeof policy === 'string' ? this.#deps.evaluator.hold(policy) : policy
    // For a constitution that is no longer in force the lowest threshold applies.
    const middle = typeof held === 'string' ? 0 : held.speech.middle
    return { joined, context, direction, middle, redact, hasNames: names, isOfMinors }
  }

  #with(input: EvaluationInput, { caller }: Asked): EvaluationInput {
    input.whose = caller.lineage
    input.exceptions = this.#deps.exceptions(caller)
    input.explained = (explanation) => this.#explanations.set(input, explanation)
    input.pay = async (windows) => {
      // A model's answer is charged up to the limit, and read in any case.
      const outcome = await this.#deps.chargeWindows?.(caller, windows, input.direction === 'request')
      return outcome instanceof Fault ? outcome : undefined
    }
    return input
  }

  async #failed(error: unknown, { cancel }: EvaluationInput, asked: Asked, passed: boolean): Promise<undefined> {
    // The caller has left: nothing passes without a verdict.
    if (cancel?.reason !== undefined) throw cancel.reason
    // A request beyond the budget is the caller's fault, and never passes.
    if (error instanceof Fault) throw error
    const committed = this.#deps.unjudged({ ...asked, error, passed })
    if (!passed) throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, cause: error })
    await committed
    return undefined
  }
}
