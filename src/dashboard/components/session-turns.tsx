/** What was said before a text in its session: a payload that is split over turns is seen whole by a person too. */
import { Divider, Stack, Text } from '@mantine/core'
import type { ReviewDetail } from '../types'
import { MarkedText } from './marked-text'

export function SessionTurns({ review: { history } }: { review: ReviewDetail }) {
  if (history === null) return null
  return (
    <Stack gap="xs" mb="md" component="section" aria-label="Earlier in this session">
      <Divider label="Earlier in this session" labelPosition="left" />
      {history.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing: this is its first turn, or what was said before was refused or is forgotten.
        </Text>
      ) : (
        <ol className="turns">
          {history.map((turn, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a stored list never changes
            <li key={i}>
              <MarkedText text={turn} detections={[]} />
            </li>
          ))}
        </ol>
      )}
      <Divider label="What was diverted" labelPosition="left" />
    </Stack>
  )
}
