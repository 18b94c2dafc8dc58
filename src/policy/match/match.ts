/**
 * Finds every place where a rule matches in the views of one text. It does not deal with parts, scores or decisions.
 */
import type { Finding } from '../../detectors/detector.js'
import type { EncoderFinding } from '../../encoder/index.js'
import type { Span } from '../../text/fold.js'
import { isWithin } from '../../text/places.js'
import type { View } from '../../text/view.js'
import type { Nomination, Raised } from '../evaluate/asking.js'
import { type Clause, type CompiledRule, type Policy, takesKind } from './compile.js'
import type { Guarded } from './guarded/find.js'
import { Hits } from './hits.js'
import { findWindows } from './proximity.js'

/** Receiver of one text's matches. Offsets are UTF-16 units of the text that the views were made of. */
export interface Sink {
  /** False for rules that do not apply to this text (its role, its direction). */
  applies(rule: CompiledRule): boolean
  /** True where a rule trusts the text as an operator's (system prompt, definitions) or the model's (its answer). */
  trusts(rule: CompiledRule): boolean
  /** Guarded content of the same chat's system prompts. */
  readonly guarded?: Guarded | undefined
  /**
   * Set where turns of a session are joined: whether a place crosses from one turn to the next. Two harmless turns
   * together contain many pairs of words, so there `all` needs its groups in the given order, or one phrase across.
   */
  crosses?(start: number, end: number): boolean
  /**
   * Set for texts that nobody wrote as one: a detector could read neighbours as one statement or one address. `false`:
   * only phrases and patterns search; a function tells the places where detectors of words may find something.
   */
  readonly detects?: false | ((start: number, end: number) => boolean)
  /** Set at seams: a request split over texts may end a sentence between two of them. */
  readonly isSeam?: boolean
  /** Collects questions for the encoder; undefined where none decides. */
  readonly raised?: Raised | undefined
  /** Set for a user's words: whether a match of the rule has what they quote read, by the rules for that. */
  wantsQuoted?(rule: CompiledRule): boolean
  /** Set with `wantsQuoted`: whether the rule reads the words themselves. */
  isOfSpeaker?(rule: CompiledRule): boolean
  /**
   * @param shown where to show a match in one text, if not at the whole scanned place
   * @param isNominated whether the encoder decides over the match
   * @returns false where the place does not count: it lies within one part of a joined text, or exceeds the limit
   */
  record(
    rule: CompiledRule,
    layer: string,
    start: number,
    end: number,
    confidence: number,
    shown?: Span,
    isNominated?: boolean
  ): boolean
}

/** Readings that replace letters and digits, or bring lines together, turn harmless text into identifiers. */
const swapping = new Set(['layout', 'leet', 'rot13', 'caesar', 'atbash', 'rot47', 'pig-latin', 'reversed'])

/** Length from which other readings are excerpts, a thousand characters around their changes. */
const longText = 16_384

function wholeOf(views: readonly View[]): number {
  const { length } = views[0]!.text
  return length > longText ? length : 0
}

/** One per policy and thread: keeps the buffers that scanning reuses. */
export class Matcher {
  readonly #policy: Policy
  readonly #hits: Hits

  constructor(policy: Policy) {
    this.#policy = policy
    this.#hits = new Hits(policy)
  }

  /**
   * @param isOver whether the time is over; asked before each view
   * @returns false where it was: views are left out then
   */
  match(views: readonly View[], sink: Sink, isOver: () => boolean = () => false): boolean {
    for (const view of views) {
      if (isOver()) return false
      this.#hits.scan(view.text)
      if (this.#hits.count > 0) this.#phrases(view, sink)
      const swaps = view.layer !== 'plain' && view.layer.split('+').some((step) => swapping.has(step))
      if (sink.detects !== false) this.#detect(view, swaps, wholeOf(views), sink)
      if (sink.guarded !== undefined) this.#guarded(view, sink.guarded, sink)
      if (sink.raised !== undefined) this.#read(view, sink.raised, sink)
    }
    return true
  }

  #phrases(view: View, sink: Sink): void {
    const { touched, touchedCount } = this.#hits
    for (let i = 0; i < touchedCount; i++) {
      const group = touched[i]!
      for (const clause of this.#policy.clausesOf[group]!) {
        // Most clauses stop here: an ordinary text has everyday words of many rules, but not their distinctive ones.
        if (clause.kind === 'all' && !this.#hits.hasAll(clause.groups)) continue
        if (!sink.applies(clause.rule)) continue
        if (clause.kind === 'any') this.#any(clause, view, sink)
        else if (clause.kind === 'all') this.#all(clause, view, sink)
        else this.#pattern(clause, view, sink)
      }
    }
  }

  #any({ rule, key }: Clause, view: View, sink: Sink): void {
    const hits = this.#hits
    for (let node = hits.first(key); node >= 0; node = hits.next(node)) {
      const hit = hits.hitOf(node)
      const from = hits.from[hit]!
      const to = hits.to[hit]!
      if (this.#isApart(rule, from, to, sink)) continue
      if (!this.#cancelled(rule, from, to, sink)) this.#record(rule, view, from, to, sink)
    }
  }

  #all(clause: Extract<Clause, { kind: 'all' }>, view: View, sink: Sink): void {
    findWindows(clause, this.#hits, (from, to, chosen) => {
      if (sink.crosses !== undefined && !this.#inOrder(chosen) && !this.#anyCrosses(chosen, view, sink)) return false
      if (this.#isApart(clause.rule, from, to, sink)) return false
      return !this.#cancelled(clause.rule, from, to, sink) && this.#record(clause.rule, view, from, to, sink)
    })
  }

  #detect(view: View, swaps: boolean, whole: number, sink: Sink): void {
    const { detects } = sink
    for (const { detector, rules, floors } of this.#policy.detectors) {
      if (detector.readsWords === true ? view.isEncoded : swaps || detects) continue
      for (const finding of detector.find(view.text, this.#hits.folded, Math.max(whole, view.text.length), floors)) {
        if (detector.readsOpaque !== true && isWithin(view.opaque, finding.start, finding.end)) continue
        if (detects) {
          const { start, end } = view.textSpan(finding.start, finding.end)
          if (!detects(start, end)) continue
        }
        for (const rule of rules) if (this.#takes(rule, finding, sink)) this.#found(rule, view, finding, sink)
      }
    }
  }

  /** Whether a detector's finding counts for a rule. */
  #takes(rule: CompiledRule, { kind, confidence, start, end }: Finding, sink: Sink): boolean {
    if (confidence < rule.detector!.minConfidence || !takesKind(rule, kind)) return false
    return sink.applies(rule) && !this.#cancelledAt(rule, start, end, sink)
  }

  /** Closes a scanned reading: records its nominations and the encoder's findings. */
  #read(view: View, raised: Raised, sink: Sink): void {
    const read = raised.close(view)
    if (read === undefined) return
    const findings = read.reading?.findings ?? []
    for (const nomination of read.nominations) {
      this.#place(view, nomination, sink, nomination.isDecided && !isAgreed(nomination.rule, findings))
    }
    for (const finding of findings) {
      const start = Math.min(finding.start, read.over?.start ?? finding.start)
      const end = Math.max(finding.end, read.over?.end ?? finding.end)
      for (const rule of this.#policy.readers)
        if (this.#takes(rule, finding, sink)) this.#found(rule, view, { ...finding, start, end }, sink)
    }
  }

  /** Records a match, or raises it for the encoder. */
  #found(rule: CompiledRule, view: View, found: Omit<Finding, 'kind'>, sink: Sink): boolean {
    const { start: from, end: to, shown } = found
    // Recorded without confidence: it counts nothing yet, but a repeated chat wants it again.
    if (sink.wantsQuoted?.(rule) === true) sink.record(rule, view.layer, from, to, 0)
    if (sink.isOfSpeaker?.(rule) === false) return false
    const confidence = found.confidence * rule.weight
    const match = { rule, from, to, confidence, shown }
    if (rule.nominate && sink.raised?.raise(view, match) === true) return true
    return this.#place(view, match, sink, false)
  }

  #place(
    view: View,
    { rule, from, to, confidence, shown: own }: Nomination,
    sink: Sink,
    isNominated: boolean
  ): boolean {
    // A rule of weight 0 only nominates.
    if (confidence === 0) return true
    const { start, end } = view.textSpan(from, to)
    const shown = own && view.textSpan(own.start, own.end)
    return sink.record(rule, view.layer, start, end, confidence, shown, isNominated)
  }

  #guarded(view: View, guarded: Guarded, sink: Sink): void {
    const { guard, guardRules } = this.#policy
    const rules = guardRules.filter((rule) => sink.applies(rule))
    if (rules.length === 0) return
    guard!.find(view.text, this.#hits.folded, guarded, (kind, from, to) => {
      for (const rule of rules) {
        if (!rule.guarded!.has(kind) || this.#cancelledAt(rule, from, to, sink)) continue
        this.#found(rule, view, { start: from, end: to, confidence: 1 }, sink)
      }
    })
  }

  /** Whether a place spans two sentences although its rule matches within one, or has too many or too few words beside it. */
  #isApart({ acrossSentences, alone, beside }: CompiledRule, from: number, to: number, sink: Sink): boolean {
    if (alone !== undefined && this.#hits.wordsBeside(from, to) > alone) return true
    if (beside !== undefined && this.#hits.wordsBeside(from, to) < beside) return true
    return !acrossSentences && sink.isSeam !== true && this.#hits.spansSentences(from, to)
  }

  #inOrder(chosen: readonly number[]): boolean {
    return chosen.every((hit, i) => i === 0 || this.#hits.from[chosen[i - 1]!]! < this.#hits.from[hit]!)
  }

  #anyCrosses(chosen: readonly number[], view: View, sink: Sink): boolean {
    return chosen.some((hit) => {
      const { start, end } = this.#span(view, this.#hits.from[hit]!, this.#hits.to[hit]!)
      return sink.crosses?.(start, end) ?? false
    })
  }

  #record(rule: CompiledRule, view: View, from: number, to: number, sink: Sink): boolean {
    return this.#found(rule, view, { ...this.#hits.span(from, to), confidence: 1 }, sink)
  }

  /** The original range of a folded range. */
  #span(view: View, from: number, to: number): Span {
    const { start, end } = this.#hits.span(from, to)
    return view.textSpan(start, end)
  }

  /** Whether a cancelling phrase lies in, or within `unlessWithin` words of, a folded range. */
  #cancelled(rule: CompiledRule, from: number, to: number, sink: Sink): boolean {
    const { cancel, cancelTrusted, unlessWithin } = rule
    if (cancel !== undefined && this.#hits.isNear(cancel, from, to, unlessWithin)) return true
    if (cancelTrusted === undefined || !sink.trusts(rule)) return false
    return this.#hits.isNear(cancelTrusted, from, to, unlessWithin)
  }

  /** The same for a range of the view's text. */
  #cancelledAt(rule: CompiledRule, from: number, to: number, sink: Sink): boolean {
    const { cancel, cancelTrusted } = rule
    const hits = this.#hits
    const may = (group: number | undefined) => group !== undefined && hits.has(group)
    if (hits.count === 0 || !(may(cancel) || may(cancelTrusted))) return false
    return this.#cancelled(rule, hits.foldedOffset(from), hits.foldedOffset(to), sink)
  }

  /** Runs the pattern around its anchors only. Touching windows are merged, so that no text is read twice. */
  #pattern(clause: Extract<Clause, { kind: 'pattern' }>, view: View, sink: Sink): void {
    const hits = this.#hits
    const { rule, regex, reach, screen } = clause
    if (screen?.(view.text) === false) return
    const around = (node: number) => {
      const hit = hits.hitOf(node)
      const { start, end } = hits.span(hits.from[hit]!, hits.to[hit]!)
      return { start: Math.max(0, start - reach), end: end + reach }
    }
    let node = hits.first(clause.key)
    while (node >= 0) {
      const window = around(node)
      for (node = hits.next(node); node >= 0; node = hits.next(node)) {
        const other = around(node)
        if (other.start > window.end) break
        window.end = Math.max(window.end, other.end)
      }
      const part = view.text.slice(window.start, window.end)
      if (screen?.(part) === false) continue
      const matcher = regex.matcher(part)
      while (matcher.find()) {
        const from = window.start + matcher.start()
        const to = window.start + matcher.end()
        if (to === from || this.#cancelledAt(rule, from, to, sink)) continue
        this.#found(rule, view, { start: from, end: to, confidence: 1 }, sink)
      }
    }
  }
}

/** Whether the encoder finds the category of a nominating rule with the confidence from which its matches count after all. */
function isAgreed({ agreedFrom, readBy }: CompiledRule, findings: readonly EncoderFinding[]): boolean {
  if (agreedFrom === undefined) return false
  return findings.some(({ kind, confidence }) => {
    return confidence >= agreedFrom && readBy.some((rule) => takesKind(rule, kind))
  })
}
