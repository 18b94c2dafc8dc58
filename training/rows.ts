/** The rows that the classifier is trained on, whether read from a corpus or written by a grammar. */
import type { Label } from '../src/classifier/lanes.js'

export interface TrainingRow {
  text: string
  /** Only what is known of the text: a label left out is neither counted for nor against it. */
  labels: Partial<Record<Label, 0 | 1>>
  /** Whether the text as a whole is harmful; 0 with no labels is harmless in every respect. */
  unsafe?: 0 | 1
  /** Cross-validation leaves whole sources out: rows written by one hand, or by one grammar, share a source. */
  source: string
  kind: 'prompt' | 'comment' | 'document' | 'conversation'
  /** Who said it, where that matters: `assistant` for answers, `tool` for tool results. */
  role?: string
  /** How sure the encoder is (0 to 1) of anything that may stop such words; see `classifier/teacher.ts`. */
  says?: number
  /** Measured, and never learnt from. */
  keptBack?: true
}
