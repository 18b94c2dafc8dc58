import { Badge, Group, Progress, Text } from '@mantine/core'
import { categoryColors, decisionColors, statusColors } from '../theme'
import type { Category, Decision, Detection, KeyRecord, Review, ReviewStatus } from '../types'

export function DecisionBadge({ decision, size = 'md' }: { decision: Decision; size?: 'sm' | 'md' | 'lg' }) {
  return (
    <Badge color={decisionColors[decision]} variant="light" size={size} className="readable">
      {decision}
    </Badge>
  )
}

export function StatusBadge({ status }: { status: ReviewStatus | KeyRecord['status'] }) {
  return (
    <Badge color={statusColors[status]} variant="light" className="readable">
      {status}
    </Badge>
  )
}

export function categoryName(category: string): string {
  return category.replaceAll('_', ' ')
}

export function CategoryBadge({ category }: { category: Category }) {
  return (
    <Badge color={categoryColors[category]} variant="light" size="sm" className="readable">
      {categoryName(category)}
    </Badge>
  )
}

/** A confidence below which a finding is no detection: weak readings of harmless words fall there. */
export const hintFloor = 0.25

/** Whether a finding is worth showing: strong enough, or one that bears on the decision. */
export function isDetection({ confidence, rule }: Detection, bearing: readonly string[] = []): boolean {
  return confidence >= hintFloor || bearing.includes(rule)
}

/** The subjects of a review: the categories of the rules that bear on it. Weak hints would give it misleading names. */
export function subjectsOf({ detections, matched_rules, categories }: Review): Category[] {
  const bearing = detections.filter(({ rule }) => matched_rules.includes(rule)).map(({ category }) => category)
  if (bearing.length > 0) return [...new Set(bearing)]
  const seen = new Set(detections.filter((one) => isDetection(one)).map(({ category }) => category))
  return categories.filter((category) => seen.has(category))
}

/** A risk of 0..1 as a bar and a number. */
export function Risk({ score, width = 72 }: { score: number; width?: number }) {
  const color = score >= 0.75 ? 'red' : score >= 0.4 ? 'yellow' : 'teal'
  return (
    <Group gap={8} wrap="nowrap">
      <Progress value={score * 100} color={color} w={width} aria-label={`Risk ${score.toFixed(2)}`} />
      <Text span size="sm" ff="monospace">
        {score.toFixed(2)}
      </Text>
    </Group>
  )
}
