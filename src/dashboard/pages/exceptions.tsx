/** Decisions that somebody says were wrong, and what was excepted because of it. */
import { Badge, Button, Card, Group, Modal, Select, Stack, Table, Text, Textarea, TextInput } from '@mantine/core'
import { IconFlag, IconMoodCheck } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { useConfirmed } from '../components/confirm'
import { DataTable } from '../components/data-table'
import { useMay } from '../components/may'
import { useNames } from '../components/names'
import { messageOf, tell, tellError } from '../components/notify'
import { SampleOf } from '../components/sample-view'
import { useSorted } from '../components/sorting'
import { Ago } from '../components/time'
import { Empty, Loaded, PageHeader } from '../components/view'
import { usePlace } from '../router'
import type { Exception } from '../types'

const colors: Record<Exception['state'], string> = {
  proposed: 'yellow',
  accepted: 'teal',
  rejected: 'gray',
  revoked: 'gray',
  expired: 'gray'
}

export function Exceptions() {
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const nameOf = useNames()
  const list = useQuery({ queryKey: ['exceptions'], queryFn: api.exceptions, refetchInterval: 15_000 })
  const given = usePlace().query.get('evaluation') ?? ''
  const [reporting, setReporting] = useState(given !== '')
  const mayDecide = useMay('constitutions:write')
  const [accepting, setAccepting] = useState<Exception>()
  const settle = {
    onError: tellError,
    onSettled: () => client.invalidateQueries({ queryKey: ['exceptions'] })
  }
  const decide = useMutation({
    mutationFn: ({ id, ...body }: { id: string; decision: 'accept' | 'reject'; scope?: string; expires_in?: string }) =>
      confirmed(() => api.decideException(id, body)),
    ...settle,
    onSuccess: () => setAccepting(undefined)
  })
  const end = useMutation({ mutationFn: api.endException, ...settle })

  const { rows, sorting } = useSorted('exceptions', list.data?.exceptions ?? [], {
    State: ({ state }) => state,
    Rules: ({ rules }) => rules.join(),
    Proposed: ({ proposed_at }) => proposed_at,
    Ends: ({ expires_at }) => expires_at
  })

  return (
    <>
      <PageHeader
        title="Exceptions"
        about="For one text of one client, and for a limited time, the rules that were wrong do not count. Their matches are still shown."
      >
        <Button leftSection={<IconFlag size={16} aria-hidden />} onClick={() => setReporting(true)}>
          This was wrong
        </Button>
      </PageHeader>
      <Card withBorder padding={0}>
        <Loaded query={list}>
          {({ exceptions }) =>
            exceptions.length === 0 ? (
              <Empty title="No decision has been reported as wrong" Icon={IconMoodCheck}>
                Every answer carries the id of its evaluation. Clients use it to report a wrong decision; you can do so
                on each row of the page Audit, or here. An accepted exception ends by itself.
              </Empty>
            ) : (
              <DataTable
                label="Exceptions"
                columns={['State', 'Rules', 'Note', 'Proposed', 'Ends', { name: 'Actions', as: 'unseen' }]}
                minWidth={760}
                sorting={sorting}
                horizontalSpacing="md"
                verticalSpacing="sm"
              >
                {rows.map((one) => (
                  <Table.Tr key={one.exception_id}>
                    <Table.Td>
                      <Badge color={colors[one.state]} variant="light" className="readable">
                        {one.state}
                      </Badge>
                      {one.decided_by !== null && (
                        <Text size="xs" c="dimmed">
                          by {nameOf(one.decided_by)}
                        </Text>
                      )}
                    </Table.Td>
                    <Table.Td maw={240}>
                      <Text size="sm">{one.rules.join(', ')}</Text>
                      <Text size="xs" c="dimmed">
                        {one.policy} · for {one.scope === 'account' ? 'the whole account' : nameOf(one.key_id)}
                      </Text>
                    </Table.Td>
                    <Table.Td maw={260} style={{ overflowWrap: 'anywhere' }}>
                      {one.note ?? '–'}
                    </Table.Td>
                    <Table.Td>
                      <Ago at={one.proposed_at} size="sm" />
                    </Table.Td>
                    <Table.Td>
                      <Ago at={one.expires_at} never="–" size="sm" />
                    </Table.Td>
                    <Table.Td>
                      <Group gap="xs" justify="flex-end" wrap="nowrap">
                        {mayDecide && one.state === 'proposed' && (
                          <>
                            <Button size="compact-sm" onClick={() => setAccepting(one)}>
                              Accept
                            </Button>
                            <Button
                              size="compact-sm"
                              variant="default"
                              onClick={() => decide.mutate({ id: one.exception_id, decision: 'reject' })}
                            >
                              Reject
                            </Button>
                          </>
                        )}
                        {mayDecide && one.state === 'accepted' && (
                          <Button size="compact-sm" variant="default" onClick={() => end.mutate(one.exception_id)}>
                            End it
                          </Button>
                        )}
                      </Group>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
            )
          }
        </Loaded>
      </Card>
      <Modal opened={reporting} onClose={() => setReporting(false)} title="Report a wrong decision">
        <Report given={given} onDone={() => setReporting(false)} />
      </Modal>
      <Modal
        opened={accepting !== undefined}
        onClose={() => setAccepting(undefined)}
        title="Accept the exception"
        size="lg"
      >
        {accepting !== undefined && <SampleOf evaluation={accepting.evaluation_id} />}
        {accepting !== undefined && (
          <Terms
            busy={decide.isPending}
            onSubmit={(terms) => decide.mutate({ id: accepting.exception_id, decision: 'accept', ...terms })}
          />
        )}
      </Modal>
    </>
  )
}

function Report({ given, onDone }: { given: string; onDone(): void }) {
  const client = useQueryClient()
  const [id, setId] = useState(given)
  const [note, setNote] = useState('')
  const propose = useMutation({
    mutationFn: () => api.feedback({ evaluation_id: id.trim(), ...(note !== '' && { note }) }),
    onSuccess: () => {
      tell('Proposed. It changes nothing until it is accepted.')
      client.invalidateQueries({ queryKey: ['exceptions'] })
      onDone()
    }
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        propose.mutate()
      }}
    >
      <Stack>
        <TextInput
          label="Evaluation"
          description="The evaluation_id, or the header x-safety-evaluation-id."
          placeholder="ev_…"
          required
          data-autofocus
          value={id}
          error={propose.isError ? messageOf(propose.error) : undefined}
          onChange={(event) => setId(event.currentTarget.value)}
        />
        <Textarea
          label="Why"
          maxLength={2000}
          autosize
          minRows={2}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <Button type="submit" loading={propose.isPending}>
          Propose an exception
        </Button>
      </Stack>
    </form>
  )
}

function Terms({ busy, onSubmit }: { busy: boolean; onSubmit(terms: { scope: string; expires_in: string }): void }) {
  const [scope, setScope] = useState('key')
  const [expires, setExpires] = useState('30d')
  return (
    <Stack>
      <Select
        label="For whom"
        data={[
          { value: 'key', label: 'the affected client' },
          { value: 'account', label: 'the whole account' }
        ]}
        allowDeselect={false}
        value={scope}
        onChange={(value) => setScope(value ?? 'key')}
      />
      <Select
        label="For how long"
        data={['1d', '7d', '30d', '90d', '366d']}
        allowDeselect={false}
        value={expires}
        onChange={(value) => setExpires(value ?? '30d')}
      />
      <Button loading={busy} data-autofocus onClick={() => onSubmit({ scope, expires_in: expires })}>
        Accept
      </Button>
    </Stack>
  )
}
