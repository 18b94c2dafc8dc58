/** The policies: what is in force, every version, the way from a draft to being in force and back, and which route each one judges. */
import { Badge, Button, Card, Group, Select, SimpleGrid, Skeleton, Tabs, Text } from '@mantine/core'
import { IconEdit, IconHistory, IconPlus, IconRoute } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { api } from '../api'
import { useMay } from '../components/may'
import { useNames } from '../components/names'
import { Ago } from '../components/time'
import { Empty, Loaded, PageHeader } from '../components/view'
import type { Constitution } from '../constitution-types'
import { draftNames, keepDraft, keptDraft } from '../policy/drafts'
import { NewConstitution } from '../policy/new-constitution'
import { whoOf } from '../policy/put-in-force'
import { Routes } from '../policy/routes'
import { Versions } from '../policy/versions'
import { goTo, usePlace } from '../router'

/** The editor is most of the code of this page: it is fetched when a text is opened. */
const Workbench = lazy(async () => ({ default: (await import('../policy/workbench')).Workbench }))

const tabs = ['edit', 'versions', 'routes'] as const
type Tab = (typeof tabs)[number]

export function Constitutions() {
  const list = useQuery({ queryKey: ['constitutions'], queryFn: api.constitutions, refetchInterval: 15_000 })
  const session = useQuery({ queryKey: ['session'], queryFn: api.session })
  const person = session.data?.user?.user_id ?? ''
  const { query } = usePlace()
  const mayWrite = useMay('constitutions:write')
  const [isBeginning, setBeginning] = useState(false)
  return (
    <Loaded query={list}>
      {({ constitutions }) => {
        const known = new Set(constitutions.map(({ name }) => name))
        const drafts = draftNames(person).filter((name) => !known.has(name))
        const wanted = query.get('name')
        const name = wanted !== null && (known.has(wanted) || drafts.includes(wanted)) ? wanted : first(constitutions)
        const tab = tabs.find((one) => one === query.get('tab')) ?? 'edit'
        const show = (next: { name?: string; tab?: Tab; version?: string }) =>
          goTo('constitutions', {
            ...(name !== undefined && { name }),
            ...(tab !== 'edit' && { tab }),
            ...next
          })
        return (
          <>
            <PageHeader
              title="Constitutions"
              about="The policies: what the gateway refuses, asks about or hands to people. Every change is a version; any version can be put back in force."
            >
              <Select
                aria-label="Constitution"
                data={[
                  ...constitutions.map(({ name }) => ({ value: name, label: name })),
                  ...drafts.map((name) => ({ value: name, label: `${name} (draft)` }))
                ]}
                allowDeselect={false}
                value={name ?? null}
                onChange={(value) =>
                  value !== null && goTo('constitutions', { name: value, ...(tab !== 'edit' && { tab }) })
                }
              />
              {mayWrite && (
                <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setBeginning(true)}>
                  New constitution
                </Button>
              )}
            </PageHeader>
            {name === undefined ? (
              <Empty title="There is no constitution">Create one: it extends a shipped constitution.</Empty>
            ) : (
              <One
                key={name}
                name={name}
                person={person}
                constitutions={constitutions}
                tab={tab}
                version={Number(query.get('version')) || undefined}
                show={show}
              />
            )}
            {isBeginning && (
              <NewConstitution
                taken={[...known, ...drafts]}
                onClose={() => setBeginning(false)}
                begin={(name, source) => {
                  keepDraft(person, name, { source, from: null, at: new Date().toISOString() })
                  setBeginning(false)
                  goTo('constitutions', { name })
                }}
              />
            )}
          </>
        )
      }}
    </Loaded>
  )
}

function first(constitutions: Constitution[]): string | undefined {
  return (constitutions.find(({ name }) => name === 'default') ?? constitutions[0])?.name
}

interface OneProps {
  name: string
  person: string
  constitutions: Constitution[]
  tab: Tab
  /** The version that the editor shows; undefined: what is in force, else the latest. */
  version: number | undefined
  show(next: { name?: string; tab?: Tab; version?: string }): void
}

function One({ name, person, constitutions, tab, version: wanted, show }: OneProps) {
  const constitution = constitutions.find((one) => one.name === name)
  const version = constitution && (wanted ?? constitution.version ?? constitution.latest_version)
  return (
    <>
      {constitution !== undefined && <Summary constitution={constitution} />}
      <Tabs value={tab} onChange={(value) => show({ tab: value as Tab })} keepMounted={false} mt="md">
        <Tabs.List mb="md">
          <Tabs.Tab value="edit" leftSection={<IconEdit size={16} aria-hidden />}>
            Edit
          </Tabs.Tab>
          <Tabs.Tab
            value="versions"
            disabled={constitution === undefined}
            leftSection={<IconHistory size={16} aria-hidden />}
          >
            Versions
          </Tabs.Tab>
          <Tabs.Tab value="routes" leftSection={<IconRoute size={16} aria-hidden />}>
            Routes
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="edit">
          <Suspense fallback={<Skeleton height={640} aria-label="Loading" />}>
            {constitution === undefined || version === undefined ? (
              <Workbench
                key={name}
                person={person}
                base={{ name, version: null, source: keptDraft(person, name)?.source ?? '' }}
                isInForce={false}
                onStored={() => show({ tab: 'versions' })}
                onDropped={() => goTo('constitutions')}
              />
            ) : (
              <Stored
                name={name}
                version={version}
                person={person}
                isInForce={version === constitution.version}
                onStored={(stored) => show({ tab: 'edit', version: String(stored) })}
              />
            )}
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          {constitution !== undefined && version !== undefined && (
            <Versions
              constitution={constitution}
              shown={version}
              open={(number) => show({ tab: 'edit', version: String(number) })}
            />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="routes">
          <Routes constitutions={constitutions} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

interface StoredProps {
  name: string
  version: number
  person: string
  isInForce: boolean
  onStored(version: number): void
}

function Stored({ name, version, person, isInForce, onStored }: StoredProps) {
  const source = useQuery({
    queryKey: ['constitution', name, version],
    queryFn: () => api.version(name, version),
    staleTime: Number.POSITIVE_INFINITY
  })
  return (
    <Loaded query={source}>
      {(base) => (
        <Workbench key={`${name}@${version}`} person={person} base={base} isInForce={isInForce} onStored={onStored} />
      )}
    </Loaded>
  )
}

function Summary({ constitution }: { constitution: Constitution }) {
  const nameOf = useNames()
  const routes = useQuery({ queryKey: ['routes'], queryFn: api.routes, staleTime: 10_000 })
  const judged = routes.data?.routes.filter((route) => route.constitution === constitution.name) ?? []
  const {
    version,
    extends: base,
    activated_at,
    activated_by,
    activated_origin,
    versions,
    latest_version
  } = constitution
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <Fact label="In force">
        {version === null ? (
          'nothing yet'
        ) : (
          <Group gap={6}>
            version {version}
            {version < latest_version && (
              <Badge variant="light" color="yellow" size="sm" className="readable" tt="none">
                {latest_version} is stored
              </Badge>
            )}
          </Group>
        )}
      </Fact>
      <Fact label="Since">
        {activated_at === null ? (
          '–'
        ) : (
          <>
            <Ago at={activated_at} /> by {whoOf(activated_by, activated_origin ?? 'file', nameOf)}
          </>
        )}
      </Fact>
      <Fact label="Extends">{base ?? 'none'}</Fact>
      <Fact label="Judges">
        {constitution.name === 'default' ? 'the evaluate endpoint, ' : ''}
        {judged.length === 0 ? 'no route' : judged.length === 1 ? judged[0]!.route : `${judged.length} routes`} ·{' '}
        {versions} {versions === 1 ? 'version' : 'versions'}
      </Fact>
    </SimpleGrid>
  )
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <Card withBorder padding="sm">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" fw={600} component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Card>
  )
}
