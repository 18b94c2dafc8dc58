/** The charts of a filter, counted from the rows of the audit that it finds: each figure and each bar leads to them. */
import { SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api'
import { FigureLinks, RowsLink } from '../components/figure-links'
import { instant, lengthOf } from '../components/time'
import { Figure, Loaded, Section } from '../components/view'
import { goTo } from '../router'
import { decisionColors } from '../theme'
import { type AuditCourse, decisions } from '../types'
import { Later } from './later'

/** Counting rows is more work than reading stored counts, so refresh less often. */
const refreshMs = 20_000

type Filter = Record<string, string>

export function Filtered({ window, filter }: { window: string; filter: Filter }) {
  const course = useQuery({
    queryKey: ['audit', 'course', window, filter],
    queryFn: () => api.auditCourse({ ...filter, window }),
    refetchInterval: refreshMs,
    placeholderData: (old) => old
  })
  return <Loaded query={course}>{(data) => <Charts data={data} filter={filter} />}</Loaded>
}

function Charts({ data, filter }: { data: AuditCourse; filter: Filter }) {
  const { evaluations, step_seconds } = data
  const { total, by_decision } = evaluations
  const stopped = total - by_decision.permit
  const rows = (more: Filter = {}) => ({ kind: 'evaluation', ...filter, ...more, from: data.from, to: data.to })
  const isLong = Date.parse(data.to) - Date.parse(data.from) > 86_400_000
  const label = (at: string) =>
    new Date(at).toLocaleString(
      'en-GB',
      isLong ? { weekday: 'short', hour: '2-digit', minute: '2-digit' } : { hour: '2-digit', minute: '2-digit' }
    )
  const points = data.points.map(({ at, decisions: counts }) => {
    const all = decisions.reduce((sum, name) => sum + counts[name], 0)
    return { at, ...counts, share: all === 0 ? null : Math.round(((all - counts.permit) / all) * 1000) / 10 }
  })
  /** Rows of one step. */
  const open = (at: unknown, more: Filter = {}) => {
    if (typeof at !== 'string') return
    goTo('audit', { ...rows(more), from: at, to: new Date(Date.parse(at) + step_seconds * 1000 - 1).toISOString() })
  }
  const time = {
    data: points,
    dataKey: 'at',
    h: 240,
    xAxisProps: { tickFormatter: label },
    tooltipProps: { labelFormatter: (at: unknown) => label(String(at)) }
  }
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2 }}>
        <Figure
          label="Evaluations"
          value={<RowsLink filter={rows()}>{total.toLocaleString('en')}</RowsLink>}
          hint="that match the filter"
        />
        <Figure
          label="Not permitted"
          value={
            total === 0 ? (
              '–'
            ) : (
              <RowsLink filter={rows({ decision: filter['decision'] ?? 'stopped' })}>
                {`${((stopped / total) * 100).toFixed(1)} %`}
              </RowsLink>
            )
          }
          hint={`${stopped.toLocaleString('en')} evaluations`}
        />
      </SimpleGrid>
      <Section title="Decisions" aside={<Aside>{`evaluations in each ${lengthOf(step_seconds)}`}</Aside>}>
        <Later h={240}>
          {({ BarChart }) => (
            <BarChart
              {...time}
              type="stacked"
              withLegend
              legendProps={{ verticalAlign: 'top', itemSorter: null }}
              yAxisProps={{ allowDecimals: false }}
              series={decisions.map((name) => ({ name, color: decisionColors[name] }))}
              barProps={({ name }) => ({
                isAnimationActive: false,
                cursor: 'pointer',
                onClick: ({ payload }: { payload?: { at?: string } }) => open(payload?.at, { decision: name })
              })}
            />
          )}
        </Later>
        {data.counted_from > data.from && (
          <Text size="xs" c="dimmed" mt="xs">
            Counted from {instant(data.counted_from)} on: the chart covers only the newest of the matching rows.
          </Text>
        )}
        <FigureLinks
          label="Decisions of the filter"
          figures={decisions.map((name) => ({ name, count: by_decision[name], filter: rows({ decision: name }) }))}
        />
      </Section>
      <Section title="Not permitted" aside={<Aside>per cent of matching evaluations</Aside>}>
        <Later h={240}>
          {({ LineChart }) => (
            <LineChart
              {...time}
              unit=" %"
              curveType="monotone"
              connectNulls={false}
              yAxisProps={{ domain: [0, 100] }}
              series={[{ name: 'share', label: 'of evaluations', color: 'red.7' }]}
              lineProps={{ isAnimationActive: false }}
              lineChartProps={{
                cursor: 'pointer',
                onClick: ({ activeLabel }) => open(activeLabel, { decision: filter['decision'] ?? 'stopped' })
              }}
            />
          )}
        </Later>
      </Section>
    </Stack>
  )
}

function Aside({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  )
}
