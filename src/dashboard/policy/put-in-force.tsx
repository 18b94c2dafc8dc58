/** Asks before a version is put in force or rolled back, and shows the differences in its text and its decisions. */
import { Alert, Button, Center, Group, Loader, Modal, Stack, Tabs, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { api } from '../api'
import { useConfirmed } from '../components/confirm'
import { useNames } from '../components/names'
import { tell, tellError } from '../components/notify'
import { instant } from '../components/time'
import { Loaded } from '../components/view'
import type { Constitution, Version } from '../constitution-types'
import { Decisions } from './decisions'

const TextDiff = lazy(async () => ({ default: (await import('./text-diff')).TextDiff }))

interface PutInForceProps {
  constitution: Constitution
  version: Version
  onClose(): void
}

export function PutInForce({ constitution, version, onClose }: PutInForceProps) {
  const { name, version: active } = constitution
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const nameOf = useNames()
  const isBack = active !== null && version.version < active
  const both = useQuery({
    queryKey: ['diff', name, active, version.version],
    queryFn: async () => ({
      before: active === null ? '' : (await api.version(name, active)).source,
      after: (await api.version(name, version.version)).source
    }),
    staleTime: Number.POSITIVE_INFINITY
  })
  const activate = useMutation({
    mutationFn: () => confirmed(() => api.activate(name, { version: version.version, if_active: active })),
    onError: tellError,
    onSuccess: () => {
      tell(`${name} version ${version.version} is in force.`)
      onClose()
    },
    onSettled: () => {
      for (const queryKey of [['constitutions'], ['versions'], ['activations'], ['routes']])
        client.invalidateQueries({ queryKey })
    }
  })
  const word = isBack ? 'Roll back' : 'Put in force'
  return (
    <Modal
      opened
      onClose={onClose}
      size="min(1180px, 94vw)"
      title={`${word}: ${name} version ${version.version}${active === null ? '' : `, in the place of ${active}`}`}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          Stored {instant(version.created_at)} by {whoOf(version.created_by, version.origin, nameOf)}
          {version.note === null ? '' : `: “${version.note}”`}. It will judge every request that begins afterwards, on
          every node; requests under way keep the version they began with.
        </Text>
        {active === null && (
          <Alert color="gray" variant="light">
            No version of {name} is in force yet. It judges a route once the route is bound to it.
          </Alert>
        )}
        <Tabs defaultValue="text">
          <Tabs.List>
            <Tabs.Tab value="text">Text</Tabs.Tab>
            <Tabs.Tab value="decisions">Decisions</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="text" pt="sm">
            <Loaded query={both}>
              {({ before, after }) =>
                before === after ? (
                  <Text size="sm">The texts are the same.</Text>
                ) : (
                  <Suspense fallback={<Waiting />}>
                    <TextDiff
                      before={before}
                      after={after}
                      names={{ before: `Version ${active ?? '–'}`, after: `Version ${version.version}` }}
                    />
                  </Suspense>
                )
              }
            </Loaded>
          </Tabs.Panel>
          <Tabs.Panel value="decisions" pt="sm">
            <Decisions
              candidate={{ name, version: version.version }}
              names={{ beside: 'In force', candidate: `Version ${version.version}` }}
              examples={constitution.name}
              runs
            />
          </Tabs.Panel>
        </Tabs>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            color={isBack ? 'yellow.9' : undefined}
            loading={activate.isPending}
            onClick={() => activate.mutate()}
          >
            {word}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Who, as people read it: a person or key by name, or the way it came. */
export function whoOf(by: string | null, origin: string, nameOf: (id: string) => string): string {
  if (by !== null) return nameOf(by)
  return origin === 'file' ? 'a file of the configuration' : 'the command line'
}

function Waiting() {
  return (
    <Center mih={240}>
      <Loader aria-label="Loading" />
    </Center>
  )
}
