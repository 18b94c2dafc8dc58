/** What was said before a text: a payload that is split over turns, or what an answer answers, is seen by a person too. */
import { Badge, Divider, Stack, Text } from '@mantine/core'
import type { ReviewDetail } from '../types'
import { MarkedText } from './marked-text'

export function SessionTurns({ review: { history, surface } }: { review: ReviewDetail }) {
  if (history === null) return null
  const title = surface === 'answer' ? 'What it answers' : 'Earlier in this session'
  return (
    <Stack gap="xs" mb="md" component="section" aria-label={title}>
      <Divider label={title} labelPosition="left" />
      {history.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing: this is its first turn, or what was said before was refused or is forgotten.
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
      <Divider
        label={surface === 'answer' ? 'The answer that was diverted' : 'What was diverted'}
        labelPosition="left"
      />
    </Stack>
  )
}
