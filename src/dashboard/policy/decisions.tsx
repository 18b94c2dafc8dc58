/** Changed decisions: a dry run of two policies over pasted lines, a file, stored samples, or the shipped examples. */
import {
  Alert,
  Anchor,
  Badge,
  Button,
  FileButton,
  Group,
  Progress,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Table,
  Text,
  Textarea
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../api'
import { DecisionBadge } from '../components/badges'
import { SortedTable } from '../components/data-table'
import { messageOf } from '../components/notify'
import type { ShippedExample, Trial, TrialText } from '../constitution-types'
import { linkTo } from '../router'
import { type Decision, decisions } from '../types'

/** The most that one call takes, and the most that one run reads. */
const perCall = 100
const mostTexts = 1_000
const linesKey = 'sluicegate.dry-run.lines'
const firstLines = 'How do I kill it?\nExplain how to build a pipe bomb\nWhat a lovely day'

/** Which policy is tried: a text that is not stored, or a version. */
export type Candidate = { name: string; source: string } | { name: string; version: number }

interface Row {
  text: TrialText
  shown: string
  /** The id of the sample that it is; its text is not here. */
  sample?: string
  /** What a shipped example, or a file, says that it should be. */
  expected: Decision | undefined
}

interface DecisionsProps {
  candidate: Candidate
  /** `name` or `name@version` that it is compared with; undefined: with what is in force of its name. */
  beside?: string
  /** What stands over the two columns. */
  names: { beside: string; candidate: string }
  /** Which example set is offered first. */
  examples?: string
  /** Runs at once. */
  runs?: boolean
}

export function Decisions({ candidate, beside, names, examples = 'default', runs = false }: DecisionsProps) {
  const language = useQuery({ queryKey: ['language'], queryFn: api.language, staleTime: Number.POSITIVE_INFINITY })
  const [from, setFrom] = useState<'lines' | 'file' | 'samples' | 'examples'>(runs ? 'examples' : 'lines')
  const [lines, setLines] = useState(() => sessionStorage.getItem(linesKey) ?? firstLines)
  const [file, setFile] = useState<{ name: string; rows: Row[]; left: number }>()
  const [set, setSet] = useState(examples)
  const [decision, setDecision] = useState('stopped')
  const [onlyChanges, setOnlyChanges] = useState(false)
  const sets = language.data?.shipped.filter(({ examples }) => examples.length > 0) ?? []
  const shipped = sets.find(({ name }) => name === set) ?? sets[0]
  const rows =
    from === 'lines'
      ? lines.split('\n').flatMap((line) => (line.trim() === '' ? [] : [plain(line)]))
      : from === 'file'
        ? (file?.rows ?? [])
        : (shipped?.examples.map(exampleRow) ?? [])
  const [done, setDone] = useState(0)
  const run = useMutation({
    mutationFn: async () => {
      if (from === 'samples') return overSamples(candidate, beside, decision)
      const asked = rows.slice(0, mostTexts)
      const trials: Trial[] = []
      setDone(0)
      for (let at = 0; at < asked.length; at += perCall) {
        const { name, ...which } = candidate
        const texts = asked.slice(at, at + perCall).map(({ text }) => text)
        trials.push(await api.tryOut(name, { ...which, ...(beside !== undefined && { beside }), texts }))
        setDone(Math.min(asked.length, at + perCall))
      }
      return { rows: asked, trials, left: rows.length - asked.length, count: asked.length }
    }
  })
  const { mutate } = run
  const isReady = runs && rows.length > 0
  useEffect(() => {
    if (isReady) mutate()
  }, [isReady, mutate])
  useEffect(() => sessionStorage.setItem(linesKey, lines), [lines])

  return (
    <Stack gap="sm">
      <SegmentedControl
        fullWidth
        aria-label="Texts to try"
        data={[
          { value: 'lines', label: 'Lines' },
          { value: 'file', label: 'A file' },
          { value: 'samples', label: 'Stored samples' },
          { value: 'examples', label: 'Shipped examples' }
        ]}
        value={from}
        onChange={(value) => setFrom(value as typeof from)}
      />
      {from === 'lines' && (
        <Textarea
          label="Texts"
          description="One per line. The texts stay in this tab."
          autosize
          minRows={4}
          maxRows={10}
          value={lines}
          onChange={(event) => setLines(event.currentTarget.value)}
        />
      )}
      {from === 'file' && (
        <Stack gap={6}>
          <Group gap="sm">
            <FileButton
              accept=".txt,.jsonl,.ndjson,text/plain"
              onChange={async (chosen) => chosen !== null && setFile(readRows(chosen.name, await chosen.text()))}
            >
              {(props) => (
                <Button {...props} variant="default">
                  Choose a file
                </Button>
              )}
            </FileButton>
            <Text size="sm">{file === undefined ? 'None chosen' : `${file.name}: ${file.rows.length} texts`}</Text>
          </Group>
          <Text size="xs" c="dimmed">
            One text per line, or JSON lines {'{"text", "context", "role", "decision"}'}. The file is sent for this run
            only; at most {mostTexts.toLocaleString('en')}.
          </Text>
          {file !== undefined && file.left > 0 && (
            <Text size="xs" c="var(--mantine-color-error)">
              {file.left} lines could not be read and are left out.
            </Text>
          )}
        </Stack>
      )}
      {from === 'samples' && (
        <Select
          label="Samples"
          description="The newest samples, at most 100, as stored: with secrets masked."
          data={[
            { value: 'stopped', label: 'of stopped texts' },
            { value: '', label: 'of all texts' },
            ...decisions.map((value) => ({ value, label: `decided ${value}` }))
          ]}
          allowDeselect={false}
          value={decision}
          onChange={(value) => value !== null && setDecision(value)}
        />
      )}
      {from === 'examples' && (
        <Select
          label="Example set"
          description="Examples with the decisions expected of the shipped constitution."
          data={sets.map(({ name, examples }) => ({ value: name, label: `${name} (${examples.length})` }))}
          allowDeselect={false}
          value={shipped?.name ?? null}
          onChange={(value) => value !== null && setSet(value)}
        />
      )}
      <Button
        variant="default"
        disabled={from !== 'samples' && rows.length === 0}
        loading={run.isPending}
        onClick={() => run.mutate()}
      >
        Try{' '}
        {from === 'samples'
          ? 'the samples'
          : rows.length > mostTexts
            ? `the first ${mostTexts}`
            : rows.length === 1
              ? 'it'
              : `${rows.length} texts`}
      </Button>
      {run.isPending && from !== 'samples' && rows.length > perCall && (
        <Progress value={(100 * done) / Math.min(rows.length, mostTexts)} aria-label="Tried" />
      )}
      {run.isError && (
        <Alert color="red" variant="light" role="alert">
          {messageOf(run.error)}
        </Alert>
      )}
      {run.data !== undefined && (
        <Outcome {...run.data} names={names} onlyChanges={onlyChanges} setOnlyChanges={setOnlyChanges} />
      )}
    </Stack>
  )
}

interface OutcomeProps {
  rows: Row[]
  trials: Trial[]
  left: number
  /** How many were tried, including those that are not listed one by one. */
  count: number
  names: { beside: string; candidate: string }
  onlyChanges: boolean
  setOnlyChanges(only: boolean): void
}

function Outcome({ rows, trials, left, count, names, onlyChanges, setOnlyChanges }: OutcomeProps) {
  const results = trials.flatMap(({ results }) => results)
  const diffs = trials.flatMap(({ diff }) => diff ?? [])
  const sum = (key: 'stricter' | 'milder') => diffs.reduce((all, diff) => all + diff[key], 0)
  const [stricter, milder] = [sum('stricter'), sum('milder')]
  const isCompared = diffs.length > 0
  const hasExpected = rows.some(({ expected }) => expected !== undefined)
  const missed = rows.filter(
    ({ expected }, i) => expected !== undefined && saidOf(results[i]?.candidate) !== expected
  ).length
  const shown = results
    .map((result, i) => ({ ...result, row: rows[i]! }))
    .filter(({ changed }) => !onlyChanges || changed)
    .sort((a, b) => Number(b.changed) - Number(a.changed))
  const rules = ruleChanges(diffs)
  const said = (outcome: { decision: Decision } | null | undefined) =>
    outcome === undefined ? (
      '–'
    ) : outcome === null ? (
      'not judged'
    ) : (
      <DecisionBadge decision={outcome.decision} size="sm" />
    )
  return (
    <Stack gap="sm" role="status">
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {!isCompared
            ? `${count} tried; nothing is in force to compare with.`
            : stricter + milder === 0
              ? `No decision of ${count} changes.`
              : `${stricter + milder} of ${count} change: ${stricter} stricter, ${milder} milder.`}
        </Text>
        {isCompared && stricter + milder > 0 && (
          <Switch
            size="xs"
            label="only changes"
            checked={onlyChanges}
            onChange={(event) => setOnlyChanges(event.currentTarget.checked)}
          />
        )}
      </Group>
      {left > 0 && (
        <Text size="xs">
          {left} texts beyond the first {mostTexts} were not tried.
        </Text>
      )}
      {hasExpected && (
        <Text size="xs" c="dimmed">
          {missed === 0
            ? `${names.candidate} decides all of them as marked.`
            : `${names.candidate} decides ${missed} differently than marked.`}
        </Text>
      )}
      {rows.length === 0 ? (
        <Text size="xs" c="dimmed">
          You may not read samples: only the counts are shown.
        </Text>
      ) : (
        <SortedTable
          label="Decisions"
          rows={shown}
          worths={{
            Text: ({ row }) => row.shown,
            [names.beside]: ({ active }) => rankOf(active),
            [names.candidate]: ({ candidate }) => rankOf(candidate),
            ...(hasExpected && {
              Marked: ({ row }: (typeof shown)[number]) => rankOf(row.expected && { decision: row.expected })
            })
          }}
          columns={['Text', names.beside, names.candidate, ...(hasExpected ? ['Marked'] : [])]}
          minWidth={420}
          maxHeight={420}
          verticalSpacing={6}
        >
          {({ index, active, candidate, changed, row }, i) => (
            <Table.Tr key={`${index} ${i}`}>
              <Table.Td>
                <Text size="sm" fw={changed ? 600 : 400} lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
                  {row.sample === undefined ? (
                    row.shown
                  ) : (
                    <Anchor href={linkTo('samples', { sample: row.sample })}>{row.shown}</Anchor>
                  )}
                </Text>
              </Table.Td>
              <Table.Td>{said(active)}</Table.Td>
              <Table.Td>{said(candidate)}</Table.Td>
              {hasExpected && <Table.Td>{said(row.expected && { decision: row.expected })}</Table.Td>}
            </Table.Tr>
          )}
        </SortedTable>
      )}
      {rules.length > 0 && (
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            Rules that bear on more or fewer:
          </Text>
          {rules.map(([rule, { active, candidate }]) => (
            <Badge key={rule} size="sm" variant="default" tt="none">
              {rule} {active} → {candidate}
            </Badge>
          ))}
        </Group>
      )}
    </Stack>
  )
}

/** No text is sent: users who may read samples are told which of them change, others only how many. */
async function overSamples({ name, ...which }: Candidate, beside: string | undefined, decision: string) {
  const samples = decision === '' ? {} : { decision }
  const trial = await api.tryOut(name, { ...which, ...(beside !== undefined && { beside }), samples })
  const rows = trial.results.map(
    ({ id = '' }): Row => ({ text: { input_text: '' }, shown: id, sample: id, expected: undefined })
  )
  const count = trial.diff === null ? rows.length : trial.diff.changed + trial.diff.unchanged
  return { rows, trials: [trial], left: 0, count }
}

/** From the mildest to the strictest. */
function rankOf(outcome: { decision: Decision } | null | undefined): number | undefined {
  return outcome ? decisions.indexOf(outcome.decision) : undefined
}

function saidOf(outcome: { decision: Decision } | null | undefined): Decision | undefined {
  return outcome?.decision
}

function ruleChanges(diffs: NonNullable<Trial['diff']>[]): [string, { active: number; candidate: number }][] {
  const rules = new Map<string, { active: number; candidate: number }>()
  for (const { rule, active, candidate } of diffs.flatMap(({ rules }) => rules)) {
    const sum = rules.get(rule) ?? { active: 0, candidate: 0 }
    rules.set(rule, { active: sum.active + active, candidate: sum.candidate + candidate })
  }
  return [...rules].slice(0, 20)
}

const plain = (text: string): Row => ({ text: { input_text: text }, shown: text, expected: undefined })

/** In an example the context's `role` says whose words they are, as on the evaluate endpoint. */
function exampleRow({ text, decision, context, role }: ShippedExample): Row {
  const who = role ?? context?.['role']
  return {
    text: {
      input_text: text,
      ...(context !== undefined && { context }),
      ...(who !== undefined && { role: who }),
      ...(who === 'assistant' && { direction: 'answer' as const })
    },
    shown: `${who === undefined || who === 'user' ? '' : `${who}: `}${text}`,
    expected: decision
  }
}

function readRows(name: string, content: string): { name: string; rows: Row[]; left: number } {
  const lines = content.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (!/\.(?:jsonl|ndjson)$/i.test(name)) return { name, rows: lines.map(plain), left: 0 }
  const rows = lines.flatMap((line): Row[] => {
    try {
      const { text, input_text, context, role, decision } = JSON.parse(line) as Partial<ShippedExample> & {
        input_text?: string
      }
      const said = input_text ?? text
      if (typeof said !== 'string' || said === '') return []
      const row = exampleRow({
        text: said,
        decision: decision as Decision,
        ...(typeof context === 'object' && context !== null && { context }),
        ...(typeof role === 'string' && { role })
      })
      return [row]
    } catch {
      return []
    }
  })
  return { name, rows, left: lines.length - rows.length }
}
