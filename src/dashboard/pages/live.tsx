/** The metrics of a window, from the gateway's own history of them: no Prometheus is needed. */
import { Anchor, Badge, Button, Code, Group, SegmentedControl, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { AlertBanner, useAlerts } from '../components/alerts'
import { categoryName } from '../components/badges'
import { SortedTable } from '../components/data-table'
import { FigureLinks, RowsLink } from '../components/figure-links'
import { Filters, type Search, useFilter } from '../components/filters'
import { useMay } from '../components/may'
import { Ago, lengthOf } from '../components/time'
import { Figure, Loaded, PageHeader, Section, Waiting } from '../components/view'
import { change, comparable, points, shareOf } from '../live/compared'
import { Course } from '../live/course'
import { Filtered } from '../live/filtered'
import { Later } from '../live/later'
import { goTo, linkTo, usePlace } from '../router'
import type { SafetyMetrics } from '../types'

const windows = [
  { value: '15m', label: '15 min' },
  { value: '1h', label: '1 h' },
  { value: '6h', label: '6 h' },
  { value: '24h', label: '24 h' },
  { value: '7d', label: '7 d' }
]
const refreshMs = 5_000

/** Fields that filter the charts: filtered charts are counted from the audit, which only administrators may read. */
const search: Search = {
  page: 'live',
  fields: ['category', 'rule', 'route', 'upstream', 'model'],
  more: ['decision', 'reader', 'score', 'by'],
  usual: 'all'
}

export function Live() {
  const mayFilter = useMay('*')
  const { filter, change } = useFilter(search)
  const asked = mayFilter ? filter : {}
  const isFiltered = Object.keys(asked).length > 0
  const [isOpen, setOpen] = useState(isFiltered)
  // In the address, as the filter is, so that a chart can be shared as a link.
  const given = usePlace().query.get('window')
  const window = windows.find(({ value }) => value === given)?.value ?? '1h'
  const metrics = useQuery({
    queryKey: ['metrics', window],
    queryFn: () => api.metrics(window),
    refetchInterval: refreshMs,
    placeholderData: (old) => old,
    enabled: !isFiltered
  })
  // Alerts are shown above the charts: wait for them, so that the charts do not move down later.
  const { isLoading } = useAlerts()
  return (
    <>
      <PageHeader title="Live" about={sourceOf(metrics.data)}>
        {mayFilter && (
          <Button
            variant="default"
            aria-expanded={isOpen || isFiltered}
            leftSection={<IconFilter size={16} aria-hidden />}
            onClick={() => setOpen(!isOpen)}
          >
            Filter
          </Button>
        )}
        <SegmentedControl
          aria-label="Window"
          data={windows}
          value={window}
          onChange={(value) => change({ window: value === '1h' ? '' : value })}
        />
      </PageHeader>
      {mayFilter && (isOpen || isFiltered) && <Filters search={search} filter={filter} change={change} />}
      {isLoading ? (
        <Waiting />
      ) : (
        <>
          <AlertBanner />
          {isFiltered ? (
            <Filtered window={window} filter={asked as Record<string, string>} />
          ) : (
            <Loaded query={metrics}>{(data) => <Charts data={data} />}</Loaded>
          )}
        </>
      )}
    </>
  )
}

/** The nodes and processes that the figures come from. */
function sourceOf(data: SafetyMetrics | undefined): string {
  if (data === undefined || data.processes <= 1) return 'Decisions of this gateway as they are made.'
  const { nodes, processes } = data
  const workers = processes > nodes ? `, ${processes} processes` : ''
  return `Decisions of ${nodes} ${nodes === 1 ? 'node' : 'nodes'}${workers}, as they are made.`
}

function Charts({ data }: { data: SafetyMetrics }) {
  const { evaluations, latency, reviews, limits, upstreams } = data
  const before = comparable(data)
  const queue = data.thresholds.reviews_waiting
  const stopped = evaluations.total - evaluations.by_decision.permit
  const found = Object.entries(data.categories)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([id, matches]) => ({ id, category: categoryName(id), matches }))
  const mayOpen = useMay('*')
  /** Verdicts of the window. */
  const rows = (filter: Record<string, string> = {}) => ({
    kind: 'evaluation',
    ...filter,
    from: data.from,
    to: data.to
  })
  const pointer = mayOpen ? 'pointer' : 'default'
  /** Room for each category. */
  const tall = Math.max(220, 28 * found.length + 40)
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Figure
          label="Evaluations"
          value={<RowsLink filter={rows()}>{evaluations.total.toLocaleString('en')}</RowsLink>}
          hint={told(
            `in the last ${spanOf(data.window_seconds)}`,
            change(evaluations.total, before?.evaluations.total)
          )}
        />
        <Figure
          label="Not permitted"
          value={
            evaluations.total === 0 ? (
              '–'
            ) : (
              <RowsLink
                filter={rows({ decision: 'stopped' })}
              >{`${((stopped / evaluations.total) * 100).toFixed(1)} %`}</RowsLink>
            )
          }
          hint={told(
            `${stopped.toLocaleString('en')} evaluations`,
            points(shareOf({ total: evaluations.total, stopped }), before && shareOf(before.evaluations))
          )}
        />
        <Figure
          label="Evaluation, p50 / p99"
          value={
            <RowsLink filter={rows()}>
              {`${milliseconds(latency.evaluation.p50)} / ${milliseconds(latency.evaluation.p99)}`}
            </RowsLink>
          }
          hint={told('milliseconds', before && change(latency.evaluation.p50, before.p50))}
        />
        <Figure
          label="Reviews waiting"
          value={
            <Anchor href={linkTo('reviews')} inherit underline="hover" c="inherit">
              {reviews.depth}
            </Anchor>
          }
          hint={told(
            reviews.depth === 0 ? 'nothing waits' : `the oldest for ${lengthOf(reviews.oldest_age_seconds)}`,
            queue === null ? undefined : `alert from ${queue.count}, or ${lengthOf(queue.age_seconds)}`
          )}
        />
      </SimpleGrid>
      <Course data={data} rows={rows} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Section
          title="Matches of rules by category"
          aside={
            <Text size="xs" c="dimmed">
              weak hints not counted
            </Text>
          }
        >
          {found.length === 0 ? (
            <Text size="sm" c="dimmed">
              No rule matched in this window.
            </Text>
          ) : (
            <>
              <Later h={tall}>
                {({ BarChart }) => (
                  <BarChart
                    h={tall}
                    data={found}
                    dataKey="category"
                    orientation="vertical"
                    gridAxis="y"
                    yAxisProps={{ width: 110, interval: 0 }}
                    series={[{ name: 'matches', color: 'cyan.7' }]}
                    barProps={{
                      isAnimationActive: false,
                      radius: 3,
                      cursor: pointer,
                      onClick: ({ payload }: { payload?: { id?: string } }) =>
                        mayOpen && payload?.id !== undefined && goTo('audit', rows({ category: payload.id }))
                    }}
                  />
                )}
              </Later>
              <FigureLinks
                label="Matches of the window"
                figures={found.map(({ id, category, matches }) => ({
                  name: category,
                  count: matches,
                  filter: rows({ category: id })
                }))}
              />
            </>
          )}
        </Section>
        <Stack>
          <Section title="Upstreams">
            <SortedTable
              label="Upstreams"
              className="crowded"
              rows={upstreams}
              worths={{
                Name: ({ name }) => name,
                State: ({ state }) => state,
                Requests: ({ requests }) => requests,
                Failed: ({ failures }) => failures,
                'Last failure': ({ last_failure_at }) => last_failure_at
              }}
              columns={[
                'Name',
                'State',
                { name: 'Requests', as: 'end' },
                { name: 'Failed', as: 'end' },
                'Last failure'
              ]}
              minWidth={420}
            >
              {({ name, state, requests, failures, last_failure_at }) => (
                <Table.Tr key={name}>
                  <Table.Td>
                    <RowsLink filter={rows({ upstream: name })}>{name}</RowsLink>
                  </Table.Td>
                  <Table.Td>
                    <Badge
                      color={state === 'ok' ? 'teal' : state === 'idle' ? 'gray' : 'red'}
                      variant="light"
                      className="readable"
                    >
                      {state}
                    </Badge>
                  </Table.Td>
                  <Table.Td ta="right">
                    <RowsLink filter={rows({ upstream: name })}>{requests.toLocaleString('en')}</RowsLink>
                  </Table.Td>
                  <Table.Td ta="right">
                    {failures === 0 ? (
                      0
                    ) : (
                      <RowsLink filter={rows({ kind: 'upstream_failed', upstream: name, status: '5xx' })}>
                        {failures.toLocaleString('en')}
                      </RowsLink>
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Ago at={last_failure_at} />
                  </Table.Td>
                </Table.Tr>
              )}
            </SortedTable>
          </Section>
          <Section title="Limits and answers">
            <Stack gap="xs">
              <Text size="sm">
                A live key may make {limits.live_per_minute} calls a minute, a test key {limits.test_per_minute}, unless
                the key says otherwise.
              </Text>
              <Group gap="lg">
                {Object.entries(data.requests)
                  .filter(([kind, count]) => count > 0 || kind !== '3xx')
                  .map(([kind, count]) => (
                    <Text key={kind} size="sm">
                      <b>{count.toLocaleString('en')}</b> answered {kind}
                    </Text>
                  ))}
              </Group>
              <Answered rows={rows} />
            </Stack>
          </Section>
        </Stack>
      </SimpleGrid>
    </Stack>
  )
}

/** Which failed answers have audit rows, and which metrics count the others. */
function Answered({ rows }: { rows(filter: Record<string, string>): Record<string, string> }) {
  const { kind: _, ...failed } = rows({})
  return (
    <Text size="xs" c="dimmed">
      All answers of this gateway, including its own pages. The audit has the calls that{' '}
      <RowsLink filter={rows({ decision: 'stopped' })}>a verdict stopped</RowsLink>, that an upstream{' '}
      <RowsLink filter={{ ...failed, kind: 'upstream_failed', status: '4xx' }}>refused (4xx)</RowsLink>, and that{' '}
      <RowsLink filter={{ ...failed, status: '5xx' }}>failed (5xx)</RowsLink> at an upstream or without a verdict.
      Requests refused before evaluation (a wrong key, a limit) have no row: they are counted in{' '}
      <Code fz={11}>sluicegate_requests_total</Code> and <Code fz={11}>sluicegate_key_denials_total</Code>.
    </Text>
  )
}

/** What a figure counts, and how it compares with the week before or with its threshold. */
function told(what: string, beside: string | undefined) {
  if (beside === undefined) return what
  return (
    <>
      {what}
      <br />
      {beside}
    </>
  )
}

/** `hour`, `6 h`: what stands after `in the last`. */
function spanOf(seconds: number): string {
  if (seconds === 86_400) return '24 h'
  return seconds === 3_600 ? 'hour' : lengthOf(seconds)
}

function milliseconds(value: number | null): string {
  return value === null ? '–' : value < 10 ? value.toFixed(2) : value.toFixed(0)
}
