/** What runs here, by which policy, and every setting in force that weakens the guard. */
import { Alert, Anchor, Badge, Button, Group, List, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { IconAlertTriangle, IconShieldCheck } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../api'
import { SortedTable } from '../components/data-table'
import { useMay } from '../components/may'
import { tellError } from '../components/notify'
import { Processes } from '../components/processes'
import { Ago, lengthOf } from '../components/time'
import { Figure, Loaded, PageHeader, Section } from '../components/view'
import type { Status as Report } from '../types'

export function Status() {
  const status = useQuery({ queryKey: ['status'], queryFn: api.status, refetchInterval: 5_000 })
  return (
    <>
      <PageHeader title="Status" about="Running processes, their policies, and the settings that weaken the guard." />
      <Loaded query={status}>
        {(data) => (
          <Stack>
            <Weakenings status={data} />
            <SimpleGrid cols={{ base: 2, md: 4 }}>
              <Figure label="Version" value={data.version} hint={`Node.js ${data.runtime}`} />
              <Figure label="Up for" value={lengthOf(data.uptime_seconds)} hint={data.node} />
              <Figure
                label="Configuration"
                value={lengthOf(data.configuration.age_seconds)}
                hint="since it was loaded"
              />
              <Figure label="Exceptions in force" value={data.exceptions} hint="accepted by people" />
            </SimpleGrid>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Health status={data} />
              <Section title="Policies in force">
                <SortedTable
                  label="Policies in force"
                  columns={['Constitution', 'Version']}
                  minWidth={200}
                  rows={data.policies}
                  worths={{ Constitution: ({ name }) => name, Version: ({ version }) => version }}
                >
                  {({ name, version }) => (
                    <Table.Tr key={name}>
                      <Table.Td>{name}</Table.Td>
                      <Table.Td>{version}</Table.Td>
                    </Table.Tr>
                  )}
                </SortedTable>
              </Section>
            </SimpleGrid>
            {data.terms_url !== null && (
              <Text size="sm">
                Everyone who creates a key accepts the{' '}
                <Anchor href={data.terms_url} target="_blank" rel="noreferrer">
                  terms of use
                </Anchor>
                .
              </Text>
            )}
            <Processes processes={data.processes} />
            <Deliveries />
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function Weakenings({ status: { weakenings, processes } }: { status: Report }) {
  const serving = processes.filter(({ state }) => state === 'serving')
  /** Where it is in force, where that is not everywhere. */
  const placeOf = (weakening: string) => {
    const where = serving.filter(({ weakenings }) => weakenings.includes(weakening))
    if (where.length === serving.length) return ''
    return ` (only on ${[...new Set(where.map(({ node }) => node))].join(', ')})`
  }
  if (weakenings.length === 0) {
    return (
      <Alert color="teal" variant="light" icon={<IconShieldCheck aria-hidden />} title="No setting weakens the guard" />
    )
  }
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconAlertTriangle aria-hidden />}
      title={`${weakenings.length} ${weakenings.length === 1 ? 'setting weakens' : 'settings weaken'} the guard`}
    >
      <List size="sm">
        {weakenings.map((weakening) => (
          <List.Item key={weakening}>
            {weakening}
            {placeOf(weakening)}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

function Health({ status: { storage, audit, configuration } }: { status: Report }) {
  const lines: [string, string, boolean][] = [
    ['Storage', `${storage.kind}, ${storage.available ? 'available' : 'not available'}`, storage.available],
    ['Audit', audit.dropped === 0 ? 'no row lost' : `${audit.dropped} rows lost`, audit.dropped === 0],
    ['Decisions wait for the audit', audit.required ? 'yes' : 'no: written within 100 ms', true],
    ['Chats are answered by', configuration.demo ? 'the demo backend' : 'your upstreams', true]
  ]
  return (
    <Section title="Health">
      <Stack gap="xs">
        {lines.map(([what, state, isGood]) => (
          <Group key={what} justify="space-between" gap={4}>
            <Text size="sm">{what}</Text>
            <Badge color={isGood ? 'teal' : 'red'} variant="light" tt="none" className="readable">
              {state}
            </Badge>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}

/** Messages that the webhook has not taken; for those who may see reviews. */
function Deliveries() {
  const client = useQueryClient()
  const deliveries = useQuery({
    queryKey: ['deliveries'],
    queryFn: api.deliveries,
    enabled: useMay('pdp:adjudicate'),
    refetchInterval: 15_000
  })
  const retry = useMutation({
    mutationFn: api.retryDelivery,
    onError: tellError,
    onSettled: () => client.invalidateQueries({ queryKey: ['deliveries'] })
  })
  const waiting = deliveries.data?.deliveries ?? []
  if (waiting.length === 0) return null
  return (
    <Section title="Webhook: not delivered yet">
      <Stack gap="xs">
        {waiting.map(({ delivery_id, event, state, attempts, last_error, created_at }) => (
          <Group key={delivery_id} justify="space-between">
            <Text size="sm">
              {event} · {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
              {last_error !== null && ` · ${last_error}`} · <Ago at={created_at} />
            </Text>
            {state === 'dead' ? (
              <Button size="compact-sm" variant="default" onClick={() => retry.mutate(delivery_id)}>
                Try again
              </Button>
            ) : (
              <Badge color="gray" variant="light" className="readable">
                will be tried again
              </Badge>
            )}
          </Group>
        ))}
      </Stack>
    </Section>
  )
}
