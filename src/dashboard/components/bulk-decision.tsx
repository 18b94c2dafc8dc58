/** One decision on many reviews, each adjudicated on its own: a decision that somebody else made meanwhile stands. */
import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import type { Review } from '../types'
import { messageOf, tell, tellError } from './notify'

export function BulkDecision({ chosen, clear }: { chosen: readonly Review[]; clear(): void }) {
  const client = useQueryClient()
  const [asked, setAsked] = useState<'permit' | 'forbid'>()
  const [note, setNote] = useState('')
  const decide = useMutation({
    mutationFn: async (decision: 'permit' | 'forbid') => {
      const outcomes: PromiseSettledResult<unknown>[] = []
      // One after the other: a hundred at once would be a burst on the store for no gain.
      for (const { review_id } of chosen) {
        outcomes.push(
          ...(await Promise.allSettled([api.adjudicate({ review_id, decision, ...(note !== '' && { note }) })]))
        )
      }
      return outcomes
    },
    onError: tellError,
    onSuccess: (outcomes, decision) => {
      const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
      if (failed.length < outcomes.length)
        tell(`${outcomes.length - failed.length} ${decision === 'permit' ? 'permitted' : 'forbidden'}.`)
      if (failed[0] !== undefined) tellError(new Error(`${failed.length} not decided: ${messageOf(failed[0].reason)}`))
      setNote('')
      setAsked(undefined)
      clear()
      client.invalidateQueries({ queryKey: ['reviews'] })
    }
  })
  if (chosen.length === 0) return null
  const verb = asked === 'forbid' ? 'Forbid' : 'Permit'
  return (
    <>
      <Group px="sm" pb="sm" gap="xs" justify="space-between">
        <Text size="sm" fw={600} role="status">
          {chosen.length} chosen
        </Text>
        <Group gap="xs">
          <Button size="xs" color="teal.9" onClick={() => setAsked('permit')}>
            Permit
          </Button>
          <Button size="xs" color="red.8" onClick={() => setAsked('forbid')}>
            Forbid
          </Button>
          <Button size="xs" variant="default" onClick={clear}>
            Clear
          </Button>
        </Group>
      </Group>
      <Modal
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={`${verb} ${chosen.length} reviews?`}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (asked !== undefined) decide.mutate(asked)
          }}
        >
          <Stack>
            <Textarea
              label="Note for each of them"
              data-autofocus
              maxLength={2000}
              autosize
              minRows={2}
              value={note}
              onChange={(event) => setNote(event.currentTarget.value)}
            />
            <Button type="submit" color={asked === 'forbid' ? 'red.8' : 'teal.9'} loading={decide.isPending}>
              {verb} {chosen.length}
            </Button>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
