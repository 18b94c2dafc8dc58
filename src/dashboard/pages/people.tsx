/** Who may sign in, and as what. */
import { Badge, Button, Card, Menu, Modal, Select, Stack, Switch, Table, Text } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { useConfirmed } from '../components/confirm'
import { CopySecret } from '../components/copy-secret'
import { DataTable } from '../components/data-table'
import { tellError } from '../components/notify'
import { Ago } from '../components/time'
import { Loaded, PageHeader } from '../components/view'
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
    onSuccess: ({ path }) => setLink(new URL(path.replace('/dashboard/', ''), document.baseURI).href)
  })
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: string; role?: Role; disabled?: boolean }) =>
      confirmed(() => api.changeUser(id, body)),
    onError: tellError,
    onSettled: () => client.invalidateQueries({ queryKey: ['users'] })
  })
  return (
    <>
      <PageHeader title="People" about="Who may sign in here. Whoever is disabled is signed out everywhere at once.">
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
        <Loaded query={users}>
          {(data) => (
            <DataTable
              label="People"
              columns={['Login', 'Role', 'Signs in with', 'Last signed in', 'May sign in']}
              minWidth={640}
              horizontalSpacing="md"
              verticalSpacing="sm"
            >
              {data.users.map(({ user_id, login, role, status, signs_in_with, signed_in_at }) => (
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
      <Modal opened={link !== undefined} onClose={() => setLink(undefined)} title="Give them this link" size="lg">
        {link !== undefined && (
          <Stack>
            <Text size="sm">It works once, for 24 hours.</Text>
            <CopySecret secret={link} what="link" onDone={() => setLink(undefined)} />
          </Stack>
        )}
      </Modal>
    </>
  )
}
