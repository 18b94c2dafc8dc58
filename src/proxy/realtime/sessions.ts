/**
 * The open sessions of one configuration. It joins the halves of each session, and ends all of them before the
 * configuration closes.
 */

import { statusClass } from '../../observe/metrics.js'
import { placesOf } from '../upstream/upstreams.js'
import { UpstreamHalf } from './answers.js'
import { ClientHalf } from './requests.js'
import { Session, type SessionDeps, type SessionFacts, type Sides } from './session.js'

/** How long an event waits for its turn, ms. */
const longestWait = 10_000

/** The open sessions of one configuration, which end before it does. */
export class Sessions {
  readonly #deps: SessionDeps
  readonly #open = new Set<Session>()
  #whenEmpty: (() => void) | undefined
  /** Long events of all clients are judged one at a time: see `requests.ts`. */
  readonly #turns = placesOf(1, longestWait)
  isStopping = false

  constructor(deps: SessionDeps) {
    this.#deps = deps
  }

  /** Runs a session over two sides that are connected, until it is over. */
  run(facts: SessionFacts, sides: Sides): void {
    const { metrics, tracing } = this.#deps
    const { route, inbound } = facts
    metrics.requests.of(route.id, statusClass(101)).inc()
    metrics.realtimeSessions.inc()
    const session = new Session(this.#deps, this.#turns, facts, sides, (session) => ({
      requests: new ClientHalf(session),
      answers: new UpstreamHalf(session)
    }))
    this.#open.add(session)
    if (this.isStopping) session.drain(0)
    session
      .run()
      .catch((error: unknown) => session.fail(error))
      .finally(() => {
        this.#open.delete(session)
        if (this.#open.size === 0) this.#whenEmpty?.()
        metrics.realtimeSessions.dec()
        tracing?.end(inbound.requestId, 101)
      })
  }

  /** Ends each when the answer under way in it has ended, or at the deadline; no new one begins. */
  async drain(deadlineMs: number): Promise<void> {
    this.isStopping = true
    for (const session of this.#open) session.drain(deadlineMs)
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#whenEmpty = resolve))
  }
}
