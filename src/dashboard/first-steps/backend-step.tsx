/**
 * The first step: the backend that answers chats. At first it is the demo backend; a real one is connected here, or
 * configured.
 */
import { Badge, Button, Code, Group, Stack, Text } from '@mantine/core'
import { IconPlugConnected, IconPlugConnectedX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { useConfirmed } from '../components/confirm'
import { tell, tellError } from '../components/notify'
import type { BackendApi, Upstream, Upstreams } from '../types'
import { apis } from './ask'
import { ConnectForm } from './connect-form'
import { Step } from './step'

/** The upstream that the published routes lead to. */
const name = 'default'

interface BackendStepProps {
  upstreams: Upstreams
  /** Told the models of a backend that was just connected. */
  onModels(models: readonly string[]): void
}

export function backendOf({ upstreams }: Upstreams): Upstream | undefined {
  return upstreams.find((one) => one.name === name && one.in_force)
}

export function BackendStep({ upstreams, onModels }: BackendStepProps) {
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const [isOpen, setOpen] = useState(false)
  const backend = backendOf(upstreams)
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['upstreams'] }),
      client.invalidateQueries({ queryKey: ['status'] })
    ])
  const connect = useMutation({
    mutationFn: (body: { url: string; api: BackendApi; key?: string }) =>
      confirmed(() => api.connectUpstream(name, body)),
    onSuccess: async ({ models }) => {
      onModels(models)
      await refresh()
      setOpen(false)
      tell(`The backend is connected. It has ${models.length === 1 ? 'one model' : `${models.length} models`}.`)
    }
  })
  const leave = useMutation({
    mutationFn: () => confirmed(() => api.disconnectUpstream(name)),
    onError: tellError,
    onSuccess: async () => {
      onModels([])
      await refresh()
      tell('The backend is disconnected, and its key erased. The demo backend answers again.')
    }
  })
  const mayConnect = upstreams.closed === null && backend?.from !== 'configuration'

  return (
    <Step
      number={1}
      title="Connect your backend"
      done={backend !== undefined}
      about="The model API behind the gateway. You can do this later: until then the demo backend answers every SDK."
    >
      <Stack gap="sm" align="flex-start">
        {backend === undefined ? (
          <Group gap="xs">
            <Badge color="gray" variant="light" className="readable">
              demo
            </Badge>
            <Text size="sm">The built-in demo backend answers; no model is needed.</Text>
          </Group>
        ) : (
          <Group gap="xs">
            <Badge color="teal" variant="light" className="readable">
              {backend.from === 'api' ? 'connected' : 'configured'}
            </Badge>
            <Code style={{ overflowWrap: 'anywhere' }}>{backend.url}</Code>
            <Text size="sm" c="dimmed">
              {backend.api !== null && `${apis[backend.api]}, `}
              {backend.has_key ? 'with a key' : 'without a key'}
            </Text>
          </Group>
        )}
        {upstreams.closed !== null && (
          <Text size="sm" c="dimmed">
            {upstreams.closed}
          </Text>
        )}
        {mayConnect && !isOpen && (
          <Group>
            <Button
              leftSection={<IconPlugConnected size={16} aria-hidden />}
              variant={backend === undefined ? 'filled' : 'default'}
              onClick={() => setOpen(true)}
            >
              {backend === undefined ? 'Connect a backend' : 'Connect another'}
            </Button>
            {backend?.from === 'api' && (
              <Button
                variant="subtle"
                leftSection={<IconPlugConnectedX size={16} aria-hidden />}
                loading={leave.isPending}
                onClick={() => leave.mutate()}
              >
                Disconnect
              </Button>
            )}
          </Group>
        )}
        {mayConnect && isOpen && (
          <ConnectForm
            busy={connect.isPending}
            error={connect.error}
            onSubmit={connect.mutate}
            onCancel={() => {
              connect.reset()
              setOpen(false)
            }}
          />
        )}
      </Stack>
    </Step>
  )
}
