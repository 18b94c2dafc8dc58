/** The way in: a password, a company's provider, or the link of an invitation. */
import {
  Alert,
  Anchor,
  Box,
  Button,
  Card,
  Center,
  Divider,
  Group,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title
} from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, path } from '../api'
import { messageOf } from '../components/notify'
import { refusalSentence } from '../components/refusals'
import { Brand, PlainHttp, SchemeToggle } from '../components/shell'
import type { Session } from '../types'

interface FrameProps {
  title: string
  about: string
  session: Session
  children: ReactNode
}

function Frame({ title, about, session, children }: FrameProps) {
  return (
    <Box className="app-background" mih="100vh">
      <Group justify="space-between" p="md" component="header">
        <Brand />
        <SchemeToggle />
      </Group>
      <Center component="main" px="md" pb={96} pt={{ base: 24, sm: 72 }}>
        <Card withBorder shadow="sm" padding="xl" w={420} maw="100%">
          <Title order={1} size="h3">
            {title}
          </Title>
          <Text c="dimmed" size="sm" mb="lg">
            {about}
          </Text>
          {session.plain_http === true && <PlainHttp />}
          {children}
        </Card>
      </Center>
    </Box>
  )
}

function Problem({ error }: { error: unknown }) {
  return (
    <Alert color="red" variant="light" role="alert">
      {messageOf(error)}
    </Alert>
  )
}

export function SignIn({ session, refused }: { session: Session; refused: string | null }) {
  const client = useQueryClient()
  const [login, setLogin] = useState('')
  const [password, setPassword] = useState('')
  const enter = useMutation({
    mutationFn: api.signIn,
    onSuccess: () => client.invalidateQueries({ queryKey: ['session'] })
  })
  const { ways, why } = session
  return (
    <Frame session={session} title="Sign in" about="Keys, reviews and policies of this gateway.">
      {why !== undefined ? (
        <Alert color="yellow" variant="light" title="One cannot sign in here">
          {why}
        </Alert>
      ) : (
        <Stack>
          {refused !== null && (
            <Alert color="red" variant="light" role="alert" title="You are not signed in">
              {refusalSentence(refused)}
            </Alert>
          )}
          {ways?.oidc && (
            <>
              <Button component="a" href={path('/auth/oidc/start')} size="md">
                Sign in with my company
              </Button>
              <Divider label="or with a password" />
            </>
          )}
          <form
            onSubmit={(event) => {
              event.preventDefault()
              enter.mutate({ login, password })
            }}
          >
            <Stack>
              <TextInput
                label="Login"
                autoComplete="username"
                autoCapitalize="none"
                spellCheck={false}
                required
                data-autofocus
                value={login}
                onChange={(event) => setLogin(event.currentTarget.value)}
              />
              <PasswordInput
                label="Password"
                autoComplete="current-password"
                required
                value={password}
                onChange={(event) => setPassword(event.currentTarget.value)}
              />
              {enter.isError && <Problem error={enter.error} />}
              <Button type="submit" loading={enter.isPending}>
                Sign in
              </Button>
              <Text size="xs" c="dimmed">
                No login yet? An administrator invites you by a link. The first administrator’s link is printed when the
                gateway first starts; <code>sluicegate users invite</code> prints another.
              </Text>
            </Stack>
          </form>
        </Stack>
      )}
    </Frame>
  )
}

export function Welcome({ token, session }: { token: string; session: Session }) {
  const client = useQueryClient()
  const [login, setLogin] = useState('')
  const [password, setPassword] = useState('')
  const accept = useMutation({
    mutationFn: api.accept,
    onSuccess: () => {
      // The link has been used: it need not stay in the history.
      history.replaceState(null, '', '#/first-steps')
      window.dispatchEvent(new HashChangeEvent('hashchange'))
      client.invalidateQueries({ queryKey: ['session'] })
    }
  })
  return (
    <Frame session={session} title="Welcome" about="Choose how you sign in from now on. This link works once.">
      {session.why !== undefined ? (
        <Alert color="yellow" variant="light" title="One cannot sign in here">
          {session.why}
        </Alert>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            accept.mutate({ token, login, password })
          }}
        >
          <Stack>
            <TextInput
              label="Login"
              description="A name or an e-mail address."
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              required
              value={login}
              onChange={(event) => setLogin(event.currentTarget.value)}
            />
            <PasswordInput
              label="Password"
              description="Twelve characters or more; a few words that only you would put together are best."
              autoComplete="new-password"
              required
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
            {accept.isError && <Problem error={accept.error} />}
            <Button type="submit" loading={accept.isPending}>
              Create my login
            </Button>
            <Text size="xs">
              <Anchor href="#/">I have a login already</Anchor>
            </Text>
          </Stack>
        </form>
      )}
    </Frame>
  )
}
