/** From which confidence on the findings of a detector can stop a text, by the rules that name it. */
import type { Detector, Floors } from '../../detectors/detector.js'
import type { Constitution } from '../constitution/parse.js'
import type { CompiledRule } from './compile.js'

/** Halvings of the range from 0 to 1: as fine as scores are shown. */
const steps = 14

export function floorsOf(
  { bands, categories }: Pick<Constitution, 'bands' | 'categories'>,
  { kinds }: Detector,
  rules: readonly CompiledRule[]
): Floors {
  const floors = new Map<string, number>()
  for (const kind of kinds) {
    const own = rules.filter(({ detector }) => detector?.kinds?.has(kind) ?? true)
    for (const category of new Set(own.map((rule) => rule.category))) {
      const { high, middle } = categories[category]
      if (high === 'permit' && middle === 'permit') continue
      const band = middle === 'permit' ? bands.high : bands.middle
      const least = leastConfidence(
        own.filter((rule) => rule.category === category),
        band
      )
      if (least !== undefined) floors.set(kind, Math.min(floors.get(kind) ?? 1, least))
    }
  }
  return floors
}

/** The least confidence at which a rule of one kind and category reaches a band: the strongest of them counts. */
function leastConfidence(rules: readonly CompiledRule[], band: number): number | undefined {
  const score = (confidence: number) =>
    Math.max(
      0,
      ...rules
        .filter(({ detector }) => detector!.minConfidence <= confidence)
        .map(({ weight, context }) => (context.forbid.length > 0 ? 1 : weight * confidence))
    )
  if (score(1) < band) return undefined
  let [low, high] = [0, 1]
  for (let step = 0; step < steps; step++) {
    const middle = (low + high) / 2
    if (score(middle) >= band) high = middle
    else low = middle
  }
  return low
}
