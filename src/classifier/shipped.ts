/** The shipped classifier, opened once in each thread: the model, and the buffers that scoring reuses. */
import { fileURLToPath } from 'node:url'
import { readModel } from './model.js'
import { Scorer } from './scorer.js'

export const shippedFile = fileURLToPath(new URL('../../config/models/classifier.bin', import.meta.url))

let scorer: Scorer | undefined

/** @throws ModelError where its file is damaged or of another version */
export function shippedScorer(): Scorer {
  scorer ??= new Scorer(readModel(shippedFile))
  return scorer
}
