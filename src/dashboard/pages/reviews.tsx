/** The queue of what people must decide: oldest first, read and decided without leaving the keyboard. */
import { Button, Card, Grid, Group, ScrollArea, Select, Stack } from '@mantine/core'
import { useHotkeys, useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { IconChecks, IconGavel } from '@tabler/icons-react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../api'
import { BulkDecision } from '../components/bulk-decision'
import { useNames } from '../components/names'
import { QueueItem } from '../components/queue-item'
import { noteId, ReviewPanel } from '../components/review-panel'
import { Shortcuts } from '../components/shortcuts'
import { Empty, Failure, PageHeader, Waiting } from '../components/view'
import { goTo, usePlace } from '../router'
import { categories, type Review } from '../types'

/** Whether a key would be typed there, or is meant for a dialog over the page. */
function isWritten(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"]') !== null) return true
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable || target.matches('textarea, select, input:not([type="checkbox"]):not([type="radio"])')
  )
}

export function Reviews() {
  const client = useQueryClient()
  const nameOf = useNames()
  const { query } = usePlace()
  const id = query.get('id') ?? undefined
  const [status, setStatus] = useState<string>('pending')
  const [category, setCategory] = useState<string | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  // Belongs to one review: the next one opens without a question.
  const [asking, setAsking] = useState<{ id: string; verdict: 'permit' | 'forbid' }>()
  const [shortcuts, setShortcuts] = useLocalStorage({ key: 'sluicegate-shortcuts', defaultValue: true })
  const isNarrow = useMediaQuery('(max-width: 62em)')
  const isPending = status === 'pending'
  const asked = asking?.id === id ? asking?.verdict : undefined
  const setAsked = (verdict: 'permit' | 'forbid' | undefined) =>
    setAsking(verdict === undefined || id === undefined ? undefined : { id, verdict })

  const queue = useInfiniteQuery({
    queryKey: ['reviews', 'list', status, category],
    queryFn: ({ pageParam }) =>
      api.reviews({
        status: status === 'all' ? undefined : status,
        category: category ?? undefined,
        order: isPending ? 'oldest' : 'newest',
        limit: 50,
        cursor: pageParam
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: 5_000
  })
  const reviews = queue.data?.pages.flatMap((page) => page.reviews) ?? []
  const index = reviews.findIndex(({ review_id }) => review_id === id)
  const open = (review: Review | undefined) => review !== undefined && goTo('reviews', { id: review.review_id })

  // With room for both, the first is open at once.
  const first = reviews[0]?.review_id
  useEffect(() => {
    if (isNarrow === false && id === undefined && first !== undefined)
      history.replaceState(null, '', `#/reviews?id=${first}`)
    if (isNarrow === false && id === undefined && first !== undefined)
      window.dispatchEvent(new HashChangeEvent('hashchange'))
  }, [isNarrow, id, first])

  const toggle = (review: string) =>
    setChosen((old) => {
      const next = new Set(old)
      if (!next.delete(review)) next.add(review)
      return next
    })
  const moveTo = (step: number) => open(reviews[Math.max(0, Math.min(reviews.length - 1, index + step))])
  const ask = (verdict: 'permit' | 'forbid') => {
    setAsked(verdict)
    // Asked once more from elsewhere on the page, the note has the focus again.
    document.getElementById(noteId)?.focus()
  }
  const keys: [string, () => void][] = [
    ['j', () => moveTo(1)],
    ['k', () => moveTo(-1)],
    ['x', () => id !== undefined && toggle(id)],
    ['p', () => ask('permit')],
    ['f', () => ask('forbid')]
  ]
  // A box that was just ticked has the focus and takes no letters: only fields that do keep them.
  useHotkeys(
    keys.map(([key, action]) => [
      key,
      (event) => {
        if (!shortcuts || isWritten(event.target)) return
        event.preventDefault()
        action()
      },
      { preventDefault: false }
    ]),
    []
  )

  function decided(): void {
    setAsked(undefined)
    const next = reviews[index + 1] ?? reviews[index - 1]
    client.invalidateQueries({ queryKey: ['reviews'] })
    if (!isPending) return
    if (next !== undefined && isNarrow === false) open(next)
    else goTo('reviews')
  }

  const showList = !isNarrow || id === undefined
  return (
    <>
      <PageHeader
        title="Reviews"
        about="Texts that the policy hands to a person wait here. Without a decision they expire and are refused."
      >
        <Shortcuts on={shortcuts} set={setShortcuts} />
      </PageHeader>
      <Grid gutter="md">
        {showList && (
          <Grid.Col span={{ base: 12, md: 5, lg: 4 }}>
            <Card withBorder padding={0}>
              <Group p="sm" gap="xs" grow>
                <Select
                  aria-label="Status"
                  data={['pending', 'permitted', 'forbidden', 'expired', 'all']}
                  value={status}
                  allowDeselect={false}
                  onChange={(value) => value !== null && setStatus(value)}
                />
                <Select
                  aria-label="Category"
                  placeholder="Category"
                  clearable
                  clearButtonProps={{ 'aria-label': 'Any category' }}
                  data={categories.map((name) => ({ value: name, label: name.replaceAll('_', ' ') }))}
                  value={category}
                  onChange={setCategory}
                />
              </Group>
              <BulkDecision
                chosen={reviews.filter(({ review_id, status: now }) => chosen.has(review_id) && now === 'pending')}
                clear={() => setChosen(new Set())}
              />
              {queue.isError ? (
                <Failure error={queue.error} retry={() => queue.refetch()} />
              ) : queue.isPending ? (
                <Waiting rows={6} />
              ) : reviews.length === 0 ? (
                <Empty title={isPending ? 'Nothing waits' : 'None'} Icon={isPending ? IconChecks : IconGavel}>
                  {isPending ? (
                    <>
                      Texts that a constitution <b>diverts</b> appear here, and wait until a person decides or they
                      expire. To see one, send “I do not want to live any more” with one of your keys.
                    </>
                  ) : (
                    'No review has this status and category.'
                  )}
                </Empty>
              ) : (
                <ScrollArea.Autosize mah={{ base: 'none', md: 'calc(100vh - 260px)' }}>
                  <Stack gap={0} component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Queue">
                    {reviews.map((review) => (
                      <QueueItem
                        key={review.review_id}
                        review={review}
                        client={nameOf(review.key_id)}
                        isCurrent={review.review_id === id}
                        isChosen={chosen.has(review.review_id)}
                        choose={() => toggle(review.review_id)}
                        open={() => open(review)}
                      />
                    ))}
                  </Stack>
                  {queue.hasNextPage && (
                    <Button
                      variant="subtle"
                      fullWidth
                      onClick={() => queue.fetchNextPage()}
                      loading={queue.isFetchingNextPage}
                    >
                      Show more
                    </Button>
                  )}
                </ScrollArea.Autosize>
              )}
            </Card>
          </Grid.Col>
        )}
        {id !== undefined && (
          <Grid.Col span={{ base: 12, md: 7, lg: 8 }}>
            {isNarrow && (
              <Button variant="subtle" size="compact-sm" mb="xs" onClick={() => goTo('reviews')}>
                Back to the queue
              </Button>
            )}
            <ReviewPanel key={id} id={id} asked={asked} ask={setAsked} onDecided={decided} />
          </Grid.Col>
        )}
      </Grid>
    </>
  )
}
