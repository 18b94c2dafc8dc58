/** Notes what of a model's calls of tools is read as one: a payload may be cut over the arguments of one call. */
import { type Collector, lastSegment } from './walk.js'

/**
 * Joins the arguments of one call behind its name, which between two of them would separate them. This is for arguments
 * that are an object; a text of JSON is judged as a whole anyway.
 * @param named the index of the name
 * @param given indexes of the arguments' texts
 */
export function joinCall(out: Collector, named: readonly number[], given: readonly number[]): void {
  if (given.length > 0) out.join(named.concat(given))
}

/**
 * The same for a call that was just read.
 * @param from its first part
 * @param pointer of the object that holds the name and the arguments
 * @param field with the arguments
 */
export function joinCallRead(out: Collector, from: number, pointer: string, field: string): void {
  const name = `${pointer}/name`
  const given = `${pointer}/${field}`
  const named = out.since(from, (part) => part.pointer === name)
  joinCall(
    out,
    named,
    out.since(from, (part) => part.pointer === given || part.pointer.startsWith(`${given}/`))
  )
}

/** Fields that only name a call. */
const labels = new Set(['id', 'name', 'type', 'index'])

/**
 * Joins what several calls of one answer are given, in their order.
 * @param from the first part of the calls
 */
export function joinCalls(out: Collector, from: number): void {
  out.join(out.since(from, (part) => !labels.has(lastSegment(part.pointer))))
}
