/** Texts of what was judged, for who may read them. */
import { Alert, Button, Card, Code, Group, Modal, Stack, Table, Text } from '@mantine/core'
import { IconBookmarks, IconTrash } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { CategoryBadge, DecisionBadge, Risk } from '../components/badges'
import { useConfirmed } from '../components/confirm'
import { DataTable } from '../components/data-table'
import { Filters, type Search, useFilter } from '../components/filters'
import { useNames } from '../components/names'
import { tell, tellError } from '../components/notify'
import { SampleView } from '../components/sample-view'
import { useSorted } from '../components/sorting'
import { Ago } from '../components/time'
import { Empty, Failure, PageHeader, Waiting } from '../components/view'
import { linkTo, usePlace } from '../router'
import { decisions, type SampleKeeping } from '../types'

const search: Search = {
  page: 'samples',
  fields: ['decision', 'category', 'rule', 'route', 'from'],
  // They are kept for a while only.
  usual: 'all',
  without: 'sexual_minors'
}

export function Samples() {
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const nameOf = useNames()
  const { filter, query, change } = useFilter(search)
  const open = usePlace().query.get('sample')
  const [clearing, setClearing] = useState(false)
  const list = useInfiniteQuery({
    queryKey: ['samples', 'list', query],
    queryFn: ({ pageParam }) => api.samples({ ...query, cursor: pageParam, limit: 50 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (old) => old
  })
  const settle = { onError: tellError, onSettled: () => client.invalidateQueries({ queryKey: ['samples', 'list'] }) }
  const remove = useMutation({
    mutationFn: api.deleteSample,
    ...settle,
    onSuccess: () => {
      tell('The sample is deleted.')
      change({ sample: undefined })
    }
  })
  const isFiltered = Object.keys(query).length > 0
  const clear = useMutation({
    mutationFn: () => confirmed(() => api.deleteSamples(isFiltered ? { ...query } : { all: 'true' })),
    ...settle,
    onSuccess: ({ deleted }) => {
      tell(`${deleted} ${deleted === 1 ? 'sample is' : 'samples are'} deleted.`)
      setClearing(false)
    }
  })
  const found = list.data?.pages.flatMap(({ samples }) => samples) ?? []
  const { rows, sorting } = useSorted('samples', found, {
    When: ({ created_at }) => created_at,
    Decision: ({ decision }) => decisions.indexOf(decision),
    Risk: ({ risk_score }) => risk_score,
    Rules: ({ matched_rules }) => matched_rules[0],
    Where: ({ surface, route }) => `${surface} ${route}`
  })
  const keeping = list.data?.pages[0]?.keeping
  const shown = rows.find(({ sample_id }) => sample_id === open)
  return (
    <>
      <PageHeader
        title="Samples"
        about="Texts that were judged, stored encrypted for a limited time, with secrets masked. The audit records each view of this page and of a sample."
      >
        {keeping !== undefined && keeping.rows > 0 && (
          <Button variant="default" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setClearing(true)}>
            {isFiltered ? 'Delete matching' : 'Delete all'}
          </Button>
        )}
      </PageHeader>
      {keeping !== undefined && <Keeping keeping={keeping} />}
      {(isFiltered || (keeping !== undefined && keeping.rows > 0)) && (
        <Filters search={search} filter={filter} change={change} />
      )}
      {list.isError ? (
        <Failure error={list.error} retry={() => list.refetch()} />
      ) : list.isPending ? (
        <Waiting />
      ) : (
        <Card withBorder padding={0}>
          {rows.length === 0 ? (
            <Empty title={isFiltered ? 'No such sample' : 'There are no samples'} Icon={IconBookmarks}>
              {keeping?.what === 'off'
                ? 'The configuration switches samples off.'
                : 'Samples appear a few seconds after the evaluation.'}
            </Empty>
          ) : (
            <DataTable
              label="Samples"
              columns={['When', 'Decision', 'Risk', 'Rules', 'Where', { name: 'Actions', as: 'unseen' }]}
              minWidth={760}
              sorting={sorting}
              horizontalSpacing="md"
              verticalSpacing="sm"
            >
              {rows.map((one) => (
                <Table.Tr key={one.sample_id}>
                  <Table.Td>
                    <Ago at={one.created_at} size="sm" />
                  </Table.Td>
                  <Table.Td>
                    <DecisionBadge decision={one.decision} size="sm" />
                  </Table.Td>
                  <Table.Td>
                    <Risk score={one.risk_score} width={48} />
                  </Table.Td>
                  <Table.Td maw={280}>
                    <Group gap={6}>
                      {one.categories.map((category) => (
                        <CategoryBadge key={category} category={category} />
                      ))}
                    </Group>
                    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                      {one.matched_rules.slice(0, 3).join(', ')}
                    </Text>
                  </Table.Td>
                  <Table.Td maw={220}>
                    <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
                      {one.surface} · {one.route}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {nameOf(one.key_id)}
                    </Text>
                  </Table.Td>
                  <Table.Td ta="right">
                    <Button size="compact-sm" variant="default" onClick={() => change({ sample: one.sample_id })}>
                      Open
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )}
          {list.hasNextPage && sorting.order !== undefined && (
            <Text size="xs" c="dimmed" px="md" py="xs">
              Only the {rows.length} samples shown are sorted.
            </Text>
          )}
          {list.hasNextPage && (
            <Button variant="subtle" fullWidth onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
              Show more
            </Button>
          )}
        </Card>
      )}
      <Modal opened={open !== null} onClose={() => change({ sample: undefined })} title="Sample" size="xl">
        {open !== null && (
          <Stack>
            <SampleView key={open} id={open} />
            <Group justify="flex-end">
              {shown !== undefined && shown.decision !== 'permit' && (
                <Button
                  component="a"
                  variant="default"
                  href={linkTo('exceptions', { evaluation: shown.evaluation_id })}
                >
                  This was wrong
                </Button>
              )}
              <Button color="red" variant="light" loading={remove.isPending} onClick={() => remove.mutate(open)}>
                Delete
              </Button>
            </Group>
          </Stack>
        )}
      </Modal>
      <Modal opened={clearing} onClose={() => setClearing(false)} title="Delete samples">
        <Stack>
          <Text size="sm">
            {isFiltered
              ? 'Every sample that matches the filter is deleted, including those not on this page. This cannot be undone.'
              : 'Every sample is deleted. This cannot be undone.'}
          </Text>
          <Button color="red" loading={clear.isPending} data-autofocus onClick={() => clear.mutate()}>
            Delete them
          </Button>
        </Stack>
      </Modal>
    </>
  )
}

const sizeOf = (bytes: number) =>
  bytes < 1024 ** 2 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`
const days = (seconds: number) => Math.max(1, Math.round(seconds / 86_400))

function Keeping({ keeping }: { keeping: SampleKeeping }) {
  const { what, share, rows, bytes, max_rows, retention_seconds } = keeping
  if (what === 'off') {
    return (
      <Alert variant="light" color="gray" mb="md" title="Samples are off">
        <Text size="sm" mb={6}>
          No texts are kept{rows > 0 ? ' any more; earlier samples stay until their retention ends' : ''}. To keep
          stopped texts, add this to the configuration. It takes effect at once.
        </Text>
        <Code block>{'samples:\n  what: stopped      # or share: a share of everything\n  retention: 30d'}</Code>
      </Alert>
    )
  }
  return (
    <Text size="sm" c="dimmed" mb="md">
      {what === 'stopped' ? 'Stopped texts are kept' : `${+(share * 100).toFixed(2)} % of everything is kept`} for{' '}
      {days(retention_seconds)} {days(retention_seconds) === 1 ? 'day' : 'days'}: {rows.toLocaleString('en')} of at most{' '}
      {max_rows.toLocaleString('en')} samples, {sizeOf(bytes)}. Backups do not contain them.
    </Text>
  )
}
