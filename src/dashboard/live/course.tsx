/** The course of a window: decisions, the share of what was stopped and the time it took, with last week faintly behind. */
import { SimpleGrid, Text } from '@mantine/core'
import { FigureLinks } from '../components/figure-links'
import { useMay } from '../components/may'
import { lengthOf } from '../components/time'
import { Section } from '../components/view'
import { goTo } from '../router'
import { decisionColors } from '../theme'
import { decisions, type SafetyMetrics } from '../types'
import { type Charts, Later } from './later'

const lastWeek = 'last week'
/** Behind everything else, and still seen. */
const faint = { color: 'gray.6', strokeDasharray: '4 4' } as const

export function Course({
  data,
  rows
}: {
  data: SafetyMetrics
  rows(filter: Record<string, string>): Record<string, string>
}) {
  const { evaluations, thresholds, week_before: before } = data
  const isLong = data.window_seconds > 86_400
  const label = (at: string) =>
    new Date(at).toLocaleString(
      'en-GB',
      isLong ? { weekday: 'short', hour: '2-digit', minute: '2-digit' } : { hour: '2-digit', minute: '2-digit' }
    )
  const totals = data.points.map(({ decisions: counts }) => decisions.reduce((sum, name) => sum + counts[name], 0))
  // Next to steps with hundreds of evaluations, the share of three is no information, and would distort the whole axis.
  const least = Math.max(...totals) / 50
  const points = data.points.map(({ at, processes, decisions: counts, evaluation, overhead }, i) => {
    const total = totals[i]!
    const then = before?.points[i]
    return {
      at,
      // For a period in which nothing ran no value is known, not even 0.
      ...(processes > 0 && counts),
      share: total < least ? null : percent(total - counts.permit, total),
      p50: rounded(evaluation.p50),
      p99: rounded(evaluation.p99),
      'overhead p50': rounded(overhead.p50),
      [lastWeek]: then?.known ? then.evaluations : null,
      'share last week': then?.known ? percent(then.stopped, then.evaluations) : null,
      'p50 last week': then?.known ? rounded(then.p50) : null
    }
  })
  /** One axis for all courses. */
  const time = {
    xAxisProps: { tickFormatter: label },
    tooltipProps: { labelFormatter: (at: unknown) => label(String(at)) }
  }
  const gaps = gapsOf(data.points)
  const shades = (ReferenceArea: Charts['ReferenceArea']) =>
    gaps.map(({ from, to }) => (
      <ReferenceArea
        key={from}
        yAxisId="left"
        x1={from}
        x2={to}
        fill="var(--mantine-color-gray-5)"
        fillOpacity={0.15}
      />
    ))
  const mayOpen = useMay('*')
  /** Verdicts of one step of a chart. */
  const open = (at: unknown, filter: Record<string, string> = {}) => {
    if (!mayOpen || typeof at !== 'string') return
    const to = new Date(Date.parse(at) + data.step_seconds * 1000 - 1).toISOString()
    goTo('audit', { kind: 'evaluation', ...filter, from: at, to })
  }
  const pointer = mayOpen ? 'pointer' : 'default'
  const step = lengthOf(data.step_seconds)
  const lines = {
    h: 240,
    data: points,
    dataKey: 'at',
    withLegend: true,
    withDots: points.length <= 60,
    dotProps: { r: 2 },
    curveType: 'monotone' as const,
    connectNulls: false,
    ...time
  }
  return (
    <>
      <Section title="Decisions" aside={<Aside>{`evaluations in each ${step}`}</Aside>}>
        <Later h={240}>
          {({ CompositeChart, ReferenceArea }) => (
            <CompositeChart
              h={240}
              data={points}
              dataKey="at"
              withLegend
              withDots={false}
              curveType="monotone"
              connectNulls={false}
              legendProps={{ verticalAlign: 'top', itemSorter: null }}
              yAxisProps={{ allowDecimals: false }}
              series={[
                ...decisions.map((name) => ({ name, color: decisionColors[name], type: 'bar' as const })),
                ...(before === null ? [] : [{ name: lastWeek, ...faint, type: 'line' as const }])
              ]}
              barProps={({ name }) => ({
                stackId: 'decisions',
                isAnimationActive: false,
                cursor: pointer,
                onClick: ({ payload }: { payload?: { at?: string } }) => open(payload?.at, { decision: name })
              })}
              lineProps={{ isAnimationActive: false, strokeWidth: 1.5 }}
              {...time}
            >
              {shades(ReferenceArea)}
            </CompositeChart>
          )}
        </Later>
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
        <Section title="Not permitted" aside={<Aside>{thresholdsOf(thresholds.stopped)}</Aside>}>
          <Later h={240}>
            {({ LineChart, ReferenceArea }) => (
              <LineChart
                {...lines}
                unit=" %"
                series={[
                  { name: 'share', label: 'of evaluations', color: 'red.7' },
                  ...(before === null ? [] : [{ name: 'share last week', label: lastWeek, ...faint }])
                ]}
                yAxisProps={{ domain: [0, domainOf(points, thresholds.stopped)] }}
                referenceLines={unusual(thresholds.stopped)}
                lineProps={line}
                lineChartProps={{
                  cursor: pointer,
                  onClick: ({ activeLabel }) => open(activeLabel, { decision: 'stopped' })
                }}
              >
                {shades(ReferenceArea)}
              </LineChart>
            )}
          </Later>
        </Section>
        <Section title="How long an evaluation takes" aside={<Aside>milliseconds</Aside>}>
          <Later h={240}>
            {({ LineChart, ReferenceArea }) => (
              <LineChart
                {...lines}
                unit=" ms"
                series={[
                  { name: 'p50', color: 'cyan.6' },
                  { name: 'p99', color: 'grape.6' },
                  { name: 'overhead p50', color: 'orange.6' },
                  ...(before === null ? [] : [{ name: 'p50 last week', ...faint }])
                ]}
                lineProps={line}
                lineChartProps={{ cursor: pointer, onClick: ({ activeLabel }) => open(activeLabel) }}
              >
                {shades(ReferenceArea)}
              </LineChart>
            )}
          </Later>
        </Section>
      </SimpleGrid>
    </>
  )
}

/** The week before has no dots of its own. */
function line({ name }: { name: string }) {
  return { isAnimationActive: false, ...(name.endsWith(lastWeek) && { dot: false, strokeWidth: 1.5 }) }
}

function Aside({ children }: { children: string | undefined }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  )
}

type Stopped = SafetyMetrics['thresholds']['stopped']

function thresholdsOf(stopped: Stopped): string {
  if (stopped === null) return 'per cent of evaluations'
  return `${(stopped.usual * 100).toFixed(1)} % is usual at this time of day`
}

/** From where on the share is unusual. */
function unusual(stopped: Stopped) {
  return [stopped?.high, stopped?.low].flatMap((share, i) =>
    share === null || share === undefined || share === 0
      ? []
      : [
          {
            y: share * 100,
            label: i === 0 ? 'unusual from here' : 'unusual below',
            color: 'orange.7',
            strokeDasharray: '2 3',
            labelPosition: i === 0 ? ('insideBottomLeft' as const) : ('insideTopLeft' as const)
          }
        ]
  )
}

/** Keeps the threshold line visible, and small shares too. */
function domainOf(points: readonly { share: number | null }[], stopped: Stopped): number {
  const most = Math.max(5, ...points.map(({ share }) => share ?? 0), (stopped?.high ?? 0) * 110)
  return Math.min(100, Math.ceil(most / 5) * 5)
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

function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1000) / 10
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000
}
