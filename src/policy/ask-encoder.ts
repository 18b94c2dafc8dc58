/** Puts what a call has raised to the encoder. */
import type { Encoder, EncoderQuestion } from '../encoder/index.js'
import { keyOf, type Question, type Readings } from './asking.js'
import type { Cancellation } from './judges.js'

export interface Asker {
  /** Whose call it is, so that callers take turns. */
  whose: string
  /** Ends the wait where the caller leaves. */
  cancel?: Cancellation | undefined
}

/** Before anything was asked. */
export const noReadings: Readings = new Map()

/** @throws EncoderError where they could not all be read: what the first reader says alone is then no verdict */
export async function askEncoder(
  encoder: Pick<Encoder, 'read'>,
  questions: readonly Question[],
  { whose, cancel }: Asker
): Promise<Readings> {
  const abort = cancel === undefined ? undefined : new AbortController()
  const off = cancel?.onCancel((reason) => abort?.abort(reason))
  try {
    const asked = questions.map(({ role, text, spans }): EncoderQuestion => {
      return { role, text, whose, ...(spans && { spans }), ...(abort && { cancel: abort.signal }) }
    })
    const readings = await encoder.read(asked)
    if (readings.length !== questions.length) throw new Error('the encoder has not read what it was asked to')
    return new Map(questions.map((question, i) => [keyOf(question), readings[i]!]))
  } finally {
    off?.()
  }
}
