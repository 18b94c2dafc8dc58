/** The content of a review: the texts of the canonical request one by one, each with its findings. */
import { Badge, Code, Divider, Group, Stack, Text } from '@mantine/core'
import type { Detection, ReviewDetail } from '../types'
import { DefinitionReview, definitionOf } from './definition-review'
import { MarkedText } from './marked-text'

interface Part {
  /** RFC 6901; empty for the one text of an evaluate call. */
  pointer: string
  who: string | undefined
  text: string
}

/** Fields that say how to answer a request and hold no words of anybody. */
const isSetting =
  /^\/(?:model|stream|session_id|user|id|object|previous_response_id|system_fingerprint|service_tier)$|\/(?:role|type|finish_reason)$/

export function partsOf({ text, detections }: Pick<ReviewDetail, 'text' | 'detections'>): Part[] {
  if (text === null) return []
  const body = readJson(text)
  if (body === undefined || typeof body === 'string') return [{ pointer: '', who: undefined, text: body ?? text }]
  const pointed = new Set(detections.flatMap(({ pointer }) => pointer ?? []))
  const parts = isParts(body)
    ? body.map(({ role, pointer, text }) => ({ pointer, who: role, text }))
    : leaves(body, '', undefined)
  return parts.filter(({ pointer }) => pointed.has(pointer) || !isSetting.test(pointer))
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An answer that was streamed is kept as its texts with their places. */
function isParts(body: unknown): body is { role: string; pointer: string; text: string }[] {
  return Array.isArray(body) && body.every((part) => typeof part?.pointer === 'string' && typeof part.text === 'string')
}

/** Every string of a body with the role of the nearest object that names one. */
function leaves(value: unknown, pointer: string, who: string | undefined): Part[] {
  if (typeof value === 'string') return [{ pointer, who, text: value }]
  if (typeof value !== 'object' || value === null) return []
  const role = (value as { role?: unknown }).role
  const speaker = typeof role === 'string' ? role : who
  return Object.entries(value).flatMap(([name, member]) =>
    leaves(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, speaker)
  )
}

export function RequestText({ review }: { review: ReviewDetail }) {
  if (review.text === null) {
    return (
      <Text c="dimmed" size="sm">
        The text was deleted{review.purged_at === null ? '' : ' after its retention time'}; the decision is kept.
      </Text>
    )
  }
  const definition = definitionOf(review)
  if (definition !== undefined) return <DefinitionReview review={review} definition={definition} />
  const parts = partsOf(review)
  const ofPart = ({ pointer }: Part): Detection[] =>
    review.detections.filter(
      (detection) =>
        (detection.pointer ?? '/input_text') === pointer || (pointer === '' && detection.pointer === undefined)
    )
  return (
    <Stack gap="md">
      {parts.map((part) => (
        <div key={part.pointer}>
          <Group gap={8} mb={4}>
            {part.who !== undefined && (
              <Badge variant="default" size="sm" tt="none">
                {part.who}
              </Badge>
            )}
            <Code fz={11}>{part.pointer === '' ? 'text' : part.pointer}</Code>
          </Group>
          <MarkedText text={part.text} detections={ofPart(part)} bearing={review.matched_rules} />
        </div>
      ))}
      {review.context !== null && Object.keys(review.context).length > 0 && (
        <div>
          <Divider label="Context" labelPosition="left" mb={6} />
          <Code block fz={12}>
            {JSON.stringify(review.context, null, 2)}
          </Code>
        </div>
      )}
    </Stack>
  )
}
