/**
 * What the rows of a page are searched by: of the audit, of samples. The filter stands in the address, so that a search is
 * a link and a chart leads to its rows.
 */
import { Autocomplete, Button, Card, Group, NumberInput, Select, SimpleGrid, Text } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'
import { replacePlace, usePlace } from '../router'
import { type Category, categories, decisions, readers } from '../types'
import { kinds } from './audit-kinds'
import { categoryName } from './badges'
import { instant } from './time'

/** As the API names it. */
type Name =
  | 'kind'
  | 'by'
  | 'subject'
  | 'decision'
  | 'category'
  | 'rule'
  | 'reader'
  | 'route'
  | 'upstream'
  | 'model'
  | 'status'
  | 'code'
  | 'min_score'
  | 'max_score'
  | 'from'
  | 'to'
/** The fields of a search; both ends of the risk are one field. */
type Field = Exclude<Name, 'min_score' | 'max_score' | 'to'> | 'score'
type Filter = Partial<Record<Name, string>>

/** The search of a page. */
export interface Search {
  /** Of the address. */
  page: string
  fields: readonly Field[]
  /** Less common fields: shown on request, or if the address has one of them. */
  more?: readonly Field[]
  /** The default period; `all`: no limit. */
  usual: string
  /** A category that never has rows. */
  without?: Category
}

function namesOf(fields: readonly Field[]): Name[] {
  return fields.flatMap((field): Name[] => {
    if (field === 'score') return ['min_score', 'max_score']
    return field === 'from' ? ['from', 'to'] : [field]
  })
}

/** The periods, as the API takes them. */
const spans = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last day' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: 'all', label: 'All of it' }
]

/** Error codes of calls that failed after they were judged, or that got no verdict. */
const statuses = ['5xx', '4xx', '401', '429', '500', '502', '503', '504']
const codes = ['upstream_error', 'upstream_timeout', 'overloaded', 'evaluator_unavailable']

type Change = (changes: Record<string, string | undefined>) => void

interface Filtering {
  /** The chosen values. */
  filter: Filter
  /** The query for the API. */
  query: Filter
  /** Other parameters of the address stay, unless they are among the changes. */
  change: Change
}

export function useFilter(search: Search): Filtering {
  const { query: given } = usePlace()
  const { page, fields, more = [], usual } = search
  const filter: Filter = {}
  for (const name of namesOf([...fields, ...more])) {
    const value = given.get(name)
    if (value !== null && value !== '') filter[name] = value
  }
  const { from = usual, ...others } = filter
  const change: Change = (changes) => {
    const next = Object.entries({ ...Object.fromEntries(given), ...changes }).filter(([, value]) => value)
    replacePlace(page, Object.fromEntries(next) as Record<string, string>)
  }
  return { filter, query: from === 'all' ? others : { ...others, from }, change }
}

interface Part {
  filter: Filter
  change: Change
}

export function Filters({ search, ...part }: Part & { search: Search }) {
  const { filter, change } = part
  const { fields, more = [], usual, without } = search
  const isAsked = namesOf(more).some((name) => filter[name] !== undefined)
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen || isAsked ? [...fields, ...more] : fields
  const known: Record<Field, ReactNode> = {
    decision: (
      <Chosen
        key="decision"
        name="decision"
        label="Decision"
        data={[{ value: 'stopped', label: 'any but permit' }, ...decisions]}
        {...part}
      />
    ),
    category: (
      <Chosen
        key="category"
        name="category"
        label="Category"
        searchable
        data={categories.filter((one) => one !== without).map((value) => ({ value, label: categoryName(value) }))}
        {...part}
      />
    ),
    rule: <Typed key="rule" name="rule" label="Rule" placeholder="its name" {...part} />,
    reader: (
      <Chosen key="reader" name="reader" label="Found by" placeholder="any reader" data={[...readers]} {...part} />
    ),
    score: (
      <Group key="score" grow gap="xs" wrap="nowrap">
        <Score name="min_score" label="Risk from" {...part} />
        <Score name="max_score" label="to" {...part} />
      </Group>
    ),
    route: <Typed key="route" name="route" label="Route" placeholder="/v1/chat/completions" {...part} />,
    upstream: <Typed key="upstream" name="upstream" label="Upstream" placeholder="its name" {...part} />,
    model: <Typed key="model" name="model" label="Model" placeholder="as named by clients" {...part} />,
    status: <Known key="status" name="status" label="HTTP status" among={statuses} {...part} />,
    code: <Known key="code" name="code" label="Error" among={codes} {...part} />,
    by: <Typed key="by" name="by" label="Key or person" placeholder="key_… or usr_…" {...part} />,
    subject: <Typed key="subject" name="subject" label="Subject" placeholder="id of the affected object" {...part} />,
    kind: <Typed key="kind" name="kind" label="Kind" placeholder="any" among={kinds} {...part} />,
    from: <From key="from" usual={usual} {...part} />
  }
  const { to } = filter
  return (
    <Card withBorder padding="md" mb="md" component="search" aria-label="Filter">
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
        {shown.map((field) => known[field])}
      </SimpleGrid>
      {(more.length > 0 || Object.keys(filter).length > 0) && (
        <Group mt="sm" gap="sm">
          {more.length > 0 && !isAsked && (
            <Button size="compact-sm" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? 'Fewer filters' : 'More filters'}
            </Button>
          )}
          {to !== undefined && <Text size="sm">up to {instant(to)}</Text>}
          {Object.keys(filter).length > 0 && (
            <Button
              size="compact-sm"
              variant="subtle"
              onClick={() => change(Object.fromEntries(namesOf([...fields, ...more]).map((name) => [name, ''])))}
            >
              Clear the filter
            </Button>
          )}
        </Group>
      )}
    </Card>
  )
}

interface ChosenProps extends Part {
  name: Name
  label: string
  placeholder?: string
  searchable?: boolean
  data: (string | { value: string; label: string })[]
}

function Chosen({ name, filter, change, placeholder = 'any', ...field }: ChosenProps) {
  return (
    <Select
      {...field}
      placeholder={placeholder}
      clearable
      value={filter[name] ?? null}
      onChange={(value) => change({ [name]: value ?? '' })}
    />
  )
}

/** A choice of known values; a link may name another. */
function Known({ among, ...field }: Part & { name: 'status' | 'code'; label: string; among: readonly string[] }) {
  const chosen = field.filter[field.name]
  return <Chosen {...field} data={[...new Set(chosen === undefined ? among : [...among, chosen])]} />
}

/** The beginning: a period, or the instant that a link names. */
function From({ filter: { from }, change, usual }: Part & { usual: string }) {
  const isSpan = from === undefined || spans.some(({ value }) => value === from)
  return (
    <Select
      label="From"
      data={isSpan ? spans : [...spans, { value: from, label: instant(from) }]}
      allowDeselect={false}
      value={from ?? usual}
      onChange={(value) => change({ from: value === usual ? '' : (value ?? ''), to: '' })}
    />
  )
}

interface TypedProps extends Part {
  name: Name
  label: string
  placeholder: string
  /** Suggested values; any other may be typed. */
  among?: readonly string[]
}

/** A text field that takes effect once typing stops. */
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

function Score({ name, label, filter, change }: Part & { name: 'min_score' | 'max_score'; label: string }) {
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
