/** Which constitution judges which route: as set in the configuration, or bound in the store. */
import { Alert, Badge, Group, Select, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../api'
import { useConfirmed } from '../components/confirm'
import { SortedTable } from '../components/data-table'
import { useMay } from '../components/may'
import { useNames } from '../components/names'
import { tell, tellError } from '../components/notify'
import { instant } from '../components/time'
import { Empty, Loaded, Section } from '../components/view'
import type { BoundRoute, Constitution } from '../constitution-types'
import { whoOf } from './put-in-force'

const configuration = ''

export function Routes({ constitutions }: { constitutions: Constitution[] }) {
  const routes = useQuery({ queryKey: ['routes'], queryFn: api.routes, refetchInterval: 15_000 })
  return (
    <Section title="Routes">
      <Stack>
        <Text size="sm" c="dimmed">
          The configuration takes precedence: a route keeps the constitution that it names there. Bind any other route
          here; the binding applies to requests that begin afterwards. The evaluate endpoint is judged by `default`.
        </Text>
        <Loaded query={routes}>
          {({ routes }) =>
            routes.length === 0 ? (
              <Empty title="No routes">The configuration has no routes.</Empty>
            ) : (
              <SortedTable
                label="Routes"
                rows={routes}
                worths={{
                  Route: ({ route }) => route,
                  Upstream: ({ upstream }) => upstream,
                  'Judged by': ({ constitution }) => constitution,
                  'Set by': ({ file, store }) => (file !== null ? 'configuration' : store?.constitution)
                }}
                columns={['Route', 'Upstream', 'Judged by', 'Set by']}
                minWidth={720}
                verticalSpacing="xs"
              >
                {(route) => <RouteRow key={route.route} route={route} constitutions={constitutions} />}
              </SortedTable>
            )
          }
        </Loaded>
      </Stack>
    </Section>
  )
}

function RouteRow({ route, constitutions }: { route: BoundRoute; constitutions: Constitution[] }) {
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const nameOf = useNames()
  const mayWrite = useMay('constitutions:write')
  const { store, file } = route
  const bind = useMutation({
    mutationFn: (constitution: string | null) =>
      confirmed(() => api.bind({ route: route.route, constitution, if_constitution: store?.constitution ?? null })),
    onError: tellError,
    onSuccess: ({ constitution }) => tell(`${route.route} is judged by ${constitution}.`),
    onSettled: () => client.invalidateQueries({ queryKey: ['routes'] })
  })
  const inForce = constitutions.filter(({ in_force }) => in_force).map(({ name }) => name)
  const isGone = route.path === undefined
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={600} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {route.route}
        </Text>
        <Text size="xs" c="dimmed">
          {isGone ? 'no longer in the configuration' : route.dialect}
          {route.models === undefined ? '' : ` · ${route.models.join(', ')}`}
        </Text>
      </Table.Td>
      <Table.Td>{route.upstream ?? '–'}</Table.Td>
      <Table.Td>
        {file !== null || !mayWrite ? (
          <Text size="sm">{route.constitution ?? '–'}</Text>
        ) : (
          <Select
            size="xs"
            aria-label={`What judges ${route.route}`}
            data={[
              { value: configuration, label: isGone ? 'none' : 'default (nothing bound)' },
              ...inForce.map((name) => ({ value: name, label: name }))
            ]}
            allowDeselect={false}
            disabled={bind.isPending}
            value={store?.constitution ?? configuration}
            onChange={(value) => bind.mutate(value === configuration ? null : value)}
          />
        )}
        {!route.in_force && !isGone && (
          <Alert color="red" variant="light" mt={4} p={6}>
            Not in force here: this route refuses every request.
          </Alert>
        )}
      </Table.Td>
      <Table.Td>
        <Stack gap={2}>
          <Group gap={6}>
            {file !== null && (
              <Badge variant="default" tt="none">
                file: {file}
              </Badge>
            )}
            {store !== null && store.constitution !== null && (
              <Badge variant="light" color={file === null ? 'cyan' : 'gray'} tt="none" className="readable">
                store: {store.constitution}
                {file === null ? '' : ', not used'}
              </Badge>
            )}
            {file === null && (store === null || store.constitution === null) && (
              <Text size="sm" c="dimmed">
                nothing
              </Text>
            )}
          </Group>
          {store !== null && (
            <Text size="xs" c="dimmed">
              {store.constitution === null ? 'unbound ' : ''}
              {instant(store.at)} · {whoOf(store.by, store.origin, nameOf)}
            </Text>
          )}
        </Stack>
      </Table.Td>
    </Table.Tr>
  )
}
