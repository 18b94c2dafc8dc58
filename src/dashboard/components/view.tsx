/** The layout parts that every page uses. */
import { Alert, Button, Card, Center, Group, Skeleton, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconAlertTriangle, IconInbox } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { messageOf } from './notify'

export function PageHeader({ title, about, children }: { title: string; about?: string; children?: ReactNode }) {
  return (
    <Group justify="space-between" align="flex-start" mb="lg" gap="sm">
      <div style={{ flex: '1 1 320px' }}>
        <Title order={1} size="h2">
          {title}
        </Title>
        {about !== undefined && (
          <Text c="dimmed" size="sm" maw={760}>
            {about}
          </Text>
        )}
      </div>
      {children !== undefined && <Group gap="sm">{children}</Group>}
    </Group>
  )
}

export function Section({ title, aside, children }: { title?: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <Card withBorder padding="lg" component="section" aria-label={title}>
      {title !== undefined && (
        <Group justify="space-between" mb="md">
          <Title order={2} size="h5">
            {title}
          </Title>
          {aside}
        </Group>
      )}
      {children}
    </Card>
  )
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlertTriangle aria-hidden />}
      title="This could not be loaded"
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{messageOf(error)}</Text>
        {retry !== undefined && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

export function Empty({
  title,
  children,
  Icon = IconInbox
}: {
  title: string
  children?: ReactNode
  Icon?: typeof IconInbox
}) {
  return (
    <Center py={48} px="md">
      <Stack align="center" gap={6} maw={420}>
        <ThemeIcon size={48} radius="xl" variant="light" color="gray" mb={4}>
          <Icon size={26} stroke={1.5} aria-hidden />
        </ThemeIcon>
        <Text fw={600}>{title}</Text>
        <Text size="sm" c="dimmed" ta="center" component="div">
          {children}
        </Text>
      </Stack>
    </Center>
  )
}

/** Shows a query that is loading, has failed, or has data. */
export function Loaded<R>({
  query,
  rows,
  children
}: {
  query: UseQueryResult<R>
  /** Placeholder lines shown while the query loads. */
  rows?: number
  children(data: R): ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <Failure error={query.error} retry={() => query.refetch()} />
  return <Waiting {...(rows !== undefined && { rows })} />
}

/** Placeholders for the lines that load, so that the content below moves little when they arrive. */
export function Waiting({ rows = 8 }: { rows?: number }) {
  return (
    <Stack gap="md" p="md" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <Skeleton key={i} h={18} w={`${92 - (i % 3) * 14}%`} />
      ))}
    </Stack>
  )
}

export function Figure({ label, value, hint }: { label: string; value: ReactNode; hint?: ReactNode }) {
  return (
    <Card withBorder padding="md">
      <Text size="xs" c="dimmed" fw={500}>
        {label}
      </Text>
      <Text fz={{ base: 21, sm: 26 }} fw={650} lh={1.3} component="div">
        {value}
      </Text>
      {hint !== undefined && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
    </Card>
  )
}
