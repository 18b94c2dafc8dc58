/** Who uses how much, per key and day; the same figures as a table for a spreadsheet. */
import { Button, Card, Code, Group, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core'
import { IconChartBar, IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, path } from '../api'
import { DataTable } from '../components/data-table'
import { useMay } from '../components/may'
import { useSorted } from '../components/sorting'
import { Empty, Figure, Loaded, PageHeader, Section } from '../components/view'
import { Later } from '../live/later'
import type { Usage as Report } from '../types'

const dayMs = 86_400_000
const figures = [
  ['Evaluations', 'evaluations'],
  ['Billable evaluations', 'billable_evaluations'],
  ['Characters', 'characters'],
  ['Billable characters', 'billable_characters']
] as const
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

export function Usage() {
  const [from, setFrom] = useState(() => dayOf(Date.now() - 29 * dayMs))
  const [to, setTo] = useState(() => dayOf(Date.now()))
  const range = { from, to }
  const usage = useQuery({
    queryKey: ['usage', from, to],
    queryFn: () => api.usage(range),
    placeholderData: (old) => old
  })
  // As many days, just before: what the figures are compared with.
  const length = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1)
  const before = { from: dayOf(Date.parse(from) - length * dayMs), to: dayOf(Date.parse(from) - dayMs) }
  const earlier = useQuery({ queryKey: ['usage', before.from, before.to], queryFn: () => api.usage(before) })
  return (
    <>
      <PageHeader title="Usage" about="Counted when a verdict is given, by days in UTC. Test keys cost nothing.">
        <TextInput
          type="date"
          aria-label="From"
          value={from}
          max={to}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="date"
          aria-label="To"
          value={to}
          min={from}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button
          component="a"
          href={path('/billing/usage', { ...range, format: 'csv' })}
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          CSV
        </Button>
      </PageHeader>
      <Loaded query={usage}>{(data) => <Days report={data} earlier={earlier.data} />}</Loaded>
    </>
  )
}

/** `12 % more than in the 30 days before`. */
function compared(now: number, before: number | undefined, days: number): string {
  if (before === undefined) return ' '
  const span = days === 1 ? 'on the day before' : `in the ${days} days before`
  if (before === 0) return `none ${span}`
  const change = Math.round(((now - before) / before) * 100)
  return change === 0 ? `as many as ${span}` : `${Math.abs(change)} % ${change > 0 ? 'more' : 'less'} than ${span}`
}

function Days({ report, earlier }: { report: Report; earlier: Report | undefined }) {
  const keys = useQuery({ queryKey: ['keys'], queryFn: api.keys, enabled: useMay('*') })
  const nameOf = (id: string) => keys.data?.keys.find(({ key_id }) => key_id === id)?.name
  const { total, days } = report
  const byDay = new Map<string, { day: string; live: number; test: number }>()
  for (let at = Date.parse(report.from); at <= Date.parse(report.to); at += dayMs)
    byDay.set(dayOf(at), { day: dayOf(at).slice(5), live: 0, test: 0 })
  for (const { day, environment, evaluations } of days) {
    const sum = byDay.get(day)
    if (sum !== undefined) sum[environment] += evaluations
  }
  const { rows, sorting } = useSorted('usage', [...days].reverse(), {
    Day: ({ day }) => day,
    Key: ({ key_id }) => nameOf(key_id) ?? key_id,
    Environment: ({ environment }) => environment,
    Evaluations: ({ evaluations }) => evaluations,
    Characters: ({ characters }) => characters
  })
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        {figures.map(([label, count]) => (
          <Figure
            key={label}
            label={label}
            value={total[count].toLocaleString('en')}
            hint={compared(total[count], earlier?.total[count], byDay.size)}
          />
        ))}
      </SimpleGrid>
      <Section title="Evaluations by day">
        <Later h={220}>
          {({ BarChart }) => (
            <BarChart
              h={220}
              data={[...byDay.values()]}
              dataKey="day"
              type="stacked"
              withLegend
              yAxisLabel="evaluations"
              valueFormatter={(value) => value.toLocaleString('en')}
              legendProps={{ verticalAlign: 'top' }}
              series={[
                { name: 'live', color: 'cyan.7' },
                { name: 'test', color: 'gray.5' }
              ]}
              barProps={{ isAnimationActive: false }}
            />
          )}
        </Later>
      </Section>
      <Card withBorder padding={0}>
        {days.length === 0 ? (
          <Empty title="No usage" Icon={IconChartBar}>
            No text was judged on these days. Evaluations and chats of every key are counted here at once.
          </Empty>
        ) : (
          <DataTable
            label="Usage"
            columns={[
              'Day',
              'Key',
              'Environment',
              { name: 'Evaluations', as: 'end' },
              { name: 'Characters', as: 'end' }
            ]}
            minWidth={640}
            sorting={sorting}
            horizontalSpacing="md"
            verticalSpacing="xs"
          >
            {rows.map(({ day, key_id, environment, evaluations, characters }) => (
              <Table.Tr key={`${day} ${key_id}`}>
                <Table.Td className="nowrap">{day}</Table.Td>
                <Table.Td maw={260}>
                  <Group gap="xs" wrap="nowrap">
                    <Text size="sm" className="one-line">
                      {nameOf(key_id) ?? <Code>{key_id}</Code>}
                    </Text>
                  </Group>
                </Table.Td>
                <Table.Td>{environment}</Table.Td>
                <Table.Td ta="right">{evaluations.toLocaleString('en')}</Table.Td>
                <Table.Td ta="right">{characters.toLocaleString('en')}</Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </Card>
    </Stack>
  )
}
