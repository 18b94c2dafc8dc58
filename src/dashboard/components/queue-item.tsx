/** A review in the queue: its subjects, its words, the key that caused it, and how long it has waited. */
import { Badge, Checkbox, Group, Skeleton, Text, UnstyledButton } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import type { Review } from '../types'
import { CategoryBadge, categoryName, Risk, StatusBadge, subjectsOf } from './badges'
import { useExcerpt } from './excerpt'
import { Ago } from './time'

interface QueueItemProps {
  review: Review
  /** The name of the key that caused it, as far as it is known. */
  client: string
  isCurrent: boolean
  isChosen: boolean
  choose(): void
  open(): void
}

export function QueueItem({ review, client, isCurrent, isChosen, choose, open }: QueueItemProps) {
  const { ref, inViewport } = useInViewport<HTMLButtonElement>()
  const excerpt = useExcerpt(review, inViewport)
  const subjects = subjectsOf(review)
  const name = `${review.surface} review of ${subjects.map(categoryName).join(', ') || 'no category'}`
  return (
    <Group component="li" className="queue-item" gap={0} wrap="nowrap" align="stretch">
      {review.status === 'pending' && (
        <Checkbox aria-label={`Choose the ${name}`} pl="sm" pt={16} size="xs" checked={isChosen} onChange={choose} />
      )}
      <UnstyledButton ref={ref} aria-current={isCurrent || undefined} onClick={open}>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Group gap={4}>
            {subjects.slice(0, 2).map((category) => (
              <CategoryBadge key={category} category={category} />
            ))}
            {subjects.length > 2 && (
              <Text size="xs" c="dimmed">
                +{subjects.length - 2}
              </Text>
            )}
          </Group>
          <Risk score={review.risk_score} width={40} />
        </Group>
        {/* As tall while it is awaited as after, so that the rows below do not move. */}
        <Text size="sm" mt={6} className="two-lines" dir="auto">
          {excerpt === undefined ? (
            <Skeleton component="span" display="block" h={10} w="80%" mt={6} />
          ) : (
            (excerpt ?? <span className="quiet">The text was deleted.</span>)
          )}
        </Text>
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
            {client} · {review.surface} · <Ago at={review.created_at} />
          </Text>
        </Group>
      </UnstyledButton>
    </Group>
  )
}
