/** The frame around every page: skip link, navigation, who is signed in. */
import {
  ActionIcon,
  Alert,
  AppShell,
  Avatar,
  Badge,
  Burger,
  Button,
  Group,
  Kbd,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  Title,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconLockOpen, IconLogout, IconMoon, IconPassword, IconSearch, IconSun } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { api } from '../api'
import icon from '../icon.svg'
import type { PageEntry } from '../pages'
import { linkTo } from '../router'
import type { HeldScope, Session } from '../types'
import { AlertBell } from './alerts'
import { mayWith } from './may'
import { tellError } from './notify'
import { Palette } from './palette'
import { PasswordDialog } from './password-dialog'

interface ShellProps {
  pages: readonly PageEntry[]
  current: PageEntry
  user: NonNullable<Session['user']>
  scopes: readonly HeldScope[]
  /** Whether the sign-in travels unencrypted. */
  isPlain: boolean
  children: ReactNode
}

export function Shell({ pages, current, user, scopes, isPlain, children }: ShellProps) {
  const [opened, { toggle, close }] = useDisclosure()
  const [searching, setSearching] = useState(false)
  const main = useRef<HTMLDivElement>(null)
  const first = useRef(true)
  const mayReview = mayWith(scopes, 'pdp:adjudicate')
  const waiting = useQuery({
    queryKey: ['reviews', 'waiting'],
    queryFn: () => api.reviews({ status: 'pending', limit: 100 }),
    refetchInterval: 10_000,
    enabled: mayReview
  })
  const count = waiting.data?.reviews.length ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each page that is opened
  useEffect(() => {
    document.title = `${current.label} · Sluicegate`
    close()
    // A screen reader continues at a page that was chosen; it reads the first page from the top.
    if (!first.current) main.current?.focus()
    first.current = false
  }, [current.id])

  return (
    <AppShell
      className="app-background"
      header={{ height: 56 }}
      navbar={{ width: 228, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      {/* biome-ignore lint/a11y/useValidAnchor: it goes to a place on the page, and the fragment is where the page's name is */}
      <a
        className="skip-link"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to the page
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? 'Close the navigation' : 'Open the navigation'}
            />
            <Brand />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button
              variant="default"
              c="dimmed"
              fw={400}
              visibleFrom="sm"
              leftSection={<IconSearch size={16} aria-hidden />}
              rightSection={
                <Kbd size="xs" aria-hidden>
                  Ctrl K
                </Kbd>
              }
              onClick={() => setSearching(true)}
            >
              Search
            </Button>
            <ActionIcon
              variant="default"
              size="lg"
              hiddenFrom="sm"
              aria-label="Search"
              onClick={() => setSearching(true)}
            >
              <IconSearch size={18} aria-hidden />
            </ActionIcon>
            <AlertBell />
            <SchemeToggle />
            <UserMenu user={user} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Pages">
        <AppShell.Section grow component={ScrollArea}>
          {pages.map(({ id, label, Icon }) => (
            <NavLink
              key={id}
              href={linkTo(id)}
              label={label}
              fw={id === current.id ? 600 : 400}
              leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
              rightSection={
                id === 'reviews' && count > 0 ? (
                  <Badge size="sm" variant="filled" aria-label={`${count} waiting`}>
                    {count >= 100 ? '99+' : count}
                  </Badge>
                ) : undefined
              }
              active={id === current.id}
              aria-current={id === current.id ? 'page' : undefined}
            />
          ))}
        </AppShell.Section>
        <AppShell.Section>
          <NavLink href="../docs" label="API reference" description="Everything here, over HTTP" />
        </AppShell.Section>
      </AppShell.Navbar>
      <Palette pages={pages} opened={searching} set={setSearching} />
      <AppShell.Main id="main" ref={main} tabIndex={-1} style={{ outline: 'none' }}>
        {isPlain && <PlainHttp />}
        {children}
      </AppShell.Main>
    </AppShell>
  )
}

/** The warning on every page over plain HTTP: others on the network can read what is typed and shown. */
export function PlainHttp() {
  return (
    <Alert
      color="red"
      variant="light"
      mb="md"
      icon={<IconLockOpen aria-hidden />}
      title="This page was loaded over plain HTTP"
    >
      Passwords and your session cookie travel unencrypted. The setting <code>server.plain_http_sign_in</code> allows
      it; TLS is safer.
    </Alert>
  )
}

export function Brand() {
  return (
    <Group gap={10} wrap="nowrap">
      <img src={icon} width={28} height={28} alt="" />
      <Title order={2} size="h4" component="span">
        Sluicegate
      </Title>
    </Group>
  )
}

export function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const other = scheme === 'dark' ? 'light' : 'dark'
  return (
    <ActionIcon variant="default" size="lg" aria-label={`Use ${other} colours`} onClick={() => setColorScheme(other)}>
      {scheme === 'dark' ? <IconSun size={18} aria-hidden /> : <IconMoon size={18} aria-hidden />}
    </ActionIcon>
  )
}

function UserMenu({ user }: { user: ShellProps['user'] }) {
  const client = useQueryClient()
  const [changing, { open, close }] = useDisclosure()
  const leave = useMutation({
    mutationFn: api.signOut,
    onError: tellError,
    onSuccess: () => {
      client.clear()
      location.hash = ''
      location.reload()
    }
  })
  return (
    <>
      <Menu width={220} position="bottom-end">
        <Menu.Target>
          <UnstyledButton>
            <span className="visually-hidden">Signed in as {user.login}</span>
            <Group gap="xs" wrap="nowrap">
              <Avatar size={32} color="cyan" radius="xl" aria-hidden>
                {user.login.slice(0, 2).toUpperCase()}
              </Avatar>
              <Text size="sm" fw={500} visibleFrom="xs" maw={180} className="one-line" aria-hidden>
                {user.login}
              </Text>
            </Group>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{user.role}</Menu.Label>
          {user.signs_in_with === 'password' && (
            <Menu.Item leftSection={<IconPassword size={16} />} onClick={open}>
              Change password
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => leave.mutate(false)}>
            Sign out
          </Menu.Item>
          <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => leave.mutate(true)}>
            Sign out everywhere
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <PasswordDialog opened={changing} onClose={close} />
    </>
  )
}
