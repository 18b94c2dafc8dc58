/** One review: its text, the matches of each rule, who has claimed it, and the decision. */
import { Badge, Button, Card, Group, Kbd, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../api'
import type { ReviewDetail } from '../types'
import { CategoryBadge, categoryName, isDetection, Risk, StatusBadge, subjectsOf } from './badges'
import { useNames } from './names'
import { tell, tellError } from './notify'
import { RequestText } from './request-text'
import { Earlier, Outcome, Seen, SessionTurns } from './review-evidence'
import { Ago } from './time'
import { Loaded, Section } from './view'

/** Where the note is written, for the shortcuts of the page. */
export const noteId = 'review-note'

type Verdict = 'permit' | 'forbid'

interface ReviewPanelProps {
  id: string
  asked: Verdict | undefined
  ask(verdict: Verdict | undefined): void
  onDecided(): void
}

export function ReviewPanel({ id, asked, ask, onDecided }: ReviewPanelProps) {
  const review = useQuery({ queryKey: ['reviews', 'one', id], queryFn: () => api.review(id), refetchInterval: 10_000 })
  return (
    <Loaded query={review}>
      {(data) => (
        <Stack gap="md">
          <Card withBorder padding="lg" component="article" aria-label="The review">
            <Head review={data} />
            <SessionTurns review={data} />
            <RequestText review={data} />
          </Card>
          {data.status === 'pending' ? (
            <Decide review={data} asked={asked} ask={ask} onDecided={onDecided} />
          ) : (
            <Outcome review={data} />
          )}
          <Seen review={data} />
          <Earlier review={data} />
        </Stack>
      )}
    </Loaded>
  )
}

function Head({ review }: { review: ReviewDetail }) {
  const subjects = subjectsOf(review)
  const nameOf = useNames()
  const seen = new Set(review.detections.filter((one) => isDetection(one)).map(({ category }) => category))
  const hints = review.categories.filter((category) => !subjects.includes(category) && seen.has(category))
  const client = useQueryClient()
  const work = useMutation({
    mutationFn: () => (review.claimed_by === null ? api.claim(review.review_id) : api.release(review.review_id)),
    onError: tellError,
    onSettled: () => client.invalidateQueries({ queryKey: ['reviews'] })
  })
  return (
    <Group justify="space-between" mb="md" align="flex-start" wrap="wrap">
      <Stack gap={6} flex="1 1 240px">
        <Group gap={6}>
          <StatusBadge status={review.status} />
          {subjects.map((category) => (
            <CategoryBadge key={category} category={category} />
          ))}
          {hints.length > 0 && (
            <Text size="xs" c="dimmed">
              hints of {hints.map(categoryName).join(', ')}
            </Text>
          )}
          {review.approved_by !== null && review.status === 'pending' && (
            <Badge variant="default" tt="none">
              permitted once, by {nameOf(review.approved_by)}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {nameOf(review.key_id)} · {review.route} · {review.policy} · opened <Ago at={review.created_at} />
          {review.status === 'pending' && (
            <>
              {' '}
              · expires <Ago at={review.expires_at} />
            </>
          )}
        </Text>
      </Stack>
      <Group gap="sm">
        <Risk score={review.risk_score} />
        {review.status === 'pending' && (
          <Button size="xs" variant="default" loading={work.isPending} onClick={() => work.mutate()}>
            {review.claimed_by === null ? 'Claim' : 'Give back'}
          </Button>
        )}
      </Group>
    </Group>
  )
}

function Decide({ review, asked, ask, onDecided }: Omit<ReviewPanelProps, 'id'> & { review: ReviewDetail }) {
  const nameOf = useNames()
  const [note, setNote] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const decide = useMutation({
    mutationFn: (decision: Verdict) =>
      api.adjudicate({ review_id: review.review_id, decision, ...(note.trim() !== '' && { note: note.trim() }) }),
    onError: tellError,
    onSuccess: ({ status }) => {
      tell(status === 'pending' ? 'Permitted once: it needs a second person.' : `The request is ${status}.`)
      setNote('')
      leave()
      onDecided()
    }
  })
  useEffect(() => {
    if (asked !== undefined) field.current?.focus()
  }, [asked])
  /** Moves the focus from the note to the page, where single keys work again. */
  const leave = () => document.getElementById('main')?.focus({ preventScroll: true })
  const verb = asked === 'forbid' ? 'Forbid' : 'Permit'
  return (
    <Section title="Your decision">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (asked !== undefined) decide.mutate(asked)
        }}
      >
        <Stack gap="sm">
          {review.claimed_by !== null && (
            <Text size="sm" c="dimmed">
              Claimed by {nameOf(review.claimed_by)}
              {review.claimed_until !== null && (
                <>
                  , until <Ago at={review.claimed_until} />
                </>
              )}
              .
            </Text>
          )}
          <Textarea
            ref={field}
            label="Note"
            id={noteId}
            description={
              asked === undefined
                ? 'Stored with the decision, encrypted.'
                : 'Stored with the decision, encrypted. Enter decides, Shift-Enter starts a new line.'
            }
            autosize
            minRows={1}
            maxRows={6}
            maxLength={2000}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.shiftKey && asked !== undefined && !event.nativeEvent.isComposing) {
                event.preventDefault()
                decide.mutate(asked)
              }
              if (event.key === 'Escape') {
                ask(undefined)
                leave()
              }
            }}
          />
          <Group gap="sm">
            {asked === undefined ? (
              <>
                <Button color="teal.9" onClick={() => ask('permit')} rightSection={<Hint>p</Hint>}>
                  Permit
                </Button>
                <Button color="red.8" onClick={() => ask('forbid')} rightSection={<Hint>f</Hint>}>
                  Forbid
                </Button>
              </>
            ) : (
              <>
                {/* In the place of the button that asked, so that a double click decides nothing. */}
                <Button variant="default" onClick={() => ask(undefined)}>
                  Back
                </Button>
                <Button
                  type="submit"
                  color={asked === 'forbid' ? 'red.8' : 'teal.9'}
                  loading={decide.isPending}
                  rightSection={<Hint>Enter</Hint>}
                >
                  Confirm: {verb.toLowerCase()}
                </Button>
              </>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            {review.surface === 'chat' || review.surface === 'mcp_call'
              ? 'If permitted, the same request of the same client passes once, judged again by the policy then in force.'
              : review.surface === 'evaluate'
                ? 'The decision is recorded; it does not change later evaluations of the text.'
                : review.surface === 'mcp_definition'
                  ? 'If permitted, this definition is pinned, listed and may be called; until then it is withheld.'
                  : 'The decision is recorded with the answer, which the client did not receive.'}
          </Text>
        </Stack>
      </form>
    </Section>
  )
}

function Hint({ children }: { children: string }) {
  return (
    <Kbd size="xs" aria-hidden visibleFrom="sm">
      {children}
    </Kbd>
  )
}
