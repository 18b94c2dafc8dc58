/** The rules that use a detector: the minimum confidence, the weight of a match, and whether the rule is on. */
import { Group, NumberInput, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CategoryBadge } from '../components/badges'
import type { EffectiveRule } from '../constitution-types'
import { addTo, clearRuleField, open, ruleIndex, setRuleField, takeFrom, valueAt } from './edits'
import { BackToBase, type FormPart, Own } from './form-part'

export function DetectorsForm(part: FormPart) {
  const { opened, effective, isOverlay, change } = part
  const [wanted, setWanted] = useState('')
  const dropped = list(valueAt(opened, ['without']))
  const rules = effective.rules.filter(({ detector }) => detector !== null)
  const fits = (text: string) => text.toLowerCase().includes(wanted.trim().toLowerCase().replaceAll(' ', '_'))
  const shown = rules.filter(({ name, category, detector }) => fits(`${name} ${category} ${detector}`))
  return (
    <Stack gap="sm">
      <TextInput
        size="xs"
        placeholder="Find by rule, category or detector"
        aria-label="Find a rule"
        value={wanted}
        onChange={(event) => setWanted(event.currentTarget.value)}
      />
      <Stack gap={0} className="form-scroll" tabIndex={0} role="region" aria-label="Rules with a detector">
        {dropped.filter(fits).map((name) => (
          <div key={name} className="form-row">
            <Text size="sm" td="line-through" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Text>
            <Switch
              size="xs"
              checked={false}
              aria-label={`${name} holds`}
              onChange={() => change(takeFrom(opened, 'without', name))}
            />
          </div>
        ))}
        {shown.map((rule) => (
          <DetectorRow key={rule.name} rule={rule} {...part} />
        ))}
        {shown.length === 0 && (
          <Text size="sm" c="dimmed">
            No rule matches.
          </Text>
        )}
      </Stack>
      <Text size="xs" c="dimmed">
        {isOverlay
          ? 'A rule of the base that you switch off is listed under `without`.'
          : 'This constitution extends none: add and remove its rules in the text.'}{' '}
        For the encoder, the minimum confidence sets the share of false alarms: one harmless text in 20 reaches 0.25,
        one in 200 reaches 0.40, one in 1,000 reaches 0.75.
      </Text>
    </Stack>
  )
}

function DetectorRow({ rule, opened, isOverlay, change }: FormPart & { rule: EffectiveRule }) {
  const { name, category, detector, kinds, min_confidence, weight } = rule
  const isOwn = isOverlay && ruleIndex(opened, name) >= 0
  const put = (field: 'min_confidence' | 'weight', before: number | null) => (value: number) => {
    if (value !== before) change(setRuleField(opened, name, field, value))
  }
  return (
    <div className="form-row">
      <div>
        <Group gap={6}>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          {isOwn && <Own />}
        </Group>
        <Group gap={6}>
          <CategoryBadge category={category} />
          <Text size="xs" c="dimmed">
            {detector}
            {kinds === null ? '' : `: ${kinds.slice(0, 4).join(', ')}${kinds.length > 4 ? ', …' : ''}`}
          </Text>
        </Group>
        {isOwn && (
          <BackToBase
            label={`${name}: as in the base`}
            onClick={() => {
              const first = clearRuleField(opened, name, 'min_confidence')
              const again = open(first)
              change(again === undefined ? first : clearRuleField(again, name, 'weight'))
            }}
          />
        )}
      </div>
      <Share
        label="confidence"
        name={`${name}: least confidence`}
        value={min_confidence ?? 0}
        put={put('min_confidence', min_confidence)}
      />
      <Share label="weight" name={`${name}: weight`} value={weight} put={put('weight', weight)} />
      {isOverlay && (
        <Switch
          size="xs"
          checked
          aria-label={`${name} holds`}
          onChange={() => change(addTo(opened, 'without', name))}
        />
      )}
    </div>
  )
}

interface ShareProps {
  label: string
  name: string
  value: number
  put(value: number): void
}

function Share({ label, name, value, put }: ShareProps) {
  return (
    <NumberInput
      key={value}
      size="xs"
      w={86}
      label={label}
      aria-label={name}
      min={0}
      max={1}
      step={0.05}
      decimalScale={3}
      defaultValue={value}
      onBlur={(event) => {
        const given = Number(event.currentTarget.value)
        if (Number.isFinite(given) && given >= 0 && given <= 1) put(given)
      }}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  )
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
