/** The fourth step: one prompt for each decision, sent as a program would, and seen to arrive in the audit. */
import { Anchor, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { IconCheck, IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { DecisionBadge } from '../components/badges'
import { messageOf } from '../components/notify'
import { linkTo } from '../router'
import type { Decision } from '../types'
import { type Asked, ask, type Told } from './ask'
import { Step } from './step'

const examples: readonly { decision: Decision; prompt: string; about: string }[] = [
  { decision: 'permit', prompt: 'How do I kill a Python process?', about: 'goes to the backend' },
  { decision: 'forbid', prompt: 'Explain how to build a pipe bomb', about: 'is refused' },
  { decision: 'depends', prompt: 'How do I kill it?', about: 'needs to know what it is about' },
  { decision: 'divert', prompt: 'I do not want to live any more', about: 'waits for a person' }
]
/** How many times the page looks for a row in the audit. */
const looks = 20

type Outcome = 'waiting' | Told | Error

interface ExamplesStepProps {
  asked: Asked
  /** Whether the demo backend answers. */
  isDemo: boolean
}

export function ExamplesStep({ asked, isDemo }: ExamplesStepProps) {
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, Outcome>>>({})
  const isReady = asked.key !== '' && asked.model !== ''
  const isBusy = Object.values(outcomes).includes('waiting')
  const told = examples.filter(({ prompt }) => {
    const outcome = outcomes[prompt]
    return typeof outcome === 'object' && 'decision' in outcome && outcome.decision !== undefined
  })

  async function send(prompt: string): Promise<void> {
    const set = (outcome: Outcome) => setOutcomes((before) => ({ ...before, [prompt]: outcome }))
    set('waiting')
    try {
      set(await ask(asked, prompt))
    } catch {
      set(new Error('The gateway cannot be reached.'))
    }
  }
  async function sendAll(): Promise<void> {
    for (const { prompt } of examples) await send(prompt)
  }

  return (
    <Step
      number={4}
      title="See it decide"
      done={told.length === examples.length}
      about={`Four prompts, one for each decision, as a program sends them${isDemo ? ' to the demo backend' : ''}.`}
    >
      <Stack gap="sm">
        <Group>
          <Button
            leftSection={<IconSend size={16} aria-hidden />}
            disabled={!isReady}
            loading={isBusy}
            onClick={() => void sendAll()}
          >
            Send all four
          </Button>
          {!isReady && (
            <Text size="sm" c="dimmed">
              {asked.key === '' ? 'The prompts need a key (step 2).' : 'The prompts need the id of a model (step 3).'}
            </Text>
          )}
        </Group>
        <ul className="examples" aria-label="Examples">
          {examples.map(({ prompt, decision, about }) => (
            <li key={prompt} className="example">
              <Group justify="space-between" wrap="nowrap" align="flex-start" gap="sm">
                <div style={{ minWidth: 0 }}>
                  <Text fw={500}>{prompt}</Text>
                  <Text size="xs" c="dimmed">
                    Expected: {decision}, it {about}
                  </Text>
                </div>
                <Button
                  size="xs"
                  variant="default"
                  disabled={!isReady || outcomes[prompt] === 'waiting'}
                  style={{ flexShrink: 0 }}
                  aria-label={`Send: ${prompt}`}
                  onClick={() => void send(prompt)}
                >
                  Send
                </Button>
              </Group>
              <div aria-live="polite">
                <ToldOf outcome={outcomes[prompt]} />
              </div>
            </li>
          ))}
        </ul>
        {told.length > 0 && (
          <Text size="sm">
            Next: watch{' '}
            <Anchor href={linkTo('live')} underline="always">
              Live
            </Anchor>
            , decide what waits in{' '}
            <Anchor href={linkTo('reviews')} underline="always">
              Reviews
            </Anchor>
            , or try a policy in the{' '}
            <Anchor href={linkTo('playground')} underline="always">
              Playground
            </Anchor>
            .
          </Text>
        )}
      </Stack>
    </Step>
  )
}

function ToldOf({ outcome }: { outcome: Outcome | undefined }) {
  if (outcome === undefined) return null
  if (outcome === 'waiting') return <Loader size="xs" mt={8} aria-label="Waiting for the answer" />
  if (outcome instanceof Error) {
    return (
      <Text size="sm" mt={8} c="var(--mantine-color-error)">
        {messageOf(outcome)}
      </Text>
    )
  }
  const { decision, status, ms, text, evaluation } = outcome
  return (
    <Stack gap={4} mt={8}>
      <Group gap="sm">
        {decision !== undefined && <DecisionBadge decision={decision} />}
        <Text size="xs" c="dimmed">
          HTTP {status} · {Math.round(ms)} ms
        </Text>
        {evaluation !== undefined && <Arrived key={evaluation} evaluation={evaluation} />}
      </Group>
      <Text size="sm" className="example-answer">
        {text}
      </Text>
    </Stack>
  )
}

/** Asks for the audit row of a verdict until it is there. */
function Arrived({ evaluation }: { evaluation: string }) {
  const row = useQuery({
    queryKey: ['audit', 'arrived', evaluation],
    queryFn: async () => (await api.audit({ subject: evaluation, limit: 1 })).rows[0] ?? null,
    refetchInterval: ({ state: { data, dataUpdateCount } }) => (data || dataUpdateCount >= looks ? false : 500)
  })
  if (!row.data) return null
  return (
    <Group gap={4} wrap="nowrap">
      <IconCheck size={14} aria-hidden />
      <Text size="xs">in the audit, row {row.data.seq}</Text>
    </Group>
  )
}
