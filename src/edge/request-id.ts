import { randomBytes } from 'node:crypto'

/** Ids that are unique over processes and cheap per request: a random part for the process, a counter within it. */
export function createRequestIds(): () => string {
  const origin = `req_${randomBytes(8).toString('hex')}`
  let count = 0
  return () => `${origin}${(count++).toString(36).padStart(6, '0')}`
}
