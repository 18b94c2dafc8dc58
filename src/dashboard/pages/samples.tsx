/** Texts of what was judged, for who may read them. */
import {
  Alert,
  Autocomplete,
  Button,
  Card,
  Code,
  Group,
  Modal,
  Select,
  SimpleGrid,
  Stack,
  Table,
  Text
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconBookmarks, IconTrash } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { CategoryBadge, categoryName, DecisionBadge, Risk } from '../components/badges'
import { useConfirmed } from '../components/confirm'
import { DataTable } from '../components/data-table'
import { useNames } from '../components/names'
import { tell, tellError } from '../components/notify'
import { SampleView } from '../components/sample-view'
import { Ago } from '../components/time'
import { Empty, Failure, PageHeader, Waiting } from '../components/view'
import { linkTo, replacePlace, usePlace } from '../router'
import { categories, decisions, type SampleFilter, type SampleKeeping } from '../types'

const names = ['decision', 'category', 'rule', 'route', 'from'] as const
const spans = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last day' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' }
]

/** The filter and the open sample stand in the address. */
function useSamplePlace() {
  const { query } = usePlace()
  const filter: SampleFilter = {}
  for (const name of names) {
    const value = query.get(name)
    if (value !== null && value !== '') filter[name] = value
  }
  const open = query.get('sample')
  const go = (changes: SampleFilter & { sample?: string | undefined }) => {
    const next = { ...filter, ...(open !== null && { sample: open }), ...changes }
    const given = Object.entries(next).filter(([, value]) => value !== undefined && value !== '')
    replacePlace('samples', Object.fromEntries(given) as Record<string, string>)
  }
  return { filter, open, go }
}

export function Samples() {
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const nameOf = useNames()
  const { filter, open, go } = useSamplePlace()
  const [clearing, setClearing] = useState(false)
  const list = useInfiniteQuery({
    queryKey: ['samples', 'list', filter],
    queryFn: ({ pageParam }) => api.samples({ ...filter, cursor: pageParam, limit: 50 }),
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
      go({ sample: undefined })
    }
  })
  const isFiltered = Object.keys(filter).length > 0
  const clear = useMutation({
    mutationFn: () => confirmed(() => api.deleteSamples(isFiltered ? { ...filter } : { all: 'true' })),
    ...settle,
    onSuccess: ({ deleted }) => {
      tell(`${deleted} ${deleted === 1 ? 'sample is' : 'samples are'} deleted.`)
      setClearing(false)
    }
  })
  const rows = list.data?.pages.flatMap(({ samples }) => samples) ?? []
  const keeping = list.data?.pages[0]?.keeping
  const shown = rows.find(({ sample_id }) => sample_id === open)
  return (
    <>
      <PageHeader
        title="Samples"
        about="Texts of what was judged, kept encrypted for a while. Secrets are masked in them. Each look at this page, and at a sample, is in the audit."
      >
        {keeping !== undefined && keeping.rows > 0 && (
          <Button variant="default" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setClearing(true)}>
            {isFiltered ? 'Delete what fits' : 'Delete all'}
          </Button>
        )}
      </PageHeader>
      {keeping !== undefined && <Keeping keeping={keeping} />}
      {(isFiltered || (keeping !== undefined && keeping.rows > 0)) && <Filters filter={filter} change={go} />}
      {list.isError ? (
        <Failure error={list.error} retry={() => list.refetch()} />
      ) : list.isPending ? (
        <Waiting />
      ) : (
        <Card withBorder padding={0}>
          {rows.length === 0 ? (
            <Empty title={isFiltered ? 'No such sample' : 'There are no samples'} Icon={IconBookmarks}>
              {keeping?.what === 'off'
                ? 'None are taken: the configuration says so.'
                : 'They come a few seconds after what is judged.'}
            </Empty>
          ) : (
            <DataTable
              label="Samples"
              columns={['When', 'Decision', 'Risk', 'Rules', 'Where', { name: 'Actions', as: 'unseen' }]}
              minWidth={760}
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
                    <Button size="compact-sm" variant="default" onClick={() => go({ sample: one.sample_id })}>
                      Open
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )}
          {list.hasNextPage && (
            <Button variant="subtle" fullWidth onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
              Show more
            </Button>
          )}
        </Card>
      )}
      <Modal opened={open !== null} onClose={() => go({ sample: undefined })} title="Sample" size="xl">
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
              ? 'Every sample that fits the filter is deleted, also those that are not on this page. They do not come back.'
              : 'Every sample is deleted. They do not come back.'}
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
          Nothing of what is judged is kept{rows > 0 ? ' any more; what was kept before stays for its time' : ''}. To
          keep what is stopped, write this into the configuration. It counts at once.
        </Text>
        <Code block>{'samples:\n  what: stopped      # or share: a share of everything\n  retention: 30d'}</Code>
      </Alert>
    )
  }
  return (
    <Text size="sm" c="dimmed" mb="md">
      {what === 'stopped' ? 'What is stopped is kept' : `${+(share * 100).toFixed(2)} % of everything is kept`} for{' '}
      {days(retention_seconds)} {days(retention_seconds) === 1 ? 'day' : 'days'}: {rows.toLocaleString('en')} of at most{' '}
      {max_rows.toLocaleString('en')} samples, {sizeOf(bytes)}. No backup holds them.
    </Text>
  )
}

function Filters({ filter, change }: { filter: SampleFilter; change(changes: SampleFilter): void }) {
  return (
    <Card withBorder mb="md">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }}>
        <Select
          label="When"
          placeholder="All of them"
          clearable
          data={spans}
          value={filter.from ?? null}
          onChange={(value) => change({ from: value ?? '' })}
        />
        <Select
          label="Decision"
          placeholder="Any"
          clearable
          data={[{ value: 'stopped', label: 'stopped: any but permit' }, ...decisions]}
          value={filter.decision ?? null}
          onChange={(value) => change({ decision: value ?? '' })}
        />
        <Select
          label="Category"
          placeholder="Any"
          clearable
          searchable
          data={categories
            .filter((one) => one !== 'sexual_minors')
            .map((value) => ({ value, label: categoryName(value) }))}
          value={filter.category ?? null}
          onChange={(value) => change({ category: value ?? '' })}
        />
        <Typed label="Rule" placeholder="any" given={filter.rule} change={(rule) => change({ rule })} />
        <Typed label="Route" placeholder="any" given={filter.route} change={(route) => change({ route })} />
      </SimpleGrid>
    </Card>
  )
}

/** A text that counts once one has stopped typing. */
function Typed(props: { label: string; placeholder: string; given: string | undefined; change(text: string): void }) {
  const [text, setText] = useState(props.given ?? '')
  const told = useDebouncedCallback((value: string) => props.change(value.trim()), 300)
  return (
    <Autocomplete
      label={props.label}
      placeholder={props.placeholder}
      value={text}
      onChange={(value) => {
        setText(value)
        told(value)
      }}
    />
  )
}
