/** Every serving process as it reports itself; one that is outdated or silent stands out. */
import { Badge, Group, Stack, Table, Text } from '@mantine/core'
import type { Process } from '../types'
import { SortedTable } from './data-table'
import { Ago, lengthOf } from './time'
import { Section } from './view'

export function Processes({ processes }: { processes: Process[] }) {
  const serving = processes.filter(({ state }) => state === 'serving')
  const differing = differencesOf(serving)
  const nodes = new Set(serving.map(({ node }) => node)).size
  return (
    <Section
      title="Nodes"
      aside={
        <Text size="sm" c="dimmed">
          {nodes} {nodes === 1 ? 'node' : 'nodes'}, {serving.length} {serving.length === 1 ? 'process' : 'processes'}
        </Text>
      }
    >
      <Stack gap="sm">
        {differing.length > 0 && (
          <Text size="sm" role="status">
            The nodes differ in: {differing.join(', ')}. This is normal while a change is being rolled out.
          </Text>
        )}
        <SortedTable
          label="Nodes"
          rows={processes}
          worths={{
            Node: ({ node, worker }) => `${node} ${String(worker ?? 0).padStart(3, '0')}`,
            State: ({ state, seen_at }) => `${state} ${seen_at}`,
            Version: ({ version }) => version,
            'Up for': ({ seen_at, started_at }) => Date.parse(seen_at) - Date.parse(started_at),
            Configuration: ({ configuration }) => configuration.age_seconds,
            Weakened: ({ weakenings }) => weakenings.length
          }}
          columns={['Node', 'State', 'Version', 'Up for', 'Configuration', 'Policies', 'Weakened']}
          minWidth={820}
        >
          {(each) => (
            <Table.Tr key={`${each.node} ${each.pid} ${each.started_at}`}>
              <Table.Td>
                <Group gap={6} wrap="nowrap">
                  <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                    {each.node}
                    {each.worker !== null && `, worker ${each.worker}`}
                  </Text>
                  {each.answers && (
                    <Badge size="sm" variant="default" tt="none">
                      answers this page
                    </Badge>
                  )}
                </Group>
              </Table.Td>
              <Table.Td>
                {each.state === 'serving' ? (
                  <Badge color="teal" variant="light" className="readable">
                    serving
                  </Badge>
                ) : (
                  <Badge color="red" variant="light" tt="none" className="readable">
                    last seen <Ago at={each.seen_at} />
                  </Badge>
                )}
              </Table.Td>
              <Table.Td className="nowrap">{each.version}</Table.Td>
              <Table.Td className="nowrap">
                {lengthOf((Date.parse(each.seen_at) - Date.parse(each.started_at)) / 1000)}
              </Table.Td>
              <Table.Td className="nowrap">{lengthOf(each.configuration.age_seconds)} old</Table.Td>
              <Table.Td>{policiesOf(each)}</Table.Td>
              <Table.Td>{each.weakenings.length === 0 ? 'no' : `by ${each.weakenings.length}`}</Table.Td>
            </Table.Tr>
          )}
        </SortedTable>
      </Stack>
    </Section>
  )
}

function policiesOf({ policies }: Process): string {
  return policies.map(({ name, version }) => `${name}@${version}`).join(', ')
}

function differencesOf(processes: Process[]): string[] {
  const facts: [string, (process: Process) => string][] = [
    ['the version', ({ version }) => version],
    ['the policies', policiesOf],
    ['the weakening settings', ({ weakenings }) => [...weakenings].sort().join()]
  ]
  return facts.flatMap(([name, of]) => (new Set(processes.map(of)).size > 1 ? [name] : []))
}
