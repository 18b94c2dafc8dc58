/** What happens now, from the gateway's own course of its metrics: no Prometheus is needed to look. */
import { BarChart, LineChart } from '@mantine/charts'
import { Anchor, Badge, Group, SegmentedControl, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ReferenceArea } from 'recharts'
import { api } from '../api'
import { categoryName } from '../components/badges'
import { DataTable } from '../components/data-table'
import { FigureLinks, RowsLink } from '../components/figure-links'
import { useMay } from '../components/may'
import { Ago, lengthOf } from '../components/time'
import { Figure, Loaded, PageHeader, Section } from '../components/view'
import { goTo, linkTo } from '../router'
import { decisionColors } from '../theme'
import { decisions, type SafetyMetrics } from '../types'

const windows = [
  { value: '15m', label: '15 min' },
  { value: '1h', label: '1 h' },
  { value: '6h', label: '6 h' },
  { value: '24h', label: '24 h' },
  { value: '7d', label: '7 d' }
]
const refreshMs = 5_000

export function Live() {
  const [window, setWindow] = useState('1h')
  const metrics = useQuery({
    queryKey: ['metrics', window],
    queryFn: () => api.metrics(window),
    refetchInterval: refreshMs,
    placeholderData: (old) => old
  })
  return (
    <>
      <PageHeader title="Live" about={sourceOf(metrics.data)}>
        <SegmentedControl aria-label="Window" data={windows} value={window} onChange={setWindow} />
      </PageHeader>
      <Loaded query={metrics}>{(data) => <Charts data={data} />}</Loaded>
    </>
  )
}

/** Whose figures these are. */
function sourceOf(data: SafetyMetrics | undefined): string {
  if (data === undefined || data.processes <= 1) return 'Decisions as they fall.'
  const { nodes, processes } = data
  const workers = processes > nodes ? `, ${processes} processes` : ''
  return `Decisions as they fall, over ${nodes} ${nodes === 1 ? 'node' : 'nodes'}${workers}.`
}

/** The times of which nothing is known, each from its first step to its last. */
function gapsOf(points: SafetyMetrics['points']): { from: string; to: string }[] {
  const gaps: { from: string; to: string }[] = []
  for (const [i, { at, processes }] of points.entries()) {
    if (processes > 0) continue
    if (i > 0 && points[i - 1]!.processes === 0) gaps.at(-1)!.to = at
    else gaps.push({ from: at, to: at })
  }
  return gaps
}

function Charts({ data }: { data: SafetyMetrics }) {
  const { evaluations, latency, reviews, limits, upstreams } = data
  const isLong = data.window_seconds > 86_400
  const label = (at: string) =>
    new Date(at).toLocaleString(
      'en-GB',
      isLong ? { weekday: 'short', hour: '2-digit', minute: '2-digit' } : { hour: '2-digit', minute: '2-digit' }
    )
  const points = data.points.map(({ at, processes, decisions: counts, evaluation, overhead }) => ({
    at,
    // Nothing is known of a time in which nothing ran: not even that it was 0.
    ...(processes > 0 && counts),
    p50: rounded(evaluation.p50),
    p99: rounded(evaluation.p99),
    'overhead p50': rounded(overhead.p50)
  }))
  /** One axis for both courses. */
  const time = {
    xAxisProps: { tickFormatter: label },
    tooltipProps: { labelFormatter: (at: unknown) => label(String(at)) }
  }
  const gaps = gapsOf(data.points)
  const shades = gaps.map(({ from, to }) => (
    <ReferenceArea key={from} yAxisId="left" x1={from} x2={to} fill="var(--mantine-color-gray-5)" fillOpacity={0.15} />
  ))
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
  /** Verdicts of one step of a chart. */
  const open = (at: unknown, filter: Record<string, string> = {}) => {
    if (!mayOpen || typeof at !== 'string') return
    const to = new Date(Date.parse(at) + data.step_seconds * 1000 - 1).toISOString()
    goTo('audit', { kind: 'evaluation', ...filter, from: at, to })
  }
  const pointer = mayOpen ? 'pointer' : 'default'
  /** Room for each category; what stands beside it is as tall. */
  const tall = Math.max(220, 28 * found.length + 40)
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Figure
          label="Evaluations"
          value={<RowsLink filter={rows()}>{evaluations.total.toLocaleString('en')}</RowsLink>}
          hint={`in the last ${spanOf(data.window_seconds)}`}
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
          hint={`${stopped.toLocaleString('en')} evaluations`}
        />
        <Figure
          label="Evaluation, p50 / p99"
          value={`${milliseconds(latency.evaluation.p50)} / ${milliseconds(latency.evaluation.p99)}`}
          hint="milliseconds"
        />
        <Figure
          label="Reviews waiting"
          value={
            <Anchor href={linkTo('reviews')} inherit underline="hover" c="inherit">
              {reviews.depth}
            </Anchor>
          }
          hint={reviews.depth === 0 ? 'nothing waits' : `the oldest for ${lengthOf(reviews.oldest_age_seconds)}`}
        />
      </SimpleGrid>
      <Section title="Decisions">
        <BarChart
          h={240}
          data={points}
          dataKey="at"
          type="stacked"
          withLegend
          yAxisLabel="evaluations"
          legendProps={{ verticalAlign: 'top' }}
          series={decisions.map((name) => ({
            name,
            color: decisionColors[name]
          }))}
          barProps={({ name }) => ({
            isAnimationActive: false,
            cursor: pointer,
            onClick: ({ payload }: { payload?: { at?: string } }) => open(payload?.at, { decision: name })
          })}
          {...time}
        >
          {shades}
        </BarChart>
        {gaps.length > 0 && (
          <Text size="xs" c="dimmed" mt="xs">
            Shaded: no process ran, or nothing was recorded yet.
          </Text>
        )}
        <FigureLinks
          label="Decisions of the window"
          figures={decisions.map((name) => ({
            name,
            count: evaluations.by_decision[name],
            filter: rows({ decision: name })
          }))}
        />
      </Section>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Section title="How long an evaluation takes, ms">
          <LineChart
            h={tall}
            data={points}
            dataKey="at"
            withLegend
            withDots={points.length <= 60}
            dotProps={{ r: 2 }}
            curveType="monotone"
            connectNulls={false}
            series={[
              { name: 'p50', color: 'cyan.6' },
              { name: 'p99', color: 'grape.6' },
              { name: 'overhead p50', color: 'orange.6' }
            ]}
            lineProps={{ isAnimationActive: false }}
            lineChartProps={{
              cursor: pointer,
              onClick: ({ activeLabel }) => open(activeLabel)
            }}
            {...time}
          >
            {shades}
          </LineChart>
        </Section>
        <Section
          title="Matches of rules by category"
          aside={
            <Text size="xs" c="dimmed">
              without hints
            </Text>
          }
        >
          {found.length === 0 ? (
            <Text size="sm" c="dimmed">
              No rule matched in this window.
            </Text>
          ) : (
            <>
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
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Section title="Upstreams">
          <DataTable
            label="Upstreams"
            columns={['Name', 'State', { name: 'Requests', as: 'end' }, { name: 'Failed', as: 'end' }, 'Last failure']}
            minWidth={420}
          >
            {upstreams.map(({ name, state, requests, failures, last_failure_at }) => (
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
                <Table.Td ta="right">{requests.toLocaleString('en')}</Table.Td>
                <Table.Td ta="right">{failures.toLocaleString('en')}</Table.Td>
                <Table.Td>
                  <Ago at={last_failure_at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
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
          </Stack>
        </Section>
      </SimpleGrid>
    </Stack>
  )
}

/** `hour`, `6 h`: what stands after `in the last`. */
function spanOf(seconds: number): string {
  return seconds === 3_600 ? 'hour' : lengthOf(seconds)
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000
}

function milliseconds(value: number | null): string {
  return value === null ? '–' : value < 10 ? value.toFixed(2) : value.toFixed(0)
}
