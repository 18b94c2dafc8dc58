/**
 * Every version of a constitution, the history of versions in force, and the buttons to put one in force or roll back.
 */
import { Badge, Button, Group, Stack, Table, Text, Timeline } from '@mantine/core'
import { IconArrowBackUp, IconBolt, IconFile } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { SortedTable } from '../components/data-table'
import { useMay } from '../components/may'
import { useNames } from '../components/names'
import { Ago, instant } from '../components/time'
import { Empty, Loaded, Section } from '../components/view'
import type { Constitution, Version } from '../constitution-types'
import { PutInForce, whoOf } from './put-in-force'

interface VersionsProps {
  constitution: Constitution
  /** The version that the editor shows. */
  shown: number
  open(version: number): void
}

export function Versions({ constitution, shown, open }: VersionsProps) {
  const { name } = constitution
  const mayWrite = useMay('constitutions:write')
  const nameOf = useNames()
  const [asked, setAsked] = useState<Version>()
  const versions = useQuery({
    queryKey: ['versions', name, constitution.versions, constitution.version],
    queryFn: () => api.versions(name)
  })
  const history = useQuery({
    queryKey: ['activations', name, constitution.version],
    queryFn: () => api.activations(name)
  })
  return (
    <Stack>
      <Section title="Versions">
        <Loaded query={versions}>
          {(data) => (
            <SortedTable
              label="Versions"
              rows={data.versions}
              worths={{
                Version: ({ version }) => version,
                Note: ({ note }) => note,
                Stored: ({ created_at }) => created_at,
                By: ({ created_by, origin }) => whoOf(created_by, origin, nameOf)
              }}
              columns={['Version', 'Note', 'Stored', 'By', { name: 'Actions', as: 'unseen' }]}
              minWidth={680}
              maxHeight={420}
              verticalSpacing="xs"
            >
              {(version) => (
                <Table.Tr key={version.version} aria-current={version.version === shown || undefined}>
                  <Table.Td>
                    <Group gap="xs" wrap="nowrap">
                      <Text size="sm" fw={600}>
                        {version.version}
                      </Text>
                      {version.active && (
                        <Badge color="teal" variant="light" className="readable">
                          in force
                        </Badge>
                      )}
                    </Group>
                  </Table.Td>
                  <Table.Td maw={280}>
                    <Text size="sm" className="one-line" title={version.note ?? undefined}>
                      {version.note ?? '–'}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Ago at={version.created_at} size="sm" />
                  </Table.Td>
                  <Table.Td>
                    <Text size="sm">{whoOf(version.created_by, version.origin, nameOf)}</Text>
                  </Table.Td>
                  <Table.Td>
                    <Group gap="xs" justify="flex-end" wrap="nowrap">
                      <Button
                        size="compact-sm"
                        variant="default"
                        disabled={version.version === shown}
                        aria-label={`Open version ${version.version}`}
                        onClick={() => open(version.version)}
                      >
                        Open
                      </Button>
                      {mayWrite && !version.active && (
                        <Button size="compact-sm" onClick={() => setAsked(version)}>
                          {constitution.version !== null && version.version < constitution.version
                            ? 'Roll back …'
                            : 'Put in force …'}
                        </Button>
                      )}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              )}
            </SortedTable>
          )}
        </Loaded>
      </Section>
      <Section title="History">
        <Loaded query={history}>
          {({ activations }) =>
            activations.length === 0 ? (
              <Empty title="No version has been in force yet">
                Put a version in force: it then judges the routes that are bound to it.
              </Empty>
            ) : (
              <Timeline bulletSize={24} lineWidth={2} active={0}>
                {activations.slice(0, 20).map(({ from, to, at, by, origin }) => (
                  <Timeline.Item
                    key={`${at} ${to}`}
                    bullet={
                      origin === 'file' ? (
                        <IconFile size={13} aria-hidden />
                      ) : from !== null && to < from ? (
                        <IconArrowBackUp size={13} aria-hidden />
                      ) : (
                        <IconBolt size={13} aria-hidden />
                      )
                    }
                    title={
                      <Text size="sm" fw={600}>
                        Version {to}
                        {from === null ? '' : to < from ? `, back from ${from}` : `, after ${from}`}
                      </Text>
                    }
                  >
                    <Text size="xs" c="dimmed">
                      {instant(at)} · {whoOf(by, origin, nameOf)}
                    </Text>
                  </Timeline.Item>
                ))}
              </Timeline>
            )
          }
        </Loaded>
      </Section>
      {asked !== undefined && (
        <PutInForce constitution={constitution} version={asked} onClose={() => setAsked(undefined)} />
      )}
    </Stack>
  )
}
