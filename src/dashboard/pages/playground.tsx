/** What a policy says of one text or one chat, why, and where another would say something else. Nothing here is counted or kept. */
import {
  Alert,
  Button,
  Card,
  CopyButton,
  Grid,
  Group,
  Kbd,
  SegmentedControl,
  Select,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  Textarea
} from '@mantine/core'
import { IconFlask, IconLink, IconScissors } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../api'
import { messageOf } from '../components/notify'
import { Explained, OtherParts, Outcome } from '../components/outcome'
import { Empty, PageHeader, Section } from '../components/view'
import { Chat } from '../playground/chat'
import { mostCharacters, type Run, runPlayground } from '../playground/run'
import {
  keepSaid,
  queryOf,
  readSaid,
  type Said,
  type Settings,
  type Speaker,
  settingsOf,
  shippedAs,
  speakers
} from '../playground/settings'
import { linkTo, usePlace } from '../router'

export function Playground() {
  const list = useQuery({ queryKey: ['constitutions'], queryFn: api.constitutions })
  const names = list.data?.constitutions.filter(({ version }) => version !== null).map(({ name }) => name) ?? [
    'default'
  ]
  const { query } = usePlace()
  const settings = settingsOf(query)
  const [said, setSaid] = useState(readSaid)
  useEffect(() => keepSaid(said), [said])
  const versions = useQuery({ queryKey: ['versions', settings.name], queryFn: () => api.versions(settings.name) })
  const language = useQuery({ queryKey: ['language'], queryFn: api.language, staleTime: Number.POSITIVE_INFINITY })
  const rivals = [
    ...names.filter((one) => one !== settings.name),
    ...(versions.data?.versions ?? [])
      .filter(({ active }) => !active)
      .map(({ version }) => `${settings.name}@${version}`),
    ...(language.data?.shipped ?? []).map(({ name }) => ({ value: shippedAs(name), label: `${name}, as it ships` }))
  ]
  const run = useMutation({ mutationFn: () => runPlayground(settings, said) })
  const set = (next: Partial<Settings>) => {
    // Replaces the address, so that the back button leaves the page instead of undoing every setting.
    history.replaceState(null, '', linkTo('playground', queryOf({ ...settings, ...next })))
    window.dispatchEvent(new HashChangeEvent('hashchange'))
  }
  const say = (next: Partial<Said>) => setSaid((before) => ({ ...before, ...next }))

  return (
    <>
      <PageHeader
        title="Playground"
        about="Try a text or a chat against a policy, or against two. Nothing is counted, kept or sent to a model."
      >
        <CopyButton value={`${location.origin}${location.pathname}${linkTo('playground', queryOf(settings))}`}>
          {({ copied, copy }) => (
            <Button variant="default" leftSection={<IconLink size={16} aria-hidden />} onClick={copy}>
              {copied ? 'Copied' : 'Link to these settings'}
            </Button>
          )}
        </CopyButton>
      </PageHeader>
      <Grid gutter="md">
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Card
            withBorder
            padding="lg"
            component="form"
            onSubmit={(event: React.FormEvent) => {
              event.preventDefault()
              run.mutate()
            }}
            onKeyDown={(event: React.KeyboardEvent) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run.mutate()
            }}
          >
            <Stack>
              <SimpleGrid cols={2} spacing="sm">
                <Select
                  label="Policy"
                  data={names}
                  allowDeselect={false}
                  value={settings.name}
                  onChange={(value) => value !== null && set({ name: value, beside: '' })}
                />
                <Select
                  label="Compare with"
                  placeholder="none"
                  clearable
                  clearButtonProps={{ 'aria-label': 'Compare with none' }}
                  data={rivals}
                  value={settings.beside === '' ? null : settings.beside}
                  onChange={(value) => set({ beside: value ?? '' })}
                />
              </SimpleGrid>
              <SegmentedControl
                fullWidth
                aria-label="What is judged"
                data={[
                  { value: 'text', label: 'A text' },
                  { value: 'chat', label: 'A chat' }
                ]}
                value={settings.mode}
                onChange={(value) => set({ mode: value as Settings['mode'] })}
              />
              {settings.mode === 'chat' ? (
                <Chat said={said} change={say} />
              ) : (
                <OneText said={said} say={say} role={settings.role} setRole={(role) => set({ role })} />
              )}
              <Textarea
                label="Context"
                description="One pair per line, as a caller would send it."
                placeholder="topic = programming"
                autosize
                minRows={1}
                value={settings.context}
                onChange={(event) => set({ context: event.currentTarget.value })}
              />
              <Group justify="space-between">
                <Button type="submit" loading={run.isPending}>
                  Evaluate
                </Button>
                <Text size="xs" c="dimmed" visibleFrom="sm">
                  <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Enter</Kbd>
                </Text>
              </Group>
              <Text size="xs" c="dimmed">
                The link contains the settings. Your texts stay in this tab and are lost when you close it.
              </Text>
            </Stack>
          </Card>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack aria-live="polite">
            {run.isError && (
              <Alert color="red" variant="light" role="alert">
                {messageOf(run.error)}
              </Alert>
            )}
            {run.isPending && run.data === undefined && <Skeleton height={280} />}
            {run.data === undefined && !run.isError && !run.isPending && (
              <Card withBorder>
                <Empty title="Nothing evaluated yet" Icon={IconFlask}>
                  The verdict appears here, with the findings marked in the text, the part of each rule, and what would
                  have changed it.
                </Empty>
              </Card>
            )}
            {run.data !== undefined && <Result run={run.data} />}
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  )
}

interface OneTextProps {
  said: Said
  say(next: Partial<Said>): void
  role: Speaker
  setRole(role: Speaker): void
}

function OneText({ said, say, role, setRole }: OneTextProps) {
  const isLong = said.text.length > mostCharacters
  return (
    <>
      <Textarea
        label="Text"
        description="Evaluated as one text, all lines together."
        required
        autosize
        minRows={5}
        maxRows={16}
        value={said.text}
        error={
          isLong
            ? `${said.text.length.toLocaleString('en')} characters: only the first ${mostCharacters.toLocaleString('en')} are judged.`
            : undefined
        }
        onChange={(event) => say({ text: event.currentTarget.value })}
      />
      <Select
        label="Whose words"
        data={[...speakers]}
        allowDeselect={false}
        value={role}
        onChange={(value) => value !== null && setRole(value as Speaker)}
      />
      {role !== 'assistant' && (
        <Textarea
          label="Earlier turns of the session"
          description="Oldest first, separated by empty lines."
          autosize
          minRows={1}
          maxRows={8}
          value={said.earlier}
          onChange={(event) => say({ earlier: event.currentTarget.value })}
        />
      )}
    </>
  )
}

function Result({ run: { parts, sides, cut } }: { run: Run }) {
  const decisions = new Set(sides.map(({ verdict }) => verdict?.decision))
  const title = sides.length === 1 ? 'Verdict' : decisions.size > 1 ? 'They differ' : 'They agree'
  return (
    <>
      {cut.length > 0 && (
        <Alert
          color="yellow"
          variant="light"
          icon={<IconScissors size={18} aria-hidden />}
          title="Not all of it was judged"
        >
          {cut.map((sentence) => (
            <Text key={sentence} size="sm">
              {sentence}
            </Text>
          ))}
        </Alert>
      )}
      <Section title={title}>
        <SimpleGrid cols={{ base: 1, md: sides.length }} spacing="xl">
          {sides.map(({ label, verdict, explanation }) => (
            <Stack key={label}>
              {parts.length === 1 && parts[0]!.pointer === undefined ? (
                <Outcome title={label} text={parts[0]!.text} verdict={verdict} />
              ) : (
                <Outcome title={label} parts={parts} verdict={verdict} />
              )}
              {verdict && <OtherParts parts={parts} verdict={verdict} />}
              {explanation !== undefined && <Explained explanation={explanation} />}
            </Stack>
          ))}
        </SimpleGrid>
      </Section>
    </>
  )
}
