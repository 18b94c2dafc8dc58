/** Small helpers that detectors share. */
import type { Finding } from './detector.js'

/** Adds its findings in `text`, which begins at `offset` of the whole text. */
export type Find = (text: string, offset: number, found: Finding[]) => void

/** The text just before `at`, in lower case, which may have a word that names a number. */
export function before(text: string, at: number, reach: number): string {
  return text.slice(Math.max(0, at - reach), at).toLowerCase()
}

/** Keeps, of overlapping findings, the one of higher confidence, or the longer; sorted by start. */
export function withoutOverlaps(findings: Finding[]): Finding[] {
  if (findings.length < 2) return findings
  const sorted = [...findings].sort((a, b) => a.start - b.start || b.end - a.end)
  const kept: Finding[] = []
  for (const finding of sorted) {
    const last = kept[kept.length - 1]
    if (last === undefined || finding.start >= last.end) kept.push(finding)
    else if (finding.confidence > last.confidence) kept[kept.length - 1] = finding
  }
  return kept
}
