/**
 * One call of the evaluator as every surface makes it: without a verdict it fails closed, unless its route says otherwise,
 * and what became of it is counted and audited.
 */
import { Fault } from '../base/errors.js'
import type { Caller } from '../identity/caller.js'
import type { Evaluation, EvaluationInput, Evaluator, Exceptions, HeldPolicy } from '../policy/evaluation.js'
import type { KeptExplanation } from '../policy/explanation.js'
import type { Decided, Recorder, Said, SentTo, Surface } from './record.js'
import type { UnjudgedRecorder } from './unjudged.js'

/** What is judged with: it says, too, from which score on a category counts. */
type Judged = Pick<Evaluator, 'evaluate' | 'hold'>

export interface JudgingDeps<E extends Judged> {
  evaluator: E
  /** Counts, meters and audits each verdict. */
  record: Recorder
  /** Counts and audits each call that got no verdict. */
  unjudged: UnjudgedRecorder
  /** What people have excepted for a caller. */
  exceptions(caller: Caller): Exceptions | undefined
  /** Takes windows of the encoder from a caller's limit. Default: they cost nothing. */
  chargeWindows?(caller: Caller, windows: number, refuses: boolean): MaybePromise<object | Fault>
  /** Whether samples are taken now. Default: none are. */
  sampling?(): boolean
}

type MaybePromise<T> = T | Promise<T>

/** Whose call it is, and where it came in. */
export interface Asked {
  surface: Surface
  /** Id of the route, or the path of the endpoint. */
  route: string
  caller: Caller
  requestId: string
  /** Default: nowhere, the verdict is all that is asked for. */
  sentTo?: SentTo | undefined
}

/** What a row and a sample of a verdict say besides. */
export interface Besides extends Pick<Decided, 'beyond'>, Partial<Pick<Said, 'redact' | 'isOfMinors'>> {
  /** What judged it. Default: `default`. */
  policy?: string | HeldPolicy | undefined
}

export class Judging<E extends Judged> {
  readonly #deps: JudgingDeps<E>
  /** Of verdicts that are not recorded yet. */
  readonly #explanations = new WeakMap<EvaluationInput, KeptExplanation>()

  constructor(deps: JudgingDeps<E>) {
    this.#deps = deps
  }

  /**
   * @param passes whether the route says `on_failure: open`
   * @returns undefined where no verdict could be had and the route lets it pass
   * @throws Fault `evaluator_unavailable` where no complete verdict could be had, and whatever Fault the evaluator throws;
   * the reason for which the caller's exchange was ended
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

  /** The same by a function of the evaluator's own; never passes without a verdict. */
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
    // What is in force no more by now may have counted the least.
    const middle = typeof held === 'string' ? 0 : held.speech.middle
    return { joined, context, direction, middle, redact, hasNames: names, isOfMinors }
  }

  #with(input: EvaluationInput, { caller }: Asked): EvaluationInput {
    input.whose = caller.lineage
    input.exceptions = this.#deps.exceptions(caller)
    input.explained = (explanation) => this.#explanations.set(input, explanation)
    input.pay = async (windows) => {
      // What a model answers is charged as far as the limit goes, and read in any case.
      const outcome = await this.#deps.chargeWindows?.(caller, windows, input.direction === 'request')
      return outcome instanceof Fault ? outcome : undefined
    }
    return input
  }

  async #failed(error: unknown, { cancel }: EvaluationInput, asked: Asked, passed: boolean): Promise<undefined> {
    // Who has left is not waited for, and nothing is passed without a verdict on their behalf.
    if (cancel?.reason !== undefined) throw cancel.reason
    // More than is judged at once is the caller's to mend: it passes under no setting.
    if (error instanceof Fault) throw error
    const committed = this.#deps.unjudged({ ...asked, error, passed })
    if (!passed) throw new Fault('evaluator_unavailable', { headers: { 'retry-after': '1' }, cause: error })
    await committed
    return undefined
  }
}
