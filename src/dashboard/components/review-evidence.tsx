/** The sections of a review: earlier turns, the decision, the matches of each rule, other reviews of the same key. */
import { Anchor, Badge, Code, Divider, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api'
import { linkTo } from '../router'
import type { ReviewDetail } from '../types'
import { CategoryBadge, categoryName, isDetection, StatusBadge, subjectsOf } from './badges'
import { SortedTable } from './data-table'
import { MarkedText } from './marked-text'
import { useNames } from './names'
import { partsOf } from './request-text'
import { Ago } from './time'
import { Section } from './view'

export function Outcome({ review }: { review: ReviewDetail }) {
  const nameOf = useNames()
  return (
    <Section title="Decision">
      <Stack gap={6}>
        <Text size="sm">
          {review.status === 'expired'
            ? 'Refused: nobody decided in time.'
            : `${review.status === 'permitted' ? 'Permitted' : 'Forbidden'} by ${review.decided_by === null ? 'nobody' : nameOf(review.decided_by)}`}{' '}
          {review.decided_at !== null && <Ago at={review.decided_at} />}
          {review.used_at !== null && (
            <>
              ; its request passed <Ago at={review.used_at} />
            </>
          )}
        </Text>
        {[review.approval_note, review.note].map(
          (note) =>
            note !== null && (
              <Text key={note} size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                “{note}”
              </Text>
            )
        )}
      </Stack>
    </Section>
  )
}

/** The matches of each rule, with the words that matched. */
export function Seen({ review }: { review: ReviewDetail }) {
  const parts = new Map(partsOf(review).map(({ pointer, text }) => [pointer, text]))
  const wordsOf = (detection: ReviewDetail['detections'][number]) =>
    (parts.get(detection.pointer ?? '/input_text') ?? parts.get('') ?? '').slice(
      detection.span.start,
      Math.min(detection.span.end, detection.span.start + 80)
    )
  const bears = ({ rule }: ReviewDetail['detections'][number]) => review.matched_rules.includes(rule)
  const shown = review.detections.filter((detection) => isDetection(detection, review.matched_rules))
  const ordered = [...shown].sort((a, b) => Number(bears(b)) - Number(bears(a)) || b.confidence - a.confidence)
  return (
    <Section
      title="Matches by rule"
      aside={
        <Text size="xs" c="dimmed">
          bold: rules that caused the review
        </Text>
      }
    >
      <SortedTable
        label="Matches by rule"
        columns={['Rule', 'Confidence', 'Reading', 'Words']}
        minWidth={480}
        rows={ordered}
        worths={{
          Rule: ({ rule }) => rule,
          Confidence: ({ confidence }) => confidence,
          Reading: ({ layer }) => layer
        }}
      >
        {(detection, i) => (
          <Table.Tr key={i}>
            <Table.Td>
              <Stack gap={4} align="flex-start">
                <Text size="sm" fw={bears(detection) ? 600 : 400}>
                  {detection.rule}
                </Text>
                <CategoryBadge category={detection.category} />
              </Stack>
            </Table.Td>
            <Table.Td>{detection.confidence.toFixed(2)}</Table.Td>
            <Table.Td>{detection.layer}</Table.Td>
            <Table.Td>
              <Code style={{ overflowWrap: 'anywhere' }}>{wordsOf(detection)}</Code>
            </Table.Td>
          </Table.Tr>
        )}
      </SortedTable>
    </Section>
  )
}

/** Other reviews of the same key. */
export function Earlier({ review }: { review: ReviewDetail }) {
  const others = useQuery({
    queryKey: ['reviews', 'of', review.key_id],
    queryFn: () => api.reviews({ key_id: review.key_id, limit: 6 })
  })
  const rest = others.data?.reviews.filter(({ review_id }) => review_id !== review.review_id).slice(0, 5) ?? []
  if (rest.length === 0) return null
  return (
    <Section title="From the same key">
      <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {rest.map((other) => (
          <Group key={other.review_id} component="li" gap="sm">
            <StatusBadge status={other.status} />
            <Anchor size="sm" href={linkTo('reviews', { id: other.review_id })}>
              {other.surface} · {subjectsOf(other).map(categoryName).join(', ')}
            </Anchor>
            <Text size="xs" c="dimmed">
              <Ago at={other.created_at} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}

/**
 * The turns before a text, so that a person also sees a payload split over turns, or the request that an answer
 * answers.
 */
export function SessionTurns({ review: { history, surface } }: { review: ReviewDetail }) {
  if (history === null) return null
  const title = surface === 'answer' ? 'The request that it answers' : 'Earlier in this session'
  return (
    <Stack gap="xs" mb="md" component="section" aria-label={title}>
      <Divider label={title} labelPosition="left" />
      {history.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing: this is the first turn, or earlier turns were refused or are no longer remembered.
        </Text>
      ) : (
        <ol className="turns">
          {history.map(({ role, text }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a stored list never changes
            <li key={i}>
              <Badge variant="default" size="sm" tt="none" mb={4}>
                {role}
              </Badge>
              <MarkedText text={text} detections={[]} />
            </li>
          ))}
        </ol>
      )}
      <Divider label={surface === 'answer' ? 'The diverted answer' : 'The diverted text'} labelPosition="left" />
    </Stack>
  )
}
