/** Counts verdicts of a filter by decision and time step, in the index of the audit search. */
import { sql } from 'kysely'
import { type AuditCourse, type AuditStore, courseDecisions, stopped } from '../contracts/audit.js'
import { entriesOf, fitting, leadOf } from './marks.js'
import { entriesPerStep, turn } from './steps.js'
import type { Database } from './tables.js'

/** Most stretches per decision: some tenths of a second in all, in steps of a few milliseconds. */
const stretchesPerDecision = 50
/**
 * After this many stretches without an entry of the requested time there is none before, since nodes store at about the
 * same time.
 */
const quietStretches = 3

export async function countCourse(
  db: Database,
  { filter, from, to, step }: Parameters<AuditStore['course']>[0]
): Promise<AuditCourse> {
  const { account, marks = {} } = filter
  const nothing = { permit: 0, depends: 0, divert: 0, forbid: 0 }
  const points = Array.from({ length: Math.ceil((to - from) / step) }, () => ({ ...nothing }))
  const asked = courseDecisions.filter((decision) =>
    marks.decision === stopped ? decision !== 'permit' : (marks.decision ?? decision) === decision
  )
  let countedFrom = from
  for (const decision of asked) {
    const wanted = { ...filter, kind: 'evaluation', from, to: to - 1, marks: { ...marks, decision } }
    const lead = leadOf(wanted) ?? { name: 'decision', value: decision }
    const entries = entriesOf(db, account, lead)
    const matching = fitting(entries, lead, wanted)
    const point = sql<number>`cast((marks.at - ${from}) / ${step} as integer)`
    for (let after: number | undefined, looked = 1, quiet = 0; ; looked++) {
      const rest = after === undefined ? entries : entries.where('seq', '<', after)
      const edge = await rest
        .select(['seq', 'at'])
        .orderBy('seq', 'desc')
        .offset(entriesPerStep)
        .limit(1)
        .executeTakeFirst()
      let some = matching
      if (after !== undefined) some = some.where('marks.seq', '<', after)
      if (edge !== undefined) some = some.where('marks.seq', '>=', edge.seq)
      const counts = await some
        .select((eb) => [point.as('point'), eb.fn.countAll().as('count')])
        .groupBy('point')
        .execute()
      for (const { point, count } of counts) points[Number(point)]![decision] += Number(count)
      if (edge === undefined) break
      quiet = edge.at < from ? quiet + 1 : 0
      if (quiet === quietStretches) break
      if (looked === stretchesPerDecision) {
        // The rest of this step is not counted, so the result begins with the next.
        if (quiet === 0) countedFrom = Math.max(countedFrom, from + Math.ceil((edge.at - from) / step) * step)
        break
      }
      after = edge.seq
      await turn()
    }
  }
  // Clears earlier steps in which only some decisions were counted, which would mislead.
  points.fill(nothing, 0, Math.ceil((countedFrom - from) / step))
  return { countedFrom: Math.min(countedFrom, to), points }
}
