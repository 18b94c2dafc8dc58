/** One sample: its text with the findings marked. The audit records each view, so a text is loaded only on request. */
import { Alert, Badge, Button, Code, Divider, Group, Stack, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import type { SampleDetail } from '../types'
import { CategoryBadge, DecisionBadge, Risk } from './badges'
import { MarkedText } from './marked-text'
import { useMay } from './may'
import { useNames } from './names'
import { messageOf } from './notify'
import { instant } from './time'
import { Waiting } from './view'

export function SampleView({ id }: { id: string }) {
  const [isWhole, setWhole] = useState(false)
  const redact = isWhole ? '' : 'personal_data'
  const sample = useQuery({
    queryKey: ['samples', 'one', id, redact],
    queryFn: () => api.sample(id, redact),
    // One request each time somebody opens the sample.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: false,
    gcTime: 0,
    retry: false
  })
  return (
    <Stack gap="md">
      <Switch
        label="Show personal data"
        description="The audit records each view of a sample, and whether personal data was shown."
        checked={isWhole}
        onChange={(event) => setWhole(event.currentTarget.checked)}
      />
      {sample.data !== undefined ? (
        <Whole sample={sample.data} />
      ) : sample.isError ? (
        <Alert color="red" variant="light" role="alert">
          {messageOf(sample.error)}
        </Alert>
      ) : (
        <Waiting rows={4} />
      )}
    </Stack>
  )
}

function Whole({ sample }: { sample: SampleDetail }) {
  const nameOf = useNames()
  const { decision, risk_score, categories, context, parts, detections, matched_rules, is_cut } = sample
  // Fields that say how to answer a call are of little use here.
  const said = parts
    .map((part, i) => ({ ...part, i }))
    .filter(({ role, text }) => role !== 'parameter' || text.length > 60)
  return (
    <Stack gap="md">
      <Group gap="sm">
        <DecisionBadge decision={decision} />
        <Risk score={risk_score} />
        {categories.map((category) => (
          <CategoryBadge key={category} category={category} />
        ))}
      </Group>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {instant(sample.created_at)} · {nameOf(sample.key_id)} · {sample.route} · {sample.policy}
        {sample.model !== null && ` · ${sample.model}`}
      </Text>
      {said.map(({ role, text, i }) => (
        <div key={i}>
          <Badge variant="default" size="sm" tt="none" mb={4}>
            {role}
          </Badge>
          <MarkedText text={text} detections={detections.filter(({ part }) => part === i)} bearing={matched_rules} />
        </div>
      ))}
      {is_cut && <Text size="sm">The text was longer: a sample keeps only part of it.</Text>}
      {context !== null && Object.keys(context).length > 0 && (
        <div>
          <Divider label="Context" labelPosition="left" mb={6} />
          <Code block fz={12}>
            {JSON.stringify(context, null, 2)}
          </Code>
        </div>
      )}
    </Stack>
  )
}

/** The sample of a verdict, loaded on request, for users who may read samples. */
export function SampleOf({ evaluation }: { evaluation: string }) {
  const mayRead = useMay('samples:read')
  const [isOpen, setOpen] = useState(false)
  const found = useQuery({
    queryKey: ['samples', 'of', evaluation],
    queryFn: () => api.samples({ evaluation_id: evaluation, limit: 1, from: '366d' }),
    enabled: mayRead && isOpen
  })
  if (!mayRead) return null
  const sample = found.data?.samples[0]
  return (
    <Stack gap="sm" mb="md">
      {!isOpen ? (
        <Button variant="default" onClick={() => setOpen(true)}>
          Show the text
        </Button>
      ) : sample !== undefined ? (
        <SampleView id={sample.sample_id} />
      ) : found.isError ? (
        <Text size="sm">{messageOf(found.error)}</Text>
      ) : found.isPending ? (
        <Waiting rows={2} />
      ) : (
        <Text size="sm" c="dimmed">
          No text is stored for it.
        </Text>
      )}
    </Stack>
  )
}
