/**
 * The second reader as a constitution names it (`detector: encoder`). By itself it finds nothing: what it finds comes from
 * the readings of a call, which the evaluator asks for between two passes (`policy/evaluate/asking.ts`).
 */
import { encoderKinds } from '../encoder/index.js'
import type { Detector, Finding } from './detector.js'

export const encoderId = 'encoder'

const nothing: readonly Finding[] = []

export const encoder: Detector = {
  id: encoderId,
  kinds: encoderKinds,
  readsWords: true,
  // What is raised holds a text back; the encoder holds nothing by itself.
  growsFrom: (text) => text.length,
  find: () => nothing
}
