import { Badge, Checkbox, Group, Text, UnstyledButton } from '@mantine/core'
import type { Review } from '../types'
import { CategoryBadge, categoryName, Risk, StatusBadge, subjectsOf } from './badges'
import { Ago } from './time'

interface QueueItemProps {
  review: Review
  isCurrent: boolean
  isChosen: boolean
  choose(): void
  open(): void
}

export function QueueItem({ review, isCurrent, isChosen, choose, open }: QueueItemProps) {
  const subjects = subjectsOf(review)
  const name = `${review.surface} review of ${subjects.map(categoryName).join(', ') || 'no category'}`
  return (
    <Group component="li" className="queue-item" gap={0} wrap="nowrap" align="stretch">
      {review.status === 'pending' && (
        <Checkbox aria-label={`Choose the ${name}`} pl="sm" pt={16} size="xs" checked={isChosen} onChange={choose} />
      )}
      <UnstyledButton aria-current={isCurrent || undefined} onClick={open}>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Group gap={4}>
            {subjects.slice(0, 3).map((category) => (
              <CategoryBadge key={category} category={category} />
            ))}
          </Group>
          <Risk score={review.risk_score} width={40} />
        </Group>
        <Group gap={8} mt={6}>
          {review.status !== 'pending' && <StatusBadge status={review.status} />}
          {review.claimed_by !== null && (
            <Badge size="sm" variant="default" tt="none">
              claimed
            </Badge>
          )}
          {review.approved_by !== null && review.status === 'pending' && (
            <Badge size="sm" variant="default" tt="none">
              1 of 2 permits
            </Badge>
          )}
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {review.surface} · <Ago at={review.created_at} /> · {review.matched_rules.join(', ')}
          </Text>
        </Group>
      </UnstyledButton>
    </Group>
  )
}
