/** The alerts in force: behind the bell on every page, and as a banner on the page Live. */
import { ActionIcon, Anchor, Alert as Banner, Group, Indicator, Popover, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBell, IconBellRinging } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api'
import { pages } from '../pages'
import { linkTo } from '../router'
import type { Alert } from '../types'
import { useMay } from './may'
import { Ago } from './time'

/** Alerts shown of each kind; the list gives the number of the others. */
const mostShown = 3

export function useAlerts() {
  return useQuery({
    queryKey: ['alerts'],
    queryFn: api.alerts,
    refetchInterval: 15_000,
    enabled: useMay('safety:metrics')
  })
}

export function AlertBell() {
  const [opened, { toggle, close }] = useDisclosure()
  const { data, isLoading } = useAlerts()
  if (data === undefined) {
    // A disabled bell keeps the space, so that the buttons beside it do not move once the alerts are loaded.
    return isLoading ? (
      <ActionIcon variant="default" size="lg" aria-label="Alerts" disabled>
        <IconBell size={18} aria-hidden />
      </ActionIcon>
    ) : null
  }
  const { alerts, notices } = data
  const count = alerts.length
  const label = count === 0 ? 'Alerts: none' : `Alerts: ${count}`
  return (
    <Indicator disabled={count === 0} label={count > 99 ? '99+' : count} size={18} color="red.9">
      <Popover
        opened={opened}
        onChange={(open) => !open && close()}
        position="bottom-end"
        width={360}
        shadow="md"
        trapFocus
      >
        <Popover.Target>
          <ActionIcon variant="default" size="lg" aria-label={label} onClick={toggle}>
            {count === 0 ? <IconBell size={18} aria-hidden /> : <IconBellRinging size={18} aria-hidden />}
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown aria-label="Alerts" maw="calc(100vw - 16px)">
          <Stack gap="sm">
            <Text fw={650}>{count === 0 ? 'No alert' : count === 1 ? 'One alert' : `${count} alerts`}</Text>
            {count === 0 ? (
              <Text size="sm" c="dimmed">
                Nothing waits too long and nothing fails.
              </Text>
            ) : (
              <AlertList alerts={alerts} onLeave={close} />
            )}
            <Text size="xs" c="dimmed">
              {toldBy(notices)}{' '}
              <Anchor href="../docs/notices.html" inherit underline="always">
                What is an alert
              </Anchor>
            </Text>
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Indicator>
  )
}

/** The alerts above the charts; renders nothing without an alert. */
export function AlertBanner() {
  const { data } = useAlerts()
  const alerts = data?.alerts ?? []
  if (alerts.length === 0) return null
  return (
    <Banner
      color="orange"
      variant="light"
      mb="md"
      icon={<IconBellRinging aria-hidden />}
      title={alerts.length === 1 ? 'One alert' : `${alerts.length} alerts`}
    >
      <AlertList alerts={alerts} here="live" />
    </Banner>
  )
}

interface AlertListProps {
  alerts: readonly Alert[]
  /** The page that shows the list; the list has no link to it. */
  here?: string
  onLeave?(): void
}

function AlertList({ alerts, here, onLeave }: AlertListProps) {
  const session = useQuery({ queryKey: ['session'], queryFn: api.session })
  const held = session.data?.scopes ?? []
  const may = ({ scope }: (typeof pages)[number]) => held.includes('*') || (scope !== undefined && held.includes(scope))
  const kinds = new Map<string, Alert[]>()
  for (const alert of alerts) kinds.set(alert.kind, [...(kinds.get(alert.kind) ?? []), alert])
  return (
    <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Alerts in force">
      {[...kinds].map(([kind, group]) => {
        const page = pages.find((one) => one.id === group[0]!.page && one.id !== here && may(one))
        const more = group.length - mostShown
        return (
          <li key={kind}>
            {group.slice(0, mostShown).map(({ alert_id, summary, since }) => (
              <Text key={alert_id} size="sm" className="wrap-anywhere">
                {summary}{' '}
                <Text span size="xs" c="dimmed">
                  <Ago at={since} span inherit />
                </Text>
              </Text>
            ))}
            <Group gap="md">
              {more > 0 && (
                <Text size="xs" c="dimmed">
                  and {more} more
                </Text>
              )}
              {page !== undefined && (
                <Anchor size="sm" href={linkTo(page.id)} {...(onLeave !== undefined && { onClick: onLeave })}>
                  {page.label}
                </Anchor>
              )}
            </Group>
          </li>
        )
      })}
    </Stack>
  )
}

function toldBy({ webhook, email }: { webhook: boolean; email: boolean }): string {
  if (webhook && email) return 'People are told by webhook and e-mail.'
  if (webhook || email) return `People are told by ${webhook ? 'webhook' : 'e-mail'}.`
  return 'Nobody is told: neither a webhook nor an e-mail address is configured.'
}
