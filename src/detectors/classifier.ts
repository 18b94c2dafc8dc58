/**
 * The trained classifier as a detector: a kind for each category, `harmful_request` for requests and `harmful_answer`
 * for answers, `screen` and `screen_tool` for texts that the encoder should read. A finding's span is the
 * highest-scoring stretch; where a policy acts on it, it begins at the start of the evidence (`evidence.ts`). `unread`
 * is the share of a text that the classifier does not know, about which its other kinds tell little, and `unscored` the
 * share of unknown words in a stretch of which they tell nothing.
 */
import type { Drifts } from '../classifier/evidence.js'
import { type Lane, lanes, WIDTH } from '../classifier/lanes.js'
import { shippedScorer } from '../classifier/shipped.js'
import { Folder } from '../text/fold.js'
import { lastWord } from '../text/sentence.js'
import type { Detector, Finding, Floors } from './detector.js'

/** Findings are given from this confidence on: below it a text is ordinary. */
export const floor = 0.2

/** Least reported unknown share. */
const unknown = 0.5

const nothing: readonly Finding[] = []

const ownFolder = new Folder()
const driftsOf = new WeakMap<Floors, Drifts>()

function drifts(floors: Floors): Drifts {
  let drifts = driftsOf.get(floors)
  if (drifts === undefined) {
    drifts = shippedScorer().evidence.drifts(
      Float64Array.from({ length: WIDTH }, (_, i) => floors.get(lanes[i] ?? '') ?? 0)
    )
    driftsOf.set(floors, drifts)
  }
  return drifts
}

export const classifier: Detector = {
  id: 'classifier',
  kinds: [...lanes, 'unread', 'unscored'],
  // Kinds of earlier versions, which stored constitutions may still ask for.
  groups: new Map([
    ['unsafe', ['screen']],
    ['misinformation', []]
  ]),
  readsWords: true,
  growsFrom(text, before, floors) {
    const all = before + text.slice(0, lastWord(text))
    return Math.max(0, shippedScorer().evidence.open(ownFolder.fold(all), all, drifts(floors)) - before.length)
  },
  prepare() {
    shippedScorer()
  },
  find(text, given, whole, floors) {
    const folded = given ?? ownFolder.fold(text)
    const scorer = shippedScorer().score(folded, text, whole)
    let found: Finding[] | undefined
    for (let lane = 0; lane < lanes.length; lane++) {
      const confidence = scorer.confidence(lane)
      if (confidence < floor) continue
      found ??= []
      const kind = lanes[lane] as Lane
      const finding: Finding = { kind, confidence, ...scorer.span(folded, text, lane) }
      const least = floors?.get(kind)
      if (least !== undefined && confidence >= least)
        finding.shown = scorer.place(folded, text, lane, confidence, drifts(floors!))
      found.push(finding)
    }
    scorer.screened(folded, text, floor, (kind, confidence, span) => {
      // The strongest of all comes first.
      const told = found?.find((finding) => finding.kind === kind)
      if (told !== undefined && told.start === span.start && told.confidence >= confidence) return
      found ??= []
      found.push({ kind, confidence, ...span })
    })
    if (scorer.unread >= unknown) {
      found ??= []
      found.push({ kind: 'unread', confidence: scorer.unread, ...scorer.unreadSpan(folded, text) })
    }
    if (scorer.unscored > 0) {
      found ??= []
      found.push({ kind: 'unscored', confidence: scorer.unscored, ...scorer.unscoredSpan(folded, text) })
    }
    return found ?? nothing
  }
}
