/** What the cross-validation found, for people: by lane, and in each by source. */
import { lanes, WIDTH } from '../../src/classifier/lanes.js'
import { sigmoid } from '../../src/classifier/sigmoid.js'
import { noScore } from '../../src/classifier/windows.js'
import type { Calibration } from './calibrate.js'
import type { Dataset } from './dataset.js'
import type { HeldOut } from './folds.js'
import { ranking, shareAbove, threshold } from './metrics.js'

export interface SourceMetrics {
  source: string
  positives: number
  negatives: number
  /** Against the source's own negatives, or, where it has hardly any, against harmless prompts. */
  auroc: number
  auprc: number
  against: 'own' | 'prompts'
  /** At the score that 1 % of harmless prompts exceed. */
  recall: number
  falsePositives: number
}

/** `thresholds`: the scores that 1 %, 0.5 %, 0.2 % and 0.1 % of harmless prompts exceed. */
export type Report = Record<string, { thresholds: number[]; sources: SourceMetrics[] }>

/** Shares of harmless prompts for which the scores that they exceed are reported. */
export const reported = [0.01, 0.005, 0.002, 0.001]

const fewest = 5

export function reportOf(data: Dataset, { rows, scores }: HeldOut): Report {
  const benign = rows.filter((row) => data.rows[row]!.kind === 'prompt' && data.rows[row]!.unsafe === 0)
  const report: Report = {}
  for (const [lane, name] of lanes.entries()) {
    const scoreOf = (row: number) => scores[row * WIDTH + lane]!
    const harmless = benign.map(scoreOf)
    const thresholds = reported.map((share) => threshold(harmless, share))
    const limit = thresholds[0]!
    const bySource = new Map<string, { positive: number[]; negative: number[] }>()
    for (const row of rows) {
      const target = data.value[row * WIDTH + lane]!
      if (target < 0) continue
      const { source } = data.rows[row]!
      if (!bySource.has(source)) bySource.set(source, { positive: [], negative: [] })
      bySource.get(source)![target === 1 ? 'positive' : 'negative'].push(scoreOf(row))
    }
    const sources = [...bySource].flatMap(([source, { positive, negative }]): SourceMetrics[] => {
      if (positive.length < fewest) {
        if (negative.length < fewest) return []
        const falsePositives = shareAbove(negative, limit)
        const nothing = { auroc: 0, auprc: 0, recall: 0, against: 'own' as const }
        return [{ source, positives: 0, negatives: negative.length, ...nothing, falsePositives }]
      }
      const own = negative.length >= fewest
      return [
        {
          source,
          positives: positive.length,
          negatives: negative.length,
          ...ranking(positive, own ? negative : harmless),
          against: own ? 'own' : 'prompts',
          recall: shareAbove(positive, limit),
          falsePositives: shareAbove(negative, limit)
        }
      ]
    })
    report[name] = { thresholds, sources: sources.sort((a, b) => (a.source < b.source ? -1 : 1)) }
  }
  return report
}

/** Shares of what the encoder would stop. */
const keptShares = [0.9, 0.95, 0.98, 0.99]

export interface ScreenPoint {
  lane: string
  /** The share that is raised of what the encoder would stop, in texts that the screen never saw. */
  kept: number
  /** The confidence from which on that much is raised. */
  from: number
  /** The share of harmless texts that is raised with it, by kind. */
  raised: Record<string, number>
}

/** What it costs to raise nearly all that the encoder would stop: texts of which it knows too few words for a score left out. */
export function screenCurve(data: Dataset, { rows, scores }: HeldOut, { slope, offset }: Calibration): ScreenPoint[] {
  const points: ScreenPoint[] = []
  for (const name of ['screen', 'screen_tool'] as const) {
    const lane = lanes.indexOf(name)
    const confidence = (row: number) => sigmoid(slope[lane]! * scores[row * WIDTH + lane]! + offset[lane]!)
    const stopped: number[] = []
    const cleared = new Map<string, number[]>()
    for (const row of rows) {
      const target = data.value[row * WIDTH + lane]!
      if (target < 0 || scores[row * WIDTH + lane]! <= noScore) continue
      if (target === 1) stopped.push(confidence(row))
      else {
        const { kind } = data.rows[row]!
        if (!cleared.has(kind)) cleared.set(kind, [])
        cleared.get(kind)!.push(confidence(row))
      }
    }
    if (stopped.length === 0) continue
    for (const kept of keptShares) {
      const from = threshold(stopped, kept)
      const raised = Object.fromEntries([...cleared].map(([kind, list]) => [kind, shareAbove(list, from)]))
      points.push({ lane: name, kept, from, raised })
    }
  }
  return points
}

export function printReport(report: Report, print: (line: string) => void): void {
  print(
    'lane / source left out           pos    neg  AUROC  AUPRC  recall at 1 % of harmless prompts, own negatives above it'
  )
  for (const [lane, { sources }] of Object.entries(report)) {
    print(lane)
    for (const row of sources) {
      if (row.positives === 0) continue
      const numbers = [row.auroc, row.auprc, row.recall, row.falsePositives].map((share) => share.toFixed(3)).join('  ')
      const counts = `${String(row.positives).padStart(6)} ${String(row.negatives).padStart(6)}`
      print(
        `  ${row.source.padEnd(28)}${counts}  ${numbers}${row.against === 'prompts' ? ' (against harmless prompts)' : ''}`
      )
    }
    const wrong = sources.filter(({ positives, falsePositives }) => positives === 0 && falsePositives > 0.02)
    const list = wrong.map(({ source, falsePositives }) => `${source} ${(falsePositives * 100).toFixed(1)} %`)
    if (list.length > 0) print(`  harmless sources above it by more than 2 %: ${list.join(', ')}`)
  }
}
