/** Errors of an upstream that a client gets with the upstream's own status: it says whether, and when, to try again. */
import type { JsonObject } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import type { Exchange } from '../exchange.js'
import { clientHeaders } from '../headers.js'
import type { UpstreamAnswer } from './send.js'

/** The last status that HTTP has. */
const lastStatus = 599

/** An error whose words nobody judged: its status passes, and its headers in their documented form; the words are ours. */
export class UnreadFailure extends Fault {
  constructor({ route, chat }: Exchange, answer: UpstreamAnswer, internal: string, cause?: unknown) {
    const { status } = answer
    super('upstream_error', {
      status: status <= lastStatus ? status : 502,
      message: `The upstream answered with an error, status ${status}, in a form that could not be read.`,
      headers: clientHeaders(route.spoken, answer, chat.model),
      internal,
      cause
    })
  }
}

/** An error in a stream whose words were judged: they stand in the place of ours. */
export class JudgedFailure extends Fault {
  readonly body: JsonObject
  /** Ends a stream that has begun; undefined where nothing has left, so that the body is the answer. */
  readonly frame: string | undefined

  constructor(status: number, body: JsonObject, frame: string | undefined) {
    super('upstream_error', { status, internal: 'the upstream sent an error in its stream' })
    this.body = body
    this.frame = frame
  }
}
