/**
 * The editor of a constitution: its text with the form, the dry run and the differences beside it, until it is stored.
 */
import {
  Alert,
  Badge,
  Button,
  Card,
  Grid,
  Group,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
  TextInput,
  UnstyledButton
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { ApiError, api } from '../api'
import { useMay } from '../components/may'
import { messageOf, tell, tellError } from '../components/notify'
import { Loaded } from '../components/view'
import type { Language, Problem } from '../constitution-types'
import { Decisions } from './decisions'
import { dropDraft } from './drafts'
import { PolicyForm } from './form'
import { SourceEditor } from './source-editor'
import { type Base, type DraftState, useDraft } from './use-draft'

const TextDiff = lazy(async () => ({ default: (await import('./text-diff')).TextDiff }))

interface WorkbenchProps {
  person: string
  base: Base
  /** Whether the version that it began from is in force. */
  isInForce: boolean
  onStored(version: number): void
  /** A new constitution was discarded. */
  onDropped?(): void
}

export function Workbench(props: WorkbenchProps) {
  const language = useQuery({ queryKey: ['language'], queryFn: api.language, staleTime: Number.POSITIVE_INFINITY })
  return <Loaded query={language}>{(data) => <Bench {...props} language={data} />}</Loaded>
}

function Bench({ person, base, isInForce, onStored, onDropped, language }: WorkbenchProps & { language: Language }) {
  const draft = useDraft(person, base)
  const [side, setSide] = useState<'form' | 'try' | 'diff'>('form')
  const [place, setPlace] = useState<{ line: number; column: number }>()
  const { source, effective } = draft
  const label = base.version === null ? 'New' : `Version ${base.version}`
  return (
    <Grid gutter="md">
      <Grid.Col span={{ base: 12, lg: 7 }}>
        <Card withBorder padding={0} component="section" aria-label="Text" className="bench-text">
          <Group justify="space-between" px="md" py="xs" gap="xs">
            <Group gap="xs">
              <Text fw={600} size="sm">
                {label}
                {draft.isChanged && base.version !== null ? ', changed' : ''}
              </Text>
              {isInForce && !draft.isChanged && (
                <Badge color="teal" variant="light" className="readable">
                  in force
                </Badge>
              )}
              <Validity draft={draft} />
            </Group>
            <DraftNote draft={draft} isNew={base.version === null} onDropped={onDropped} />
          </Group>
          <SourceEditor
            label={`The text of ${base.name}, YAML`}
            value={source}
            onChange={draft.setSource}
            problems={draft.problems}
            warnings={draft.warnings}
            known={{ language, effective }}
            goTo={place}
          />
          <Problems draft={draft} goTo={setPlace} />
          <Store base={base} person={person} draft={draft} onStored={onStored} />
        </Card>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <Stack gap="sm">
          <SegmentedControl
            fullWidth
            aria-label="Beside the text"
            data={[
              { value: 'form', label: 'Form' },
              { value: 'try', label: 'Dry run' },
              { value: 'diff', label: 'Differences' }
            ]}
            value={side}
            onChange={(value) => setSide(value as typeof side)}
          />
          {side === 'form' && <PolicyForm draft={draft} language={language} />}
          {side === 'try' && (
            <Card withBorder component="section" aria-label="Dry run">
              <Decisions
                candidate={
                  draft.isChanged ? { name: base.name, source } : { name: base.name, version: base.version ?? 1 }
                }
                {...(base.version === null && { beside: 'default' })}
                names={{
                  beside: base.version === null ? 'default' : 'In force',
                  candidate: draft.isChanged ? 'Draft' : label
                }}
                examples={language.shipped.some(({ name }) => name === base.name) ? base.name : 'default'}
              />
            </Card>
          )}
          {side === 'diff' && (
            <Card withBorder padding={draft.isChanged ? 0 : 'lg'} component="section" aria-label="Differences">
              {draft.isChanged && base.version !== null ? (
                <Suspense fallback={<Skeleton height={320} />}>
                  <TextDiff before={base.source} after={source} names={{ before: label, after: 'Draft' }} />
                </Suspense>
              ) : (
                <Text size="sm" c="dimmed">
                  {base.version === null
                    ? 'No version is stored yet: the whole text is new.'
                    : 'No changes. This tab shows the differences between the draft and the version that it began from.'}
                </Text>
              )}
            </Card>
          )}
        </Stack>
      </Grid.Col>
    </Grid>
  )
}

const colours: Record<DraftState['state'], string> = {
  'as stored': 'gray',
  checking: 'gray',
  valid: 'teal',
  'not valid': 'red',
  'not checked': 'yellow'
}

function Validity({ draft }: { draft: DraftState }) {
  const { state, problems } = draft
  return (
    <Badge color={colours[state]} variant="light" className="readable" role="status" tt="none">
      {state === 'checking' ? 'checking …' : state}
      {problems.length > 0 ? `: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}` : ''}
    </Badge>
  )
}

function DraftNote({
  draft,
  isNew,
  onDropped
}: {
  draft: DraftState
  isNew: boolean
  onDropped?: (() => void) | undefined
}) {
  if (!draft.isChanged) return null
  return (
    <Group gap="xs">
      {draft.keptAt !== undefined && (
        <Text size="xs" c="dimmed">
          kept in this browser at {new Date(draft.keptAt).toLocaleTimeString('en-GB', { timeStyle: 'short' })}
          {draft.beganFrom === undefined
            ? ''
            : `, begun from ${draft.beganFrom === null ? 'nothing' : `version ${draft.beganFrom}`}`}
        </Text>
      )}
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        className="quiet"
        onClick={() => {
          draft.drop()
          if (isNew) onDropped?.()
        }}
      >
        Discard the draft
      </Button>
    </Group>
  )
}

function Problems({ draft, goTo }: { draft: DraftState; goTo(place: { line: number; column: number }): void }) {
  const { problems, warnings, state, failure } = draft
  if (state === 'not checked') {
    return (
      <Alert color="yellow" variant="light" role="alert" radius={0} title="Not checked">
        {messageOf(failure)}
      </Alert>
    )
  }
  if (problems.length + warnings.length === 0) return null
  const line = (problem: Problem, kind: string) => (
    <li key={`${kind} ${problem.line} ${problem.column} ${problem.path} ${problem.message}`}>
      <UnstyledButton className="problem" onClick={() => goTo({ line: problem.line, column: problem.column })}>
        <Text span size="xs" ff="monospace" c={kind === 'error' ? 'var(--mantine-color-error)' : 'dimmed'}>
          {problem.line}:{problem.column}
        </Text>{' '}
        <Text span size="sm">
          {problem.path === '' ? '' : `${problem.path} `}
          {problem.message}
        </Text>
      </UnstyledButton>
    </li>
  )
  return (
    <ul className="problems" aria-label="Problems" role={problems.length > 0 ? 'alert' : undefined}>
      {problems.map((problem) => line(problem, 'error'))}
      {warnings.map((problem) => line(problem, 'warning'))}
    </ul>
  )
}

interface StoreProps {
  base: Base
  person: string
  draft: DraftState
  onStored(version: number): void
}

function Store({ base, person, draft, onStored }: StoreProps) {
  const client = useQueryClient()
  const [note, setNote] = useState('')
  const mayWrite = useMay('constitutions:write')
  const store = useMutation({
    mutationFn: () => api.store(base.name, { source: draft.source, ...(note !== '' && { note }) }),
    onError: (error) =>
      tellError(error instanceof ApiError && error.problems.length > 0 ? new Error(error.message) : error),
    onSuccess: async ({ version }) => {
      dropDraft(person, base.name)
      setNote('')
      tell(`Stored as version ${version}. It judges requests once it is put in force.`)
      await client.invalidateQueries({ queryKey: ['constitutions'] })
      client.invalidateQueries({ queryKey: ['versions'] })
      onStored(version)
    }
  })
  return (
    <Group align="flex-end" gap="sm" p="md" className="bench-foot">
      <TextInput
        label="Note"
        placeholder="Reason for the change"
        maxLength={1000}
        flex="1 1 220px"
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Button
        disabled={!mayWrite || !draft.isChanged || draft.state !== 'valid'}
        loading={store.isPending}
        onClick={() => store.mutate()}
      >
        Store as a new version
      </Button>
    </Group>
  )
}
