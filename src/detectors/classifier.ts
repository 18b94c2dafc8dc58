/**
 * The trained classifier as a detector: a kind for each category, `unsafe` for harm of any kind, `harmful_request` for
 * what is asked of a model and `harmful_answer` for what a model said. A finding's span is the stretch of text that
 * scored highest.
 */
import { fileURLToPath } from 'node:url'
import { type Lane, lanes } from '../classifier/lanes.js'
import { readModel } from '../classifier/model.js'
import { Scorer } from '../classifier/scorer.js'
import { Folder } from '../text/fold.js'
import { sentenceStart } from '../text/sentence.js'
import type { Detector, Finding } from './detector.js'

/** Findings are given from this confidence on: below it a text is ordinary. */
export const floor = 0.2

const file = fileURLToPath(new URL('../../config/models/classifier.bin', import.meta.url))
const nothing: readonly Finding[] = []

/** One in each thread: the model, and the buffers that scoring reuses. */
let scorer: Scorer | undefined
const ownFolder = new Folder()

function open(): Scorer {
  scorer ??= new Scorer(readModel(file))
  return scorer
}

export const classifier: Detector = {
  id: 'classifier',
  kinds: lanes,
  readsWords: true,
  growsFrom: sentenceStart,
  prepare() {
    open()
  },
  find(text, given, whole) {
    const folded = given ?? ownFolder.fold(text)
    const scorer = open().score(folded, text, whole)
    let found: Finding[] | undefined
    for (let lane = 0; lane < lanes.length; lane++) {
      const confidence = scorer.confidence(lane)
      if (confidence < floor) continue
      found ??= []
      found.push({ kind: lanes[lane] as Lane, confidence, ...scorer.span(folded, text, lane) })
    }
    return found ?? nothing
  }
}
