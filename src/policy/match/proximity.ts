/** `all`: one hit of every group, none overlapping another, inside a window of words. */
import type { Clause } from './compile.js'
import type { Hits } from './hits.js'

type AllClause = Extract<Clause, { kind: 'all' }>

/**
 * Steps of the search for hits that do not overlap, per window. Only a text made of overlapping phrases needs more than
 * a few. At the bound the window counts as a match, so that such a text cannot evade the rule.
 */
const maxSteps = 256

/**
 * The folded range of a match and its hit of each group. @returns whether it was accepted as a match, so that the next
 * one must begin after it.
 */
export type Accept = (from: number, to: number, chosen: readonly number[]) => boolean

/**
 * Reports windows from left to right; of those with the same last hit, the one that starts latest. Linear in the hits.
 * Every group has one.
 */
export function findWindows(clause: AllClause, hits: Hits, accept: Accept): void {
  const { groups, within } = clause
  const cursors = Array.from(groups, (group) => hits.first(group))
  /** Hits of each group so far, oldest first; those too far back are passed over by `oldest`. */
  const recent: number[][] = cursors.map(() => [])
  const chosen: number[] = new Array(groups.length).fill(-1)

  for (;;) {
    const group = earliest(cursors, hits)
    if (group < 0) return
    const hit = hits.hitOf(cursors[group]!)
    cursors[group] = hits.next(cursors[group]!)
    recent[group]!.push(hit)
    if (clause.ordered && group !== groups.length - 1) continue
    const floor = hits.wordTo(hit) - within + 1
    if (hits.wordFrom(hit) < floor) continue
    if (!recent.every((list) => reaches(list, floor, hits))) continue
    chosen.fill(-1)
    chosen[group] = hit
    const search = { clause, hits, recent, chosen, floor, steps: 0 }
    if (!choose(search, groups.length - 1, group)) continue
    const from = chosen.reduce(
      (least, other) => (other >= 0 ? Math.min(least, hits.from[other]!) : least),
      hits.from[hit]!
    )
    if (accept(from, hits.to[hit]!, chosen)) for (const list of recent) list.length = 0
  }
}

/** Whether a group has a hit within the window; a long hit may start before it while an older, shorter one does not. */
function reaches(list: readonly number[], floor: number, hits: Hits): boolean {
  for (let i = list.length - 1; i >= 0 && hits.wordTo(list[i]!) >= floor; i--) {
    if (hits.wordFrom(list[i]!) >= floor) return true
  }
  return false
}

/** The group whose next hit ends first, or -1 at the end. */
function earliest(cursors: readonly number[], hits: Hits): number {
  let best = -1
  for (let group = 0; group < cursors.length; group++) {
    const node = cursors[group]!
    if (node >= 0 && (best < 0 || hits.hitOf(node) < hits.hitOf(cursors[best]!))) best = group
  }
  return best
}

interface Search {
  clause: AllClause
  hits: Hits
  recent: readonly number[][]
  chosen: number[]
  /** The first word that the window may hold. */
  floor: number
  steps: number
}

/** Fills `chosen` for the groups up to `group`, the one with the window's last hit excepted; latest hits first. */
function choose(search: Search, group: number, last: number): boolean {
  if (group < 0) return true
  if (group === last) return choose(search, group - 1, last)
  const { hits, chosen, clause } = search
  const list = search.recent[group]!
  for (let i = list.length - 1; i >= 0; i--) {
    if (++search.steps > maxSteps) return true
    const hit = list[i]!
    if (hits.wordTo(hit) < search.floor) return false
    if (hits.wordFrom(hit) < search.floor || !fits(hit, group, chosen, hits, clause.ordered)) continue
    chosen[group] = hit
    if (choose(search, group - 1, last)) return true
    chosen[group] = -1
  }
  return false
}

/** No word is used twice; where order counts, groups are chosen from the last to the first. */
function fits(hit: number, group: number, chosen: readonly number[], hits: Hits, ordered: boolean): boolean {
  for (let other = 0; other < chosen.length; other++) {
    const taken = chosen[other]!
    if (taken < 0) continue
    if (ordered && other > group) {
      if (hits.to[hit]! > hits.from[taken]!) return false
    } else if (hits.from[hit]! < hits.to[taken]! && hits.from[taken]! < hits.to[hit]!) {
      return false
    }
  }
  return true
}
