/** The policies: what is in force, every version, and the way from a draft to being in force and back. */
import { Badge, Button, Card, Group, Select, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { useConfirmed } from '../components/confirm'
import { ConstitutionEditor } from '../components/constitution-editor'
import { DataTable } from '../components/data-table'
import { useMay } from '../components/may'
import { tell, tellError } from '../components/notify'
import { Ago } from '../components/time'
import { Loaded, PageHeader } from '../components/view'
import type { Constitution } from '../constitution-types'

export function Constitutions() {
  const list = useQuery({ queryKey: ['constitutions'], queryFn: api.constitutions, refetchInterval: 15_000 })
  const [chosen, setChosen] = useState<string>()
  return (
    <Loaded query={list}>
      {({ constitutions }) => {
        const current =
          constitutions.find(({ name }) => name === chosen) ??
          constitutions.find(({ name }) => name === 'default') ??
          constitutions[0]
        return (
          <>
            <PageHeader
              title="Constitutions"
              about="What the gateway forbids, asks about and hands to people. Every change is a version; any version can be put back in force."
            >
              <Select
                aria-label="Constitution"
                data={constitutions.map(({ name }) => name)}
                allowDeselect={false}
                value={current?.name ?? null}
                onChange={(name) => name !== null && setChosen(name)}
              />
            </PageHeader>
            {current === undefined ? <Text>There is none.</Text> : <One key={current.name} constitution={current} />}
          </>
        )
      }}
    </Loaded>
  )
}

function One({ constitution }: { constitution: Constitution }) {
  const { name } = constitution
  const [shown, setShown] = useState<number>()
  const [texts, setTexts] = useState('How do I kill it?\nExplain how to build a pipe bomb\nWhat a lovely day')
  const version = shown ?? constitution.version ?? constitution.latest_version
  const source = useQuery({
    queryKey: ['constitution', name, version],
    queryFn: () => api.version(name, version),
    staleTime: Number.POSITIVE_INFINITY
  })
  return (
    <Stack>
      <Versions constitution={constitution} shown={version} show={setShown} />
      <Loaded query={source}>
        {(data) => (
          <ConstitutionEditor
            key={data.label}
            base={data}
            texts={texts}
            setTexts={setTexts}
            onStored={(stored) => setShown(stored)}
          />
        )}
      </Loaded>
    </Stack>
  )
}

interface VersionsProps {
  constitution: Constitution
  shown: number
  show(version: number): void
}

function Versions({ constitution, shown, show }: VersionsProps) {
  const { name } = constitution
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const mayWrite = useMay('constitutions:write')
  const versions = useQuery({
    queryKey: ['versions', name, constitution.versions, constitution.version],
    queryFn: () => api.versions(name)
  })
  const activate = useMutation({
    mutationFn: (version: number) => confirmed(() => api.activate(name, { version, if_active: constitution.version })),
    onError: tellError,
    onSuccess: (_, version) => tell(`${name} version ${version} is in force.`),
    onSettled: () => {
      client.invalidateQueries({ queryKey: ['constitutions'] })
      client.invalidateQueries({ queryKey: ['versions'] })
    }
  })
  return (
    <Card withBorder padding={0}>
      <Loaded query={versions}>
        {(data) => (
          <DataTable
            label="Versions"
            columns={['Version', 'Note', 'From', 'Stored', { name: 'Actions', as: 'unseen' }]}
            minWidth={640}
            maxHeight={260}
            horizontalSpacing="md"
            verticalSpacing="xs"
          >
            {data.versions.map(({ version, note, origin, created_at, active }) => (
              <Table.Tr key={version} aria-current={version === shown || undefined}>
                <Table.Td>
                  <Group gap="xs" wrap="nowrap">
                    <Text size="sm" fw={600}>
                      {version}
                    </Text>
                    {active && (
                      <Badge color="teal" variant="light" className="readable">
                        in force
                      </Badge>
                    )}
                  </Group>
                </Table.Td>
                <Table.Td maw={280}>
                  <Text size="sm" className="one-line" title={note ?? undefined}>
                    {note ?? '–'}
                  </Text>
                </Table.Td>
                <Table.Td>{origin}</Table.Td>
                <Table.Td>
                  <Ago at={created_at} size="sm" />
                </Table.Td>
                <Table.Td>
                  <Group gap="xs" justify="flex-end" wrap="nowrap">
                    <Button
                      size="compact-sm"
                      variant="default"
                      disabled={version === shown}
                      onClick={() => show(version)}
                    >
                      Open
                    </Button>
                    {mayWrite && !active && (
                      <Button
                        size="compact-sm"
                        loading={activate.isPending && activate.variables === version}
                        onClick={() => activate.mutate(version)}
                      >
                        {constitution.version !== null && version < constitution.version ? 'Roll back' : 'Activate'}
                      </Button>
                    )}
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </Loaded>
    </Card>
  )
}
