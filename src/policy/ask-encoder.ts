/** Puts what a call has raised to the encoder. */
import type { Encoder, EncoderQuestion, EncoderReading } from '../encoder/index.js'
import { confidenceOf, shareOf } from '../encoder/scale.js'
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

/** UTF-16 units. In longer texts the first reader finds something for their length: in a quarter of long documents. */
const short = 500
/** Of harmless texts of this length, at most so many are stopped by the first reader alone: of unseen sources 2 %. */
const stoppedAlone = 0.05

/** What one in twenty harmless texts reaches. Below it the encoder sees nothing that would agree. */
const doubtful = 0.25

/**
 * Phrases, which people wrote, and the encoder seldom err on the same text: where phrases would stop a short one, few
 * harmless ones are left for the encoder to be wrong about. Of 769 of unseen sources one was stopped by the first reader
 * and had 0.25 from the encoder, where the product of the shares says two. The classifier learnt from the rows that the
 * encoder learnt from, and is wrong where it is more often: it counts where it would forbid.
 */
function agreed({ text, stoppedBy }: Question, reading: EncoderReading): EncoderReading {
  if (stoppedBy === undefined || text.length > short) return reading
  const findings = reading.findings.map((finding) => {
    if (finding.confidence < doubtful) return finding
    const confidence = confidenceOf(shareOf(finding.confidence) * stoppedAlone)
    return { ...finding, confidence: Math.max(finding.confidence, confidence) }
  })
  return { ...reading, findings }
}

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
    return new Map(questions.map((question, i) => [keyOf(question), agreed(question, readings[i]!)]))
  } finally {
    off?.()
  }
}
