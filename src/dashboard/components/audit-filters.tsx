/** What the audit is searched by. The filter stands in the address, so that a search is a link and a chart leads to its rows. */
import { Autocomplete, Button, Card, Group, NumberInput, Select, SimpleGrid, Text } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { replacePlace, usePlace } from '../router'
import { categories, decisions, readers } from '../types'
import { kinds } from './audit-kinds'
import { categoryName } from './badges'
import { instant } from './time'

/** As the API names them. */
const names = [
  'kind',
  'by',
  'subject',
  'decision',
  'category',
  'rule',
  'reader',
  'route',
  'upstream',
  'model',
  'min_score',
  'max_score',
  'from',
  'to'
] as const
type Name = (typeof names)[number]
export type AuditFilter = Partial<Record<Name, string>>

/** How far back, as the API takes it. */
const spans = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last day' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: 'all', label: 'All of it' }
]
const usual = '7d'

/** The filter in the address, and what changes it there. */
export function useAuditFilter(): [AuditFilter, (changes: AuditFilter) => void] {
  const { query } = usePlace()
  const filter: AuditFilter = {}
  for (const name of names) {
    const value = query.get(name)
    if (value !== null && value !== '') filter[name] = value
  }
  const change = (changes: AuditFilter) => {
    const next = Object.entries({ ...filter, ...changes }).filter(([, value]) => value !== undefined && value !== '')
    replacePlace('audit', Object.fromEntries(next) as Record<string, string>)
  }
  return [filter, change]
}

/** As the API is asked. */
export function queryOf({ from = usual, ...filter }: AuditFilter): AuditFilter {
  return from === 'all' ? filter : { ...filter, from }
}

interface FiltersProps {
  filter: AuditFilter
  change(changes: AuditFilter): void
}

export function AuditFilters({ filter, change }: FiltersProps) {
  const text = { filter, change }
  const isSpan = filter.from === undefined || spans.some(({ value }) => value === filter.from)
  const given = Object.keys(filter).length
  return (
    <Card withBorder padding="md" mb="md" component="search" aria-label="Filter">
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
        <Select
          label="Decision"
          placeholder="any"
          clearable
          data={[{ value: 'stopped', label: 'stopped: any but permit' }, ...decisions]}
          value={filter.decision ?? null}
          onChange={(value) => change({ decision: value ?? '' })}
        />
        <Select
          label="Category"
          placeholder="any"
          clearable
          searchable
          data={categories.map((value) => ({
            value,
            label: categoryName(value)
          }))}
          value={filter.category ?? null}
          onChange={(value) => change({ category: value ?? '' })}
        />
        <Typed name="rule" label="Rule" placeholder="its name" {...text} />
        <Select
          label="Found by"
          placeholder="any reader"
          clearable
          data={[...readers]}
          value={filter.reader ?? null}
          onChange={(value) => change({ reader: value ?? '' })}
        />
        <Group grow gap="xs" wrap="nowrap">
          <Score name="min_score" label="Risk from" {...text} />
          <Score name="max_score" label="to" {...text} />
        </Group>
        <Typed name="route" label="Route" placeholder="/v1/chat/completions" {...text} />
        <Typed name="upstream" label="Upstream" placeholder="its name" {...text} />
        <Typed name="model" label="Model" placeholder="as clients name it" {...text} />
        <Typed name="by" label="Key or person" placeholder="key_… or usr_…" {...text} />
        <Typed name="subject" label="Subject" placeholder="the id of what it was done to" {...text} />
        <Typed name="kind" label="Kind" placeholder="any" among={kinds} {...text} />
        <Select
          label="From"
          data={isSpan ? spans : [...spans, { value: filter.from!, label: instant(filter.from!) }]}
          allowDeselect={false}
          value={filter.from ?? usual}
          onChange={(value) => change({ from: value ?? '', to: '' })}
        />
      </SimpleGrid>
      {(given > 0 || filter.to !== undefined) && (
        <Group mt="sm" gap="sm">
          {filter.to !== undefined && <Text size="sm">up to {instant(filter.to)}</Text>}
          <Button size="compact-sm" variant="subtle" onClick={() => replacePlace('audit', {})}>
            Clear the filter
          </Button>
        </Group>
      )}
    </Card>
  )
}

interface TypedProps extends FiltersProps {
  name: Name
  label: string
  placeholder: string
  /** What is offered; anything else may be typed. */
  among?: readonly string[]
}

/** A text that counts once one has stopped typing. */
function Typed({ name, label, placeholder, among = [], filter, change }: TypedProps) {
  const given = filter[name] ?? ''
  const [text, setText] = useState(given)
  const tell = useDebouncedCallback((value: string) => change({ [name]: value.trim() }), 300)
  // A link, or another field, has changed the address meanwhile.
  useEffect(() => setText((now) => (now.trim() === given ? now : given)), [given])
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      data={[...among]}
      limit={60}
      value={text}
      onChange={(value) => {
        setText(value)
        tell(value)
      }}
    />
  )
}

function Score({ name, label, filter, change }: FiltersProps & { name: 'min_score' | 'max_score'; label: string }) {
  return (
    <NumberInput
      label={label}
      min={0}
      max={1}
      step={0.1}
      decimalScale={2}
      placeholder={name === 'min_score' ? '0' : '1'}
      value={filter[name] ?? ''}
      onChange={(value) => change({ [name]: String(value) })}
    />
  )
}
