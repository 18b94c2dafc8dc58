/** Who may sign in, and as what. */
import { Badge, Box, Button, Card, Menu, Select, Switch, Table, Text } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { useConfirmed } from '../components/confirm'
import { SecretDialog } from '../components/copy-secret'
import { DataTable, SortedTable } from '../components/data-table'
import { useNames } from '../components/names'
import { tell, tellError } from '../components/notify'
import { useSorted } from '../components/sorting'
import { Ago } from '../components/time'
import { Loaded, PageHeader, Section } from '../components/view'
import type { Role } from '../types'

const roles: { value: Role; label: string }[] = [
  { value: 'viewer', label: 'viewer: metrics, usage, constitutions' },
  { value: 'reviewer', label: 'reviewer: decides reviews too' },
  { value: 'admin', label: 'admin: everything' }
]

export function People() {
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const users = useQuery({ queryKey: ['users'], queryFn: api.users })
  const [link, setLink] = useState<string>()
  const invite = useMutation({
    mutationFn: (role: Role) => confirmed(() => api.invite(role)),
    onError: tellError,
    onSuccess: ({ path }) => {
      setLink(new URL(path.replace('/dashboard/', ''), document.baseURI).href)
      client.invalidateQueries({ queryKey: ['invitations'] })
    }
  })
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: string; role?: Role; reads_samples?: boolean; disabled?: boolean }) =>
      confirmed(() => api.changeUser(id, body)),
    onError: tellError,
    onSettled: () => {
      client.invalidateQueries({ queryKey: ['users'] })
      // The user may have changed their own rights.
      client.invalidateQueries({ queryKey: ['session'] })
    }
  })
  const { rows, sorting } = useSorted('people', users.data?.users ?? [], {
    Login: ({ login }) => login,
    Role: ({ role }) => roles.findIndex(({ value }) => value === role),
    'Last signed in': ({ signed_in_at }) => signed_in_at
  })
  return (
    <>
      <PageHeader
        title="People"
        about="People who may sign in here. A person who is disabled is signed out everywhere at once."
      >
        <Menu position="bottom-end">
          <Menu.Target>
            <Button leftSection={<IconUserPlus size={16} aria-hidden />} loading={invite.isPending}>
              Invite
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {roles.map(({ value, label }) => (
              <Menu.Item key={value} onClick={() => invite.mutate(value)}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </PageHeader>
      <Card withBorder padding={0}>
        <Loaded query={users} rows={3}>
          {() => (
            <DataTable
              label="People"
              columns={['Login', 'Role', 'Reads samples', 'Signs in with', 'Last signed in', 'May sign in']}
              minWidth={720}
              sorting={sorting}
              horizontalSpacing="md"
              verticalSpacing="sm"
            >
              {rows.map(({ user_id, login, role, reads_samples, status, signs_in_with, signed_in_at }) => (
                <Table.Tr key={user_id}>
                  <Table.Td maw={260}>
                    <Text size="sm" fw={600} className="one-line" title={login}>
                      {login}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Select
                      aria-label={`Role of ${login}`}
                      size="xs"
                      w={130}
                      data={roles.map(({ value }) => value)}
                      allowDeselect={false}
                      value={role}
                      onChange={(value) => value !== null && change.mutate({ id: user_id, role: value as Role })}
                    />
                  </Table.Td>
                  <Table.Td>
                    <Switch
                      aria-label={`${login} reads samples`}
                      checked={reads_samples}
                      onChange={(event) => change.mutate({ id: user_id, reads_samples: event.currentTarget.checked })}
                    />
                  </Table.Td>
                  <Table.Td>
                    <Badge variant="default" tt="none">
                      {signs_in_with === 'oidc' ? 'company' : 'password'}
                    </Badge>
                  </Table.Td>
                  <Table.Td>
                    <Ago at={signed_in_at} size="sm" />
                  </Table.Td>
                  <Table.Td>
                    <Switch
                      aria-label={`${login} may sign in`}
                      checked={status === 'active'}
                      onChange={(event) => change.mutate({ id: user_id, disabled: !event.currentTarget.checked })}
                    />
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )}
        </Loaded>
      </Card>
      {/* Below a list whose length is known. */}
      {users.data !== undefined && <Invitations />}
      <SecretDialog
        title="Give them this link"
        about="It works once, for 24 hours."
        secret={link}
        what="link"
        onDone={() => setLink(undefined)}
      />
    </>
  )
}

/** Links that were given out and not used yet. */
function Invitations() {
  const client = useQueryClient()
  const nameOf = useNames()
  const open = useQuery({ queryKey: ['invitations'], queryFn: api.invitations, refetchInterval: 15_000 })
  const withdraw = useMutation({
    mutationFn: api.withdraw,
    onError: tellError,
    onSuccess: () => tell('The link works no more.'),
    onSettled: () => client.invalidateQueries({ queryKey: ['invitations'] })
  })
  return (
    <Box mt="md">
      <Section title="Invitations not used yet">
        <Loaded query={open} rows={2}>
          {({ invitations }) =>
            invitations.length === 0 ? (
              <Text size="sm" c="dimmed">
                None. An invitation is a link for one person and one role; it ends after 24 hours.
              </Text>
            ) : (
              <SortedTable
                label="Invitations not used yet"
                name="invitations"
                rows={invitations}
                worths={{
                  Role: ({ role }) => role,
                  Made: ({ created_at }) => created_at,
                  By: ({ created_by }) => (created_by === null ? 'the program' : nameOf(created_by)),
                  Ends: ({ expires_at }) => expires_at
                }}
                columns={['Role', 'Made', 'By', 'Ends', { name: 'Actions', as: 'unseen' }]}
                minWidth={520}
              >
                {({ invitation_id, role, created_at, created_by, expires_at }) => (
                  <Table.Tr key={invitation_id}>
                    <Table.Td>{role}</Table.Td>
                    <Table.Td>
                      <Ago at={created_at} size="sm" />
                    </Table.Td>
                    <Table.Td>{created_by === null ? 'the program' : nameOf(created_by)}</Table.Td>
                    <Table.Td>
                      <Ago at={expires_at} size="sm" />
                    </Table.Td>
                    <Table.Td ta="right">
                      <Button
                        size="xs"
                        variant="default"
                        aria-label={`Withdraw the invitation of a ${role}`}
                        loading={withdraw.isPending && withdraw.variables === invitation_id}
                        onClick={() => withdraw.mutate(invitation_id)}
                      >
                        Withdraw
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                )}
              </SortedTable>
            )
          }
        </Loaded>
      </Section>
    </Box>
  )
}
