/** Every decision and every administrative act, newest first; never a text. */
import { Anchor, Autocomplete, Button, Card, Code, Group, Select, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconDownload, IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, path } from '../api'
import { kinds } from '../components/audit-kinds'
import { DataTable } from '../components/data-table'
import { useNames } from '../components/names'
import { instant } from '../components/time'
import { Empty, Failure, PageHeader } from '../components/view'
import { linkTo, usePlace } from '../router'
import type { AuditRow } from '../types'

/** How far back, as the API takes it. */
const spans = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last day' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '', label: 'All of it' }
]

export function Audit() {
  const nameOf = useNames()
  const [kind, setKind] = useState('')
  const [by, setBy] = useState('')
  const [subject, setSubject] = useState(usePlace().query.get('subject') ?? '')
  const [from, setFrom] = useState('7d')
  const [filter] = useDebouncedValue({ kind: kind.trim(), by: by.trim(), subject: subject.trim(), from }, 300)
  const rows = useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam }) => api.audit({ ...filter, cursor: pageParam, limit: 100 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (old) => old
  })
  const shown = rows.data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <>
      <PageHeader
        title="Audit"
        about="Every decision and every act of an administrator, never a text. Each row is chained to the one before it by its hash: the command sluicegate audit verify finds what was removed or altered."
      >
        <Button
          component="a"
          download="audit.jsonl"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          href={path('/audit', { ...filter, format: 'jsonl' })}
        >
          Export JSON lines
        </Button>
      </PageHeader>
      <Card withBorder padding="md" mb="md">
        <Group grow preventGrowOverflow={false} gap="sm">
          <Autocomplete label="Kind" placeholder="any" data={kinds} limit={60} value={kind} onChange={setKind} />
          <TextInput
            label="By"
            placeholder="key_… or usr_…"
            value={by}
            onChange={(event) => setBy(event.currentTarget.value)}
          />
          <TextInput
            label="Subject"
            placeholder="the id of what it was done to"
            value={subject}
            onChange={(event) => setSubject(event.currentTarget.value)}
          />
          <Select
            label="From"
            data={spans}
            allowDeselect={false}
            value={from}
            onChange={(value) => setFrom(value ?? '')}
          />
        </Group>
      </Card>
      {rows.isError ? (
        <Failure error={rows.error} retry={() => rows.refetch()} />
      ) : (
        <Card withBorder padding={0}>
          {shown.length === 0 && !rows.isPending ? (
            <Empty title="No such row" Icon={IconHistory}>
              Kinds are written as evaluation, key.created, review.decided, constitution.activated.
            </Empty>
          ) : (
            <DataTable
              label="Audit"
              columns={['When', 'Kind', 'By', 'Subject', 'Facts']}
              minWidth={820}
              horizontalSpacing="md"
              verticalSpacing="xs"
            >
              {shown.map((row) => (
                <Table.Tr key={row.seq} style={{ verticalAlign: 'top' }}>
                  <Table.Td className="nowrap">{instant(row.at)}</Table.Td>
                  <Table.Td>
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      px={4}
                      mx={-4}
                      my={-3}
                      aria-label={`Only ${row.kind}`}
                      onClick={() => setKind(row.kind)}
                    >
                      {row.kind}
                    </Button>
                  </Table.Td>
                  <Table.Td maw={130}>
                    <Text size="sm" className="one-line" title={row.by ?? undefined}>
                      {row.by === null ? 'the program' : nameOf(row.by)}
                    </Text>
                  </Table.Td>
                  <Table.Td maw={130}>
                    <Text size="xs" ff="monospace" className="one-line" title={row.subject ?? undefined}>
                      {row.subject === null ? '–' : nameOf(row.subject)}
                    </Text>
                  </Table.Td>
                  <Table.Td miw={240}>
                    <Facts row={row} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )}
          {rows.hasNextPage && (
            <Button variant="subtle" fullWidth onClick={() => rows.fetchNextPage()} loading={rows.isFetchingNextPage}>
              Show more
            </Button>
          )}
        </Card>
      )}
    </>
  )
}

/** Said elsewhere in the row, or of use to a program alone. */
const hidden = new Set(['request_id', 'lineage', 'surface', 'digest'])

/** The plain facts in a line; all of them, and where the row stands in its chain, when it is opened. */
function Facts({ row }: { row: AuditRow }) {
  const plain = Object.entries(row.data).flatMap(([name, value]) =>
    typeof value === 'object' || hidden.has(name) ? [] : [`${name} ${value}`]
  )
  const { data, node, position, hash } = row
  return (
    <details>
      <summary>
        <Text span size="xs" style={{ overflowWrap: 'anywhere' }}>
          {plain.slice(0, 4).join(' · ') || 'more'}
        </Text>
      </summary>
      {row.kind === 'evaluation' && row.subject !== null && (
        <Anchor size="xs" href={linkTo('exceptions', { evaluation: row.subject })}>
          This was wrong
        </Anchor>
      )}
      <Code block fz={11} mt={4} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {JSON.stringify({ ...data, node, position, hash }, null, 2)}
      </Code>
    </details>
  )
}
