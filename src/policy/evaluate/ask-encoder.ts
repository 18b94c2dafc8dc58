/** Puts what a call has raised to the encoder. */
import type { Encoder, EncoderQuestion, EncoderReading, Pay } from '../../encoder/index.js'
import { confidenceOf, shareOf } from '../../encoder/scale.js'
import type { Cancellation } from '../escalate/judges.js'
import { keyOf, type Question, type Readings } from './asking.js'

export interface Asker {
  /** Whose call it is, so that callers take turns. */
  whose: string
  /** Ends the wait where the caller leaves. */
  cancel?: Cancellation | undefined
  /** What its windows cost. */
  pay?: Pay | undefined
}

/** Before anything was asked. */
export const noReadings: Readings = new Map()

/** UTF-16 units. In longer texts the first reader finds something for their length: in a quarter of long documents. */
const short = 500
/**
 * By the band that the first reader reaches alone, what is left of the encoder's share of false alarms where both are against
 * a text. Of harmless texts of unseen sources 0.1 to 2 % reach these bands; but both readers learnt from the same rows and err
 * on the same texts more often than by chance, so the shares are put far higher.
 */
const left = { high: 0.05, middle: 0.2 } as const

/** What one in twenty harmless texts reaches. Below it the encoder sees nothing that would agree. */
const doubtful = 0.25

/** The two readers look at different things, words and language: where both are against a short text, few are harmless. */
function agreed({ text, reaches }: Question, reading: EncoderReading): EncoderReading {
  if (reaches === undefined || text.length > short) return reading
  const findings = reading.findings.map((finding) => {
    if (finding.confidence < doubtful) return finding
    const confidence = confidenceOf(shareOf(finding.confidence) * left[reaches])
    return { ...finding, confidence: Math.max(finding.confidence, confidence) }
  })
  return { ...reading, findings }
}

/** @throws EncoderError where they could not all be read: what the first reader says alone is then no verdict */
export async function askEncoder(
  encoder: Pick<Encoder, 'read'>,
  questions: readonly Question[],
  { whose, cancel, pay }: Asker
): Promise<Readings> {
  const abort = cancel === undefined ? undefined : new AbortController()
  const off = cancel?.onCancel((reason) => abort?.abort(reason))
  try {
    const asked = questions.map(({ role, text, spans }): EncoderQuestion => {
      return { role, text, whose, ...(spans && { spans }), ...(abort && { cancel: abort.signal }) }
    })
    const readings = await encoder.read(asked, pay)
    if (readings.length !== questions.length) throw new Error('the encoder has not read what it was asked to')
    return new Map(questions.map((question, i) => [keyOf(question), agreed(question, readings[i]!)]))
  } finally {
    off?.()
  }
}
