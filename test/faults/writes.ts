/** Writers that remember what was acknowledged to them, and what of it a store must hold afterwards. */
import { setTimeout } from 'node:timers/promises'
import type { KeyRow } from '../../src/storage/contracts/index.js'
import { openStorage } from '../../src/storage/open.js'
import { call } from '../support/gateway.js'

export interface Acknowledged {
  created: string[]
  revoked: string[]
  rotated: { from: string; to: string }[]
  /** Reviews with the decision that was acknowledged. */
  decided: { id: string; decision: 'permit' | 'forbid' }[]
  /** Answers by status. */
  statuses: Map<number, number>
}

export const nothingYet = (): Acknowledged => ({
  created: [],
  revoked: [],
  rotated: [],
  decided: [],
  statuses: new Map()
})

export const writesOf = ({ created, revoked, rotated, decided }: Acknowledged) =>
  created.length + revoked.length + rotated.length + decided.length

/** Creates, rotates, revokes and decides until told to stop, or until the server is gone where `untilGone`. */
export async function write(
  url: string,
  key: string,
  acknowledged: Acknowledged,
  isOver: () => boolean,
  untilGone = false
): Promise<void> {
  const path = '/api/v1/ssaas/keys'
  const ask = async (...given: Parameters<typeof call> extends [string, ...infer Rest] ? Rest : never) => {
    try {
      const answer = await call(url, ...given)
      acknowledged.statuses.set(answer.status, (acknowledged.statuses.get(answer.status) ?? 0) + 1)
      return answer
    } catch (error) {
      if (untilGone) throw error
      await setTimeout(20)
      return undefined
    }
  }
  for (let i = 0; !isOver(); i++) {
    const made = await ask(path, { key, body: { name: 'x', accept_terms: true } })
    if (made?.status !== 201) {
      await setTimeout(10)
      continue
    }
    const id: string = made.body.record.key_id
    acknowledged.created.push(id)
    if (i % 3 === 0) {
      const rotated = await ask(`${path}/${id}/rotate`, { key, method: 'POST' })
      if (rotated?.status === 201) acknowledged.rotated.push({ from: id, to: rotated.body.record.key_id })
    } else if (i % 3 === 1) {
      const revoked = await ask(`${path}/${id}`, { key, method: 'DELETE' })
      if (revoked?.status === 200) acknowledged.revoked.push(id)
    } else {
      const text = { input_text: `Slay it ${id}`, context: { topic: 'unclear' } }
      const reviewId = (await ask('/api/v1/safety/evaluate', { key, body: text }))?.body.evaluation?.review_id
      const decision = i % 2 ? 'permit' : 'forbid'
      const body = { review_id: reviewId, decision }
      const decided = reviewId && (await ask('/api/v1/pdp/adjudicate', { key, body }))
      if (decided?.status === 200) acknowledged.decided.push({ id: reviewId, decision })
    }
  }
}

/** What of it a store lacks, and rotations of which only one side is there. */
export async function lostIn(url: string, acknowledged: Acknowledged): Promise<{ lost: number; half: number }> {
  const storage = await openStorage({ url })
  try {
    const rows = new Map((await storage.keys.list('default', {})).map((row) => [row.keyId, row]))
    let lost =
      acknowledged.created.filter((id) => !rows.has(id)).length +
      acknowledged.revoked.filter((id) => rows.get(id)?.revokedAt == null).length +
      acknowledged.rotated.filter(({ from, to }) => rows.get(from)?.rotatedTo !== to || !rows.has(to)).length
    for (const { id, decision } of acknowledged.decided) {
      const state = (await storage.reviews.get('default', id))?.state
      if (state !== (decision === 'permit' ? 'permitted' : 'forbidden')) lost++
    }
    return { lost, half: halfOf(rows) }
  } finally {
    await storage.close()
  }
}

function halfOf(rows: ReadonlyMap<string, KeyRow>): number {
  return [...rows.values()].filter(
    (row) =>
      (row.rotatedTo === null) !== (row.graceEndsAt === null) || (row.rotatedTo !== null && !rows.has(row.rotatedTo))
  ).length
}
