/** What a constitution says of texts, why, and where another would say something else. Nothing here is counted or kept. */
import { Alert, Button, Card, Grid, Select, SimpleGrid, Stack, Textarea } from '@mantine/core'
import { IconFlask } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { messageOf } from '../components/notify'
import { Explained, Outcome } from '../components/outcome'
import { Empty, PageHeader, Section } from '../components/view'
import type { Explanation, Outcome as Verdict } from '../constitution-types'

/** As many texts as one explanation run takes. */
const maxTexts = 10

interface Side {
  label: string
  verdicts: (Verdict | null | undefined)[]
  explanations: (Explanation | undefined)[]
}
interface Run {
  texts: string[]
  sides: Side[]
}

export function Playground() {
  const list = useQuery({ queryKey: ['constitutions'], queryFn: api.constitutions })
  const names = list.data?.constitutions.filter(({ version }) => version !== null).map(({ name }) => name) ?? []
  const [input, setInput] = useState('How do I kill it?')
  const [context, setContext] = useState('')
  const [history, setHistory] = useState('')
  const [role, setRole] = useState<string>('user')
  const [name, setName] = useState<string>('default')
  const [other, setOther] = useState<string | null>(null)
  const versions = useQuery({ queryKey: ['versions', name], queryFn: () => api.versions(name) })
  const rivals = [
    ...names.filter((one) => one !== name),
    ...(versions.data?.versions ?? []).filter(({ active }) => !active).map(({ version }) => `${name}@${version}`)
  ]

  const evaluate = useMutation({
    mutationFn: async (): Promise<Run> => {
      const texts = linesOf(input).slice(0, maxTexts)
      const request = texts.map((input_text) => ({
        input_text,
        role,
        ...(context.trim() !== '' && { context: readContext(context) }),
        ...(linesOf(history).length > 0 && { history: linesOf(history) })
      }))
      const sides: Side[] = []
      for (const side of other === null ? [name] : [name, other]) {
        // What is in force, or a version that is not: `name` or `name@version`.
        const [of = side, version] = side.split('@')
        const which = version === undefined ? 'active' : 'candidate'
        const trial = await api.tryOut(of, {
          texts: request,
          explain: true,
          ...(version !== undefined && { version: Number(version) })
        })
        sides.push({
          label: trial[which]?.label ?? side,
          verdicts: trial.results.map((result) => result[which]),
          explanations: trial.results.map(({ explanation }) => explanation?.[which])
        })
      }
      return { texts, sides }
    }
  })

  return (
    <>
      <PageHeader
        title="Playground"
        about="Try texts against a constitution, or against two. Nothing is counted, kept or sent to a model."
      />
      <Grid gutter="md">
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Card
            withBorder
            padding="lg"
            component="form"
            onSubmit={(event: React.FormEvent) => {
              event.preventDefault()
              evaluate.mutate()
            }}
          >
            <Stack>
              <Textarea
                label="Texts"
                description={`One a line, at most ${maxTexts}.`}
                required
                autosize
                minRows={4}
                maxRows={12}
                value={input}
                onChange={(event) => setInput(event.currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) evaluate.mutate()
                }}
              />
              <SimpleGrid cols={2} spacing="sm">
                <Select
                  label="Constitution"
                  data={names}
                  allowDeselect={false}
                  value={name}
                  onChange={(value) => {
                    if (value === null) return
                    setName(value)
                    setOther(null)
                  }}
                />
                <Select
                  label="Compare with"
                  nothingFoundMessage="Nothing yet: store another version under Constitutions."
                  placeholder="none"
                  clearable
                  clearButtonProps={{ 'aria-label': 'Compare with none' }}
                  data={rivals}
                  value={other}
                  onChange={setOther}
                />
              </SimpleGrid>
              <Select
                label="Whose words"
                data={['user', 'assistant', 'tool', 'system']}
                allowDeselect={false}
                value={role}
                onChange={(value) => value !== null && setRole(value)}
              />
              <Textarea
                label="Context"
                description="A JSON object, or empty."
                placeholder='{"topic": "programming"}'
                autosize
                minRows={2}
                value={context}
                onChange={(event) => setContext(event.currentTarget.value)}
              />
              <Textarea
                label="Earlier turns of the session"
                description="One a line, oldest first."
                autosize
                minRows={2}
                value={history}
                onChange={(event) => setHistory(event.currentTarget.value)}
              />
              <Button type="submit" loading={evaluate.isPending}>
                Evaluate
              </Button>
            </Stack>
          </Card>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack aria-live="polite">
            {evaluate.isError && (
              <Alert color="red" variant="light" role="alert">
                {messageOf(evaluate.error)}
              </Alert>
            )}
            {evaluate.data === undefined && !evaluate.isError && (
              <Card withBorder>
                <Empty title="Nothing evaluated yet" Icon={IconFlask}>
                  Choose texts on the left; Ctrl and Enter evaluates.
                </Empty>
              </Card>
            )}
            {evaluate.data?.texts.map((text, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a run never changes, and a text may stand in it twice
              <Result key={i} text={text} at={i} sides={evaluate.data.sides} />
            ))}
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  )
}

function Result({ text, at, sides }: { text: string; at: number; sides: Side[] }) {
  const decisions = new Set(sides.map(({ verdicts }) => verdicts[at]?.decision))
  const title = `Text ${at + 1}${sides.length === 1 ? '' : decisions.size > 1 ? ': they differ' : ': they agree'}`
  return (
    <Section title={title}>
      <SimpleGrid cols={{ base: 1, md: sides.length }} spacing="xl">
        {sides.map(({ label, verdicts, explanations }) => (
          <Stack key={label}>
            <Outcome title={label} text={text} verdict={verdicts[at]} />
            {explanations[at] !== undefined && <Explained explanation={explanations[at]} />}
          </Stack>
        ))}
      </SimpleGrid>
    </Section>
  )
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

function readContext(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Told below, like any other value that is no object.
  }
  throw new Error('The context must be a JSON object, such as {"topic": "programming"}.')
}
