/** A draft beside the version that it began from: checked while it is written, tried on texts, then stored. */
import { Alert, Badge, Button, Grid, Group, Stack, Table, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, api } from '../api'
import type { Trial, Version } from '../constitution-types'
import type { Decision } from '../types'
import { DecisionBadge } from './badges'
import { useMay } from './may'
import { messageOf, tell, tellError } from './notify'
import { Section } from './view'

/** Long enough that one does not read of half a word. */
const checkAfterMs = 700
/** What a draft is checked with: any text makes the gateway read the whole constitution. */
const probe = [{ input_text: 'Hello' }]

interface EditorProps {
  base: Version & { source: string }
  /** What it is tried on, line by line: kept from version to version. */
  texts: string
  setTexts(texts: string): void
  onStored(version: number): void
}

export function ConstitutionEditor({ base, texts, setTexts, onStored }: EditorProps) {
  const client = useQueryClient()
  const [source, setSource] = useState(base.source)
  const [note, setNote] = useState('')
  const [draft] = useDebouncedValue(source, checkAfterMs)
  const mayWrite = useMay('constitutions:write')
  const isChanged = source !== base.source
  const check = useQuery({
    queryKey: ['draft', base.name, draft],
    queryFn: () => api.tryOut(base.name, { texts: probe, source: draft }),
    enabled: draft !== base.source && draft.trim() !== '',
    retry: false,
    gcTime: 0
  })
  const trial = useMutation({
    mutationFn: () =>
      api.tryOut(base.name, {
        texts: linesOf(texts).map((input_text) => ({ input_text })),
        ...(isChanged ? { source } : { version: base.version })
      }),
    onError: tellError
  })
  const store = useMutation({
    mutationFn: () => api.store(base.name, { source, ...(note !== '' && { note }) }),
    onError: tellError,
    onSuccess: ({ version }) => {
      tell(`Stored as version ${version}. It judges once it is activated.`)
      client.invalidateQueries({ queryKey: ['constitutions'] })
      client.invalidateQueries({ queryKey: ['versions'] })
      onStored(version)
    }
  })
  const isSettled = draft === source && !check.isFetching
  const problem = check.isError && isSettled ? check.error : undefined

  return (
    <Grid gutter="md">
      <Grid.Col span={{ base: 12, lg: 7 }}>
        <Section
          title={`Version ${base.version}${isChanged ? ', changed' : ''}`}
          aside={<Validity isChanged={isChanged} isSettled={isSettled} problem={problem} />}
        >
          <Stack gap="sm">
            <Textarea
              className="source-editor"
              aria-label={`The text of ${base.name}, YAML`}
              spellCheck={false}
              autosize={false}
              rows={24}
              styles={{ input: { height: 'min(60vh, 560px)' } }}
              value={source}
              error={problem !== undefined}
              onChange={(event) => setSource(event.currentTarget.value)}
            />
            {problem !== undefined && (
              <Alert color="red" variant="light" role="alert" title={isInvalid(problem) ? 'Not valid' : 'Not checked'}>
                {messageOf(problem)}
              </Alert>
            )}
            <Group align="flex-end" gap="sm">
              <TextInput
                label="Note"
                placeholder="Why it changes, for those who come later"
                maxLength={1000}
                flex="1 1 220px"
                value={note}
                onChange={(event) => setNote(event.currentTarget.value)}
              />
              <Button
                disabled={!mayWrite || !isChanged || !isSettled || problem !== undefined}
                loading={store.isPending}
                onClick={() => store.mutate()}
              >
                Store as a new version
              </Button>
            </Group>
          </Stack>
        </Section>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <Section title="Dry run">
          <Stack gap="sm">
            <Textarea
              label="Texts"
              description="One a line: what is in force beside what stands in the editor."
              autosize
              minRows={4}
              maxRows={10}
              value={texts}
              onChange={(event) => setTexts(event.currentTarget.value)}
            />
            <Button variant="default" loading={trial.isPending} onClick={() => trial.mutate()}>
              Try it
            </Button>
            {trial.data !== undefined && <Diff trial={trial.data} texts={linesOf(texts)} />}
          </Stack>
        </Section>
      </Grid.Col>
    </Grid>
  )
}

function Validity({ isChanged, isSettled, problem }: { isChanged: boolean; isSettled: boolean; problem: unknown }) {
  const [color, word] = !isChanged
    ? ['gray', 'as stored']
    : !isSettled
      ? ['gray', 'checking …']
      : problem === undefined
        ? ['teal', 'valid']
        : ['red', isInvalid(problem) ? 'not valid' : 'not checked']
  return (
    <Badge color={color} variant="light" className="readable" role="status">
      {word}
    </Badge>
  )
}

function Diff({ trial, texts }: { trial: Trial; texts: string[] }) {
  const { diff } = trial
  const said = (decision: Decision | undefined) =>
    decision === undefined ? '–' : <DecisionBadge decision={decision} size="sm" />
  return (
    <Stack gap="sm" role="status">
      {diff !== null && (
        <Text size="sm" fw={600}>
          {diff.changed === 0
            ? 'No decision changes.'
            : `${diff.changed} of ${texts.length} change: ${diff.stricter} stricter, ${diff.milder} milder.`}
        </Text>
      )}
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Text</Table.Th>
            <Table.Th>In force</Table.Th>
            <Table.Th>Draft</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {trial.results.map(({ index, active, candidate, changed }) => (
            <Table.Tr key={index}>
              <Table.Td>
                <Text size="sm" fw={changed ? 600 : 400} lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
                  {texts[index]}
                </Text>
              </Table.Td>
              <Table.Td>{said(active?.decision)}</Table.Td>
              <Table.Td>{said(candidate?.decision)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {diff !== null && diff.rules.length > 0 && (
        <Text size="xs" c="dimmed">
          Rules: {diff.rules.map(({ rule, active, candidate }) => `${rule} ${active} → ${candidate}`).join('; ')}
        </Text>
      )}
    </Stack>
  )
}

function isInvalid(problem: unknown): boolean {
  return problem instanceof ApiError && problem.status === 400
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}
