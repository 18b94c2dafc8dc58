/**
 * The encoder as a detector of constitutions (`detector: encoder`). This object itself finds nothing: findings come
 * from the readings that the evaluator requests between two passes (`policy/evaluate/asking.ts`).
 */
import { encoderKinds } from '../encoder/index.js'
import type { Detector, Finding } from './detector.js'

export const encoderId = 'encoder'

const nothing: readonly Finding[] = []

export const encoder: Detector = {
  id: encoderId,
  kinds: encoderKinds,
  readsWords: true,
  // Raised texts are held back elsewhere; the encoder alone holds nothing.
  growsFrom: (text) => text.length,
  find: () => nothing
}
