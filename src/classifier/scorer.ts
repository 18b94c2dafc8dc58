/** Scores a folded text in every lane at once, with buffers that it keeps: nothing is allocated for a text. */
import type { Folder, Span } from '../text/fold.js'
import { type Drifts, Evidence } from './evidence.js'
import { pairFeature, START, skipFeature, Words } from './features.js'
import { lanes, UNKNOWN, WIDTH } from './lanes.js'
import type { Model } from './model.js'
import { PackedRows } from './packed-rows.js'
import { sigmoid } from './sigmoid.js'
import {
  Blocks,
  fewForeignWords,
  fewWords,
  forEachWindow,
  isWholeText,
  isWide,
  longest,
  mostBlocks,
  noScore,
  scaleOf,
  segment,
  segmentStep,
  stride
} from './windows.js'
import { LIFT, mostAdded, WordRows } from './word-rows.js'

/**
 * Subtracted from the logit for each e-fold of a text's length, since one of many windows always scores a little high.
 */
const doubtOfMany = 0.15
/** A stretch in which a larger share of the words is unknown gets no score. */
export const mostUnknown = 0.4

/** Fewer words than this are a name or a number, in no language. */
const fewest = 3

const REQUEST = lanes.indexOf('harmful_request')
const SCREEN = lanes.indexOf('screen')
/** Lanes that choose texts for the encoder: the strongest window of each page is reported. */
export const screens = ['screen', 'screen_tool'] as const
const paged: readonly number[] = screens.map((name) => lanes.indexOf(name))
/**
 * Added to a page's score, which is that of a text, since the encoder reads it by itself, however long the rest is: `screen`
 * has also learnt from harmless texts with a harmful sentence, which the encoder clears in their context. `screen_tool` has
 * learnt from orders within documents.
 */
const lift: readonly number[] = [0.4, 0]
/**
 * Added to a text's score for `screen` where at most so many of a window's pairs are known: mostly other languages, of which `screen` has
 * learnt by letters alone. From 0.35 on it is raised, so these are from 0.1 on: in sources that it had not seen, 98 % of
 * what the encoder stops reaches that.
 */
const foreignLift = 1.6
const foreignFrom = 0.7
/** Words of a page, about as many as the encoder reads at once; a text has at most so many pages, longer ones if need be. */
const page = 120
const mostPages = 192
/** Letters beyond ASCII: another language than English. */
const foreign = /[\u00c0-\u02af\u0370-\u1fff\u3040-\ud7ff]/

/** The least known of some windows: its words [from, to), and the share of it that the model does not know. */
class LeastKnown {
  share = 0
  from = 0
  to = 0

  see(share: number, from: number, to: number): void {
    if (share <= this.share) return
    this.share = share
    this.from = from
    this.to = to
  }
}

export class Scorer {
  readonly evidence: Evidence
  readonly #model: Omit<Model, 'words' | 'pairs'>
  readonly #words = new Words()
  readonly #wordRows: WordRows
  readonly #pairRows: PackedRows
  readonly #blocks = new Blocks()
  /** By lane: sums up to the edge of every block of a segment. */
  readonly #prefix = new Int32Array((mostBlocks + 1) * WIDTH)
  /** By lane: the highest score among windows of more than a few words, then among those of a few, and the words of the window that has it. */
  readonly #best = new Float64Array(2 * WIDTH)
  readonly #from = new Int32Array(2 * WIDTH)
  readonly #to = new Int32Array(2 * WIDTH)
  /** Of a block: each word ends two pairs, and the first two of a passage one more each. */
  readonly #features = new Int32Array(2 * stride + 2)
  /** Pairs that the model knows, up to the edge of every block of a segment. */
  readonly #pairs = new Int32Array(mostBlocks + 1)
  /** By pairs. */
  readonly #unread = new LeastKnown()
  /** By words, among windows that have no score because of it. */
  readonly #unscored = new LeastKnown()
  /**
   * By screening lane and page: the highest score among windows that begin there, and the words [from, to) of the window.
   * There are none in a text of one page, of which the strongest window says as much.
   */
  readonly #pages = {
    count: 0,
    words: page,
    best: new Float64Array(mostPages * paged.length),
    from: new Int32Array(mostPages * paged.length),
    to: new Int32Array(mostPages * paged.length)
  }
  /** Where the segment at hand begins, in words. */
  #start = 0
  /** Words of the whole text at hand, in longest windows. */
  #wholeLength = 0
  #text = ''
  #folded: Folder | undefined

  constructor({ words, pairs, ...model }: Model) {
    // The weights are packed; the plain ones go free.
    this.#model = model
    this.#wordRows = new WordRows(model.wordTable, words)
    this.#pairRows = new PackedRows(pairs)
    this.evidence = new Evidence({ model, wordRows: this.#wordRows, pairRows: this.#pairRows })
  }

  /**
   * Linear.
   * @param whole UTF-16 units of the text that this one is an excerpt of: of its other windows one may be odd as well
   * @returns this, holding the scores of the text until the next call
   */
  score(folded: Folder, text: string, whole = text.length): this {
    const words = this.#words.read(folded, text)
    this.#best.fill(noScore)
    const pages = this.#pages
    pages.words = Math.max(page, Math.ceil(words.count / mostPages))
    pages.count = words.count <= page ? 0 : Math.ceil(words.count / pages.words)
    if (pages.count > 0) pages.best.fill(noScore)
    this.#unread.share = 0
    this.#unscored.share = 0
    this.#wholeLength = (words.count * Math.max(1, whole / Math.max(1, text.length))) / longest
    this.#text = text
    this.#folded = folded
    const { passages } = words
    let next = 0
    for (let start = 0; start < words.count; start += segmentStep) {
      const end = Math.min(start + segment, words.count)
      // Back over the words that two segments share.
      next = this.#blocks.cut(passages.breaks, Math.max(0, next - longest), passages.count, start, end)
      this.#sum(folded.units, start)
      this.#start = start
      forEachWindow(this.#blocks, this.#window)
      if (end === words.count) break
    }
    return this
  }

  /**
   * The strongest window of each page and screening lane in a text of several pages: the worst-sounding page may be
   * harmless, and the harm elsewhere.
   * @param least reported from this confidence on
   */
  screened(
    folded: Folder,
    text: string,
    least: number,
    tell: (kind: (typeof screens)[number], confidence: number, span: Span) => void
  ): void {
    const { count, best, from, to } = this.#pages
    for (const [i, kind] of screens.entries()) {
      for (let at = i * mostPages; at < i * mostPages + count; at++) {
        const confidence = best[at] === noScore ? 0 : this.#alone(paged[i]!, best[at]!, lift[i])
        if (confidence >= least) tell(kind, confidence, this.#words.span(folded, text, from[at]!, to[at]!))
      }
    }
  }

  /** The score of a lane's strongest window, before calibration; `noScore` where there is none. */
  strongest(lane: number): number {
    return Math.max(this.#best[lane]!, this.#best[WIDTH + lane]!)
  }

  /** 0..1 */
  confidence(lane: number): number {
    if (lane === SCREEN && this.#unread.share >= foreignFrom) {
      const score = this.strongest(lane)
      return score === noScore ? 0 : this.#calibrated(lane, score, foreignLift)
    }
    const wide = this.#best[lane]!
    const narrow = this.#best[WIDTH + lane]!
    if (narrow <= wide) return this.#calibrated(lane, wide)
    const confidence = this.#calibrated(lane, narrow)
    const most = this.#model.ceiling[lane]!
    if (confidence <= most || (lane === REQUEST && this.#isForeign(lane))) return confidence
    return Math.max(heldTo(most, confidence), wide === noScore ? 0 : this.#calibrated(lane, wide))
  }

  /** @param more added to the log odds */
  #calibrated(lane: number, score: number, more = 0): number {
    return this.#alone(lane, score, more - Math.max(0, Math.log(this.#wholeLength)) * doubtOfMany)
  }

  /** The same of a text that is judged by itself. */
  #alone(lane: number, score: number, more = 0): number {
    const { slope, offset } = this.#model
    return sigmoid(slope[lane]! * score + offset[lane]! + more)
  }

  /** Whether the strongest window of a few words has more than very few, and is in another language than English. */
  #isForeign(lane: number): boolean {
    const [from, to] = [this.#from[WIDTH + lane]!, this.#to[WIDTH + lane]!]
    if (to - from <= fewForeignWords) return false
    const { start, end } = this.#words.span(this.#folded!, this.#text, from, to)
    return foreign.test(this.#text.slice(start, end))
  }

  /**
   * 0..1, the unknown share in the least known window: 1 minus the known pairs per word. Of English nine texts in ten
   * stay below 0.6; most texts in other languages lie above 0.7, and their scores mean little.
   */
  get unread(): number {
    return this.#unread.share
  }

  /** Where in the text that window stands. */
  unreadSpan(folded: Folder, text: string): Span {
    return this.#words.span(folded, text, this.#unread.from, this.#unread.to)
  }

  /** 0..1, the unknown share of the words of the least known window that has no score because of it; 0: all have one. */
  get unscored(): number {
    return this.#unscored.share
  }

  /** Where in the text that window stands. */
  unscoredSpan(folded: Folder, text: string): Span {
    return this.#words.span(folded, text, this.#unscored.from, this.#unscored.to)
  }

  /** Where in the text the strongest window of a lane stands. */
  span(folded: Folder, text: string, lane: number): Span {
    const at = this.#best[WIDTH + lane]! > this.#best[lane]! ? WIDTH + lane : lane
    return this.#words.span(folded, text, this.#from[at]!, this.#to[at]!)
  }

  /**
   * The place of the evidence for a lane's confidence: from the start of the run to the end of the window.
   * @param confidence of the lane
   * @param drifts of a confidence that the lane reaches
   */
  place(folded: Folder, text: string, lane: number, confidence: number, drifts: Drifts): Span {
    const wide = this.#best[lane]!
    const isNarrow = this.#best[WIDTH + lane]! > wide && (wide === noScore || this.#calibrated(lane, wide) < confidence)
    const at = isNarrow ? WIDTH + lane : lane
    const [from, to] = [this.#from[at]!, this.#to[at]!]
    const first = this.evidence.begin(folded, this.#words, lane, drifts[lane]!, from, to)
    return this.#words.span(folded, text, first, to)
  }

  /** Adds up what words and pairs say, a block at a time. */
  #sum(units: Uint16Array, start: number): void {
    const { count, edges } = this.#blocks
    const { hash } = this.#words
    this.#prefix.fill(0, 0, WIDTH)
    this.#wordRows.fetch(hash, start, start + edges[1]!)
    for (let block = 0, passage = 1; block < count; block++) {
      const from = start + edges[block]!
      const to = start + edges[block + 1]!
      if (block + 1 < count) this.#wordRows.fetch(hash, to, start + edges[block + 2]!)
      this.#addWords(units, from, to, block)
      // A passage opens as a text does.
      const opens = block === this.#blocks.first[passage]
      if (opens) passage++
      this.#addPairs(this.#pairsOf(from, to, opens), block)
    }
  }

  /** Makes the prefix after a block: the one before it, and what its words [from, to) add. */
  #addWords(units: Uint16Array, from: number, to: number, block: number): void {
    const { hash, from: starts, to: ends } = this.#words
    const wordRows = this.#wordRows
    const { rows } = wordRows
    const prefix = this.#prefix
    const at = (block + 1) * WIDTH
    prefix.copyWithin(at, at - WIDTH, at)
    for (let first = from; first < to; first += mostAdded) {
      const after = Math.min(first + mostAdded, to)
      // Two lanes each, without a sign.
      let [a, b, c, d, e, f, g, h] = [0, 0, 0, 0, 0, 0, 0, 0]
      for (let i = first; i < after; i++) {
        const row = wordRows.find(units, starts[i]!, ends[i]!, hash[i]!)
        a = (a + rows[row]!) | 0
        b = (b + rows[row + 1]!) | 0
        c = (c + rows[row + 2]!) | 0
        d = (d + rows[row + 3]!) | 0
        e = (e + rows[row + 4]!) | 0
        f = (f + rows[row + 5]!) | 0
        g = (g + rows[row + 6]!) | 0
        h = (h + rows[row + 7]!) | 0
      }
      const off = (after - first) * LIFT
      addTwo(prefix, at, a, off)
      addTwo(prefix, at + 2, b, off)
      addTwo(prefix, at + 4, c, off)
      addTwo(prefix, at + 6, d, off)
      addTwo(prefix, at + 8, e, off)
      addTwo(prefix, at + 10, f, off)
      addTwo(prefix, at + 12, g, off)
      addTwo(prefix, at + 14, h, off)
    }
  }

  /** Writes the features of the pairs that end with words [from, to), which open a passage or not. @returns how many */
  #pairsOf(from: number, to: number, opens: boolean): number {
    const { hash } = this.#words
    const features = this.#features
    let count = 0
    let before = from > 0 ? hash[from - 1]! : START
    let second = from > 1 ? hash[from - 2]! : START
    for (let i = from; i < to; i++) {
      const own = hash[i]!
      features[count++] = pairFeature(before, own)
      if (i > 0) features[count++] = skipFeature(second, own)
      second = before
      before = own
    }
    if (opens) {
      features[count++] = pairFeature(START, hash[from]!)
      if (from + 1 < to) features[count++] = skipFeature(START, hash[from + 1]!)
    }
    return count
  }

  /** Adds to the prefix after a block what pairs say, which are given by their features. */
  #addPairs(count: number, block: number): void {
    const rows = this.#features
    const { pairTable } = this.#model
    pairTable.findAll(rows, count)
    this.#pairRows.addTo(this.#prefix, (block + 1) * WIDTH, rows, count)
    let known = 0
    for (let i = 0; i < count; i++) known += rows[i] === pairTable.none ? 0 : 1
    this.#pairs[block + 1] = this.#pairs[block]! + known
  }

  readonly #window = (first: number, after: number, words: number, kind: number): void => {
    const { unit, bias } = this.#model
    const best = this.#best
    const from = this.#from
    const to = this.#to
    const { edges } = this.#blocks
    const prefix = this.#prefix
    const scale = scaleOf(words)
    const low = first * WIDTH
    const high = after * WIDTH
    const begin = this.#start + edges[first]!
    const end = this.#start + edges[after]!
    const unknown = (prefix[high + UNKNOWN]! - prefix[low + UNKNOWN]!) / words
    const isScored = unknown <= mostUnknown
    if (isWide(kind) && words >= fewest) {
      this.#unread.see(1 - (this.#pairs[after]! - this.#pairs[first]!) / words, begin, end)
      if (!isScored) this.#unscored.see(unknown, begin, end)
    }
    // No score for mostly unknown windows: hashes, other languages, scrambled letters.
    if (!isScored) return
    const own = kind * WIDTH
    const base = words > fewWords ? 0 : WIDTH
    for (let lane = 0; lane < UNKNOWN; lane++) {
      const score = (prefix[high + lane]! - prefix[low + lane]!) * unit[lane]! * scale + bias[own + lane]!
      const at = base + lane
      if (score <= best[at]!) continue
      best[at] = score
      from[at] = begin
      to[at] = end
    }
    const pages = this.#pages
    if (pages.count === 0 || isWholeText(kind)) return
    const place = (begin / pages.words) | 0
    for (let i = 0; i < paged.length; i++) {
      const lane = paged[i]!
      const score = (prefix[high + lane]! - prefix[low + lane]!) * unit[lane]! * scale + bias[own + lane]!
      const at = i * mostPages + place
      if (score <= pages.best[at]!) continue
      pages.best[at] = score
      pages.from[at] = begin
      pages.to[at] = end
    }
  }
}

/** Above its ceiling a window of a few words keeps its rank among others, within a tenth of the way to certainty. */
function heldTo(most: number, confidence: number): number {
  return most + (confidence - most) / 10
}

/** Adds to two lanes what one number holds of them. */
function addTwo(prefix: Int32Array, at: number, both: number, off: number): void {
  prefix[at]! += (both & 0xffff) - off
  prefix[at + 1]! += (both >>> 16) - off
}
