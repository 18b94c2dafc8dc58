/** The account's keys: what they may do, when they were last used, how they end. */
import {
  ActionIcon,
  Badge,
  Button,
  Card,
  Code,
  Group,
  Menu,
  Modal,
  Stack,
  Switch,
  Table,
  Text,
  TextInput
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDots, IconKey, IconPlus, IconRefresh, IconSearch, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../api'
import { StatusBadge } from '../components/badges'
import { useConfirmed } from '../components/confirm'
import { SecretDialog } from '../components/copy-secret'
import { DataTable } from '../components/data-table'
import { KeyForm } from '../components/key-form'
import { tell, tellError } from '../components/notify'
import { useSorted } from '../components/sorting'
import { Ago, Countdown } from '../components/time'
import { Empty, Loaded, PageHeader } from '../components/view'
import { usePlace } from '../router'
import type { KeyRecord, NewKey } from '../types'

type Act = 'rotate' | 'revoke' | 'revoke-chain'
type Asked = { act: Act; key: KeyRecord }

const asking: Record<Act, { title: string; about: string; button: string }> = {
  rotate: {
    title: 'Rotate this key?',
    about: 'You get a new key with the same rights. The old one works for five more minutes.',
    button: 'Rotate'
  },
  revoke: {
    title: 'Revoke this key?',
    about: 'Every program that uses it is refused from now on. This cannot be undone.',
    button: 'Revoke'
  },
  'revoke-chain': {
    title: 'Revoke this key and every rotation of it?',
    about: 'Use this if somebody else has rotated the key: all keys of its chain stop working. This cannot be undone.',
    button: 'Revoke them all'
  }
}

export function Keys() {
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const keys = useQuery({ queryKey: ['keys'], queryFn: api.keys, refetchInterval: 5_000 })
  const status = useQuery({ queryKey: ['status'], queryFn: api.status, staleTime: 30_000 })
  const usage = useQuery({ queryKey: ['usage', 'week'], queryFn: () => api.usage(lastWeek()), staleTime: 30_000 })
  const [creating, { open, close }] = useDisclosure()
  const [asked, setAsked] = useState<Asked>()
  const [secret, setSecret] = useState<string>()
  // A link from the search names a key, ended or not.
  const named = usePlace().query.get('find') ?? ''
  const [search, setSearch] = useState(named)
  const [withEnded, setWithEnded] = useState(named !== '')
  useEffect(() => {
    if (named === '') return
    setSearch(named)
    setWithEnded(true)
  }, [named])
  const refresh = () => client.invalidateQueries({ queryKey: ['keys'] })

  const create = useMutation({
    mutationFn: (key: NewKey) => confirmed(() => api.createKey(key)),
    onSuccess: ({ key }) => {
      close()
      setSecret(key)
      refresh()
    }
  })
  const end = useMutation({
    mutationFn: ({ act, key }: Asked): Promise<KeyRecord | { key: string } | { keys: KeyRecord[] }> => {
      if (act === 'revoke') return api.revokeKey(key.key_id)
      return act === 'rotate' ? confirmed(() => api.rotateKey(key.key_id)) : api.revokeLineage(key.lineage)
    },
    onError: tellError,
    onSettled: () => {
      setAsked(undefined)
      refresh()
    },
    onSuccess: (reply, { key }) => {
      if ('key' in reply) setSecret(reply.key)
      else tell(`${key.name} is revoked.`)
    }
  })
  const counts = new Map<string, number>()
  for (const { key_id, evaluations } of usage.data?.days ?? [])
    counts.set(key_id, (counts.get(key_id) ?? 0) + evaluations)

  const wanted = search.trim().toLowerCase()
  const found = (keys.data?.keys ?? []).filter(
    ({ name, prefix, key_id, status }) =>
      (withEnded || status === 'active' || status === 'retiring') &&
      (wanted === '' || `${name} ${prefix} ${key_id}`.toLowerCase().includes(wanted))
  )
  const ended = (keys.data?.keys ?? []).filter(({ status }) => status === 'revoked' || status === 'expired').length
  const { rows, sorting } = useSorted('keys', found, {
    Name: ({ name }) => name.toLowerCase(),
    Status: ({ status }) => status,
    'Last used': ({ last_used_at }) => last_used_at,
    'Calls, 7 days': ({ key_id }) => counts.get(key_id) ?? 0
  })

  return (
    <>
      <PageHeader
        title="Keys"
        about="API keys that clients send to this gateway. A key is shown once; only its hash is stored."
      >
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
          Create a key
        </Button>
      </PageHeader>
      <Card withBorder padding={0}>
        <Loaded query={keys}>
          {(data) =>
            data.keys.length === 0 ? (
              <Empty title="No keys yet" Icon={IconKey}>
                A client sends its key as <Code>X-API-Key</Code> or <Code>Authorization: Bearer</Code>. Create one for
                each client, so that each has its own usage, limits and revocation.
              </Empty>
            ) : (
              <>
                <Group p="sm" justify="space-between">
                  <TextInput
                    aria-label="Find a key"
                    placeholder="Name or beginning of a key"
                    leftSection={<IconSearch size={16} aria-hidden />}
                    value={search}
                    onChange={(event) => setSearch(event.currentTarget.value)}
                    w={{ base: '100%', sm: 280 }}
                  />
                  {ended > 0 && (
                    <Switch
                      label={`Show ended keys (${ended})`}
                      checked={withEnded}
                      onChange={(event) => setWithEnded(event.currentTarget.checked)}
                    />
                  )}
                </Group>
                <DataTable
                  label="Keys"
                  columns={[
                    'Name',
                    'Key',
                    'Status',
                    'Scopes',
                    'Last used',
                    { name: 'Calls, 7 days', as: 'end' },
                    { name: 'Actions', as: 'unseen' }
                  ]}
                  minWidth={860}
                  sorting={sorting}
                  verticalSpacing="sm"
                  horizontalSpacing="md"
                  highlightOnHover
                >
                  {rows.map((key) => (
                    <KeyRow key={key.key_id} record={key} calls={counts.get(key.key_id)} ask={setAsked} />
                  ))}
                </DataTable>
                {rows.length === 0 && (
                  <Text size="sm" c="dimmed" p="md">
                    No {ended > 0 && !withEnded ? 'active key' : 'key'} matches.
                  </Text>
                )}
              </>
            )
          }
        </Loaded>
      </Card>

      <Modal opened={creating} onClose={close} title="Create a key" size="lg">
        <KeyForm
          termsUrl={status.data?.terms_url ?? null}
          onSubmit={create.mutate}
          busy={create.isPending}
          error={create.error}
        />
      </Modal>
      <Modal opened={asked !== undefined} onClose={() => setAsked(undefined)} title={asked && asking[asked.act].title}>
        <Stack>
          <Text size="sm">{asked && asking[asked.act].about}</Text>
          <Text fw={600}>
            {asked?.key.name} <Code>{asked?.key.prefix}…</Code>
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsked(undefined)}>
              Cancel
            </Button>
            <Button
              data-autofocus
              color={asked?.act === 'rotate' ? undefined : 'red.8'}
              loading={end.isPending}
              onClick={() => asked !== undefined && end.mutate(asked)}
            >
              {asked && asking[asked.act].button}
            </Button>
          </Group>
        </Stack>
      </Modal>
      <SecretDialog title="Your new key" secret={secret} what="key" onDone={() => setSecret(undefined)} />
    </>
  )
}

function KeyRow({ record, calls, ask }: { record: KeyRecord; calls: number | undefined; ask(asked: Asked): void }) {
  const { name, prefix, environment, status, scopes, ip_allowlist, last_used_at, expires_at, revoked_at } = record
  const { rate_limit_per_minute: limit, max_concurrent: atOnce } = record
  const isOpen = status === 'active' || status === 'retiring'
  return (
    <Table.Tr opacity={isOpen ? 1 : 0.75}>
      <Table.Td maw={240}>
        <Text size="sm" fw={600} className="one-line" title={name}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {environment}
          {limit !== null && ` · ${limit.toLocaleString('en')} a minute`}
          {atOnce !== null && ` · ${atOnce.toLocaleString('en')} at once`}
          {!record.self_rotation && ' · no self-rotation'}
          {ip_allowlist.length > 0 && ` · ${ip_allowlist.length} address${ip_allowlist.length === 1 ? '' : 'es'}`}
          {record.terms !== null && (
            <>
              {' '}
              · terms accepted <Ago at={record.terms.accepted_at} />
            </>
          )}
          {expires_at !== null && (
            <>
              {' '}
              · ends <Ago at={expires_at} />
            </>
          )}
        </Text>
      </Table.Td>
      <Table.Td>
        <Code className="nowrap">{prefix}…</Code>
      </Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          <StatusBadge status={status} />
          {status === 'retiring' && revoked_at !== null && <Countdown until={revoked_at} />}
        </Group>
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          {scopes.map((scope) => (
            <Badge key={scope} variant="default" size="sm" tt="none" fw={500} className="whole">
              {scope === '*' ? 'everything (*)' : scope}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td>
        <Ago at={last_used_at} size="sm" />
      </Table.Td>
      <Table.Td ta="right">{calls === undefined ? '0' : calls.toLocaleString('en')}</Table.Td>
      <Table.Td ta="right">
        {isOpen && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
                <IconDots size={18} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconRefresh size={16} aria-hidden />}
                disabled={status !== 'active'}
                onClick={() => ask({ act: 'rotate', key: record })}
              >
                Rotate
              </Menu.Item>
              <Menu.Item
                leftSection={<IconTrash size={16} aria-hidden />}
                color="red"
                onClick={() => ask({ act: 'revoke', key: record })}
              >
                Revoke
              </Menu.Item>
              <Menu.Item
                leftSection={<IconTrash size={16} aria-hidden />}
                color="red"
                onClick={() => ask({ act: 'revoke-chain', key: record })}
              >
                Revoke it and its rotations
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function lastWeek(): { from: string; to: string } {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  return { from: day(6), to: day(0) }
}
