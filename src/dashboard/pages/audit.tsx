/** Every decision and every administrative act, newest first; never a text. */
import { Anchor, Button, Card, Code, Table, Text } from '@mantine/core'
import { IconDownload, IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, path } from '../api'
import { DataTable } from '../components/data-table'
import { Filters, type Search, useFilter } from '../components/filters'
import { useNames } from '../components/names'
import { useOrder, useSorted } from '../components/sorting'
import { instant } from '../components/time'
import { VerdictFacts, VerdictLine, verdictOf } from '../components/verdict-row'
import { Empty, Failure, PageHeader } from '../components/view'
import { linkTo } from '../router'
import type { AuditRow } from '../types'

const search: Search = {
  page: 'audit',
  fields: ['decision', 'category', 'rule', 'kind', 'from'],
  more: ['by', 'subject', 'route', 'upstream', 'model', 'reader', 'status', 'code', 'score'],
  // A busy gateway has many pages of older rows.
  usual: '7d'
}

export function Audit() {
  const nameOf = useNames()
  const { filter, query, change } = useFilter(search)
  const order = useOrder('audit')
  const isOldest = order?.column === 'When' && !order.isDown
  const asked = isOldest ? { ...query, order: 'oldest' } : query
  const rows = useInfiniteQuery({
    queryKey: ['audit', asked],
    queryFn: ({ pageParam }) => api.audit({ ...asked, cursor: pageParam, limit: 100 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (old) => old,
    // A user who returns to this page looks for what was just done.
    staleTime: 0
  })
  const found = rows.data?.pages.flatMap((page) => page.rows) ?? []
  const { rows: shown, sorting } = useSorted('audit', found, {
    When: ({ seq }) => seq,
    Kind: ({ kind }) => kind,
    By: ({ by }) => (by === null ? 'the program' : nameOf(by)),
    Subject: ({ subject }) => subject,
    Risk: ({ data }) => (typeof data['risk_score'] === 'number' ? data['risk_score'] : null)
  })
  return (
    <>
      <PageHeader
        title="Audit"
        about="Every decision and every administrative action, without any text. Rows are chained by hash: the command sluicegate audit verify finds rows that were removed or altered."
      >
        <Button
          component="a"
          download="audit.jsonl"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          href={path('/audit', { ...query, format: 'jsonl' })}
        >
          Export JSON lines
        </Button>
      </PageHeader>
      <Filters search={search} filter={filter} change={change} />
      {rows.isError ? (
        <Failure error={rows.error} retry={() => rows.refetch()} />
      ) : (
        <Card withBorder padding={0}>
          {shown.length === 0 && !rows.isPending ? (
            <Empty title="No such row" Icon={IconHistory}>
              Kinds have names such as evaluation, key.created, review.decided, constitution.activated. Search for
              verdicts of earlier versions by decision, rule or route.
            </Empty>
          ) : (
            <DataTable
              label="Audit"
              columns={['When', 'Kind', 'By', 'Subject', 'Facts']}
              minWidth={820}
              sorting={sorting}
              horizontalSpacing="md"
              verticalSpacing="xs"
            >
              {shown.map((row) => (
                <Table.Tr key={row.seq} style={{ verticalAlign: 'baseline' }}>
                  <Table.Td className="nowrap">{instant(row.at)}</Table.Td>
                  <Table.Td>
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      px={4}
                      mx={-4}
                      my={-3}
                      aria-label={`Only ${row.kind}`}
                      onClick={() => change({ kind: row.kind })}
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
          {rows.hasNextPage && order !== null && order.column !== 'When' && (
            <Text size="xs" c="dimmed" px="md" py="xs">
              Only the {shown.length} rows shown are sorted.
            </Text>
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

/** Fields shown elsewhere in the row, or useful only to programs. */
const hidden = new Set(['request_id', 'lineage', 'surface', 'digest'])

/** The plain facts in a line, or the verdict; all of it, and where the row stands in its chain, when it is opened. */
function Facts({ row }: { row: AuditRow }) {
  const verdict = verdictOf(row)
  const plain = Object.entries(row.data).flatMap(([name, value]) =>
    typeof value === 'object' || hidden.has(name) ? [] : [`${name} ${value}`]
  )
  const { data, node, position, hash } = row
  // Of hundreds of rows a few are opened.
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {verdict === undefined ? (
          <Text span size="xs" style={{ overflowWrap: 'anywhere' }}>
            {plain.slice(0, 4).join(' · ') || 'more'}
          </Text>
        ) : (
          <VerdictLine verdict={verdict} />
        )}
      </summary>
      {isOpen && (
        <>
          {verdict !== undefined && <VerdictFacts verdict={verdict} id={row.subject} />}
          {row.kind === 'upstream_failed' && row.subject !== null && (
            <Anchor size="xs" href={linkTo('audit', { subject: row.subject })}>
              The verdict by which it was sent
            </Anchor>
          )}
          <Code block fz={11} mt={4} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {JSON.stringify({ ...data, node, position, hash }, null, 2)}
          </Code>
        </>
      )}
    </details>
  )
}
