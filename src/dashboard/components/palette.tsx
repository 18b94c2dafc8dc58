/** Search over pages, keys, reviews, constitutions and people, and for any id in the audit. */
import { Group, Kbd, Modal, ScrollArea, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconGavel, IconHistory, IconKey, IconScale, IconSearch, IconUser } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { api } from '../api'
import type { PageEntry } from '../pages'
import { linkTo } from '../router'
import { categoryName, subjectsOf } from './badges'
import { useKnownExcerpts } from './excerpt'
import { useMay } from './may'

interface Target {
  kind: string
  label: string
  more?: string
  href: string
  Icon: typeof IconKey
}

/** Results of each kind, so that one kind does not push the others off the list. */
const maxOfKind = 6

/** Opens by Ctrl-K, or the button of the head. */
export function Palette({
  pages,
  opened,
  set
}: {
  pages: readonly PageEntry[]
  opened: boolean
  set(open: boolean): void
}) {
  useHotkeys([['mod+K', () => set(!opened)]], [])
  return (
    <Modal.Root opened={opened} onClose={() => set(false)} padding={0} size="lg" yOffset="12vh">
      <Modal.Overlay />
      <Modal.Content aria-label="Search">
        <Modal.Body>
          <Search pages={pages} close={() => set(false)} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function Search({ pages, close }: { pages: readonly PageEntry[]; close(): void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const { targets, isWaiting } = useTargets(pages, text)
  const current = Math.min(at, targets.length - 1)
  const go = (target: Target | undefined) => {
    if (target === undefined) return
    close()
    location.hash = target.href
  }
  useEffect(() => {
    document.getElementById(`${list}-${current}`)?.scrollIntoView({ block: 'nearest' })
  }, [list, current])
  return (
    <>
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        px="md"
        py={6}
        placeholder="Keys, reviews, ids of the audit, constitutions, pages …"
        aria-label="Search for"
        leftSection={<IconSearch size={18} aria-hidden />}
        leftSectionWidth={44}
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={targets.length === 0 ? undefined : `${list}-${current}`}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (step !== 0) {
            event.preventDefault()
            setAt((current + step + targets.length) % Math.max(1, targets.length))
          }
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) go(targets[current])
        }}
      />
      <ScrollArea.Autosize mah="52vh" className="palette">
        <div role="listbox" id={list} aria-label="Found" aria-busy={isWaiting}>
          {targets.map(({ kind, label, more, href, Icon }, i) => (
            <UnstyledButton
              key={`${kind} ${href}`}
              id={`${list}-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === current}
              className="palette-row"
              onMouseMove={() => setAt(i)}
              onClick={() => go(targets[i])}
            >
              <Icon size={18} stroke={1.6} aria-hidden />
              <Text size="sm" className="one-line">
                {label}
              </Text>
              <Text size="xs" c="dimmed" className="one-line" dir="auto">
                {more}
              </Text>
              <Text size="xs" c="dimmed">
                {kind}
              </Text>
            </UnstyledButton>
          ))}
        </div>
        {targets.length === 0 && (
          <Text size="sm" c="dimmed" p="md">
            {isWaiting ? 'Looking …' : 'No match. Type a full id to search the audit.'}
          </Text>
        )}
      </ScrollArea.Autosize>
      <Group gap="md" px="md" py="xs" className="palette-foot" visibleFrom="sm">
        <Text size="xs" c="dimmed">
          <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd> choose
        </Text>
        <Text size="xs" c="dimmed">
          <Kbd size="xs">Enter</Kbd> open
        </Text>
        <Text size="xs" c="dimmed">
          <Kbd size="xs">Esc</Kbd> close
        </Text>
      </Group>
    </>
  )
}

/** An id as the gateway writes them: a short word, a line, letters and digits. */
const anId = /^[a-z]{2,10}_[0-9A-Za-z-]{6,60}$/

function useTargets(pages: readonly PageEntry[], text: string): { targets: Target[]; isWaiting: boolean } {
  const isAdmin = useMay('*')
  const may = { reviews: useMay('pdp:adjudicate'), constitutions: useMay('constitutions:read') }
  const known = { staleTime: 30_000 }
  const keys = useQuery({ queryKey: ['keys'], queryFn: api.keys, enabled: isAdmin, ...known })
  const users = useQuery({ queryKey: ['users'], queryFn: api.users, enabled: isAdmin, ...known })
  const policies = useQuery({
    queryKey: ['constitutions'],
    queryFn: api.constitutions,
    enabled: may.constitutions,
    ...known
  })
  const reviews = useQuery({
    queryKey: ['reviews', 'search'],
    queryFn: () => api.reviews({ limit: 100 }),
    enabled: may.reviews,
    ...known
  })
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const matches = ({ kind, label, more = '', href }: Target) => {
    const said = `${kind} ${label} ${more} ${href}`.toLowerCase()
    return words.every((word) => said.includes(word))
  }
  const id = text.trim()
  const excerptOf = useKnownExcerpts()
  const nameOfKey = new Map(keys.data?.keys.map(({ key_id, name }) => [key_id, name]))
  const kindsOf: Target[][] = [
    pages.map(({ id, label, Icon }) => ({ kind: 'page', label, href: linkTo(id), Icon })),
    (keys.data?.keys ?? []).map(({ name, prefix, key_id, status }) => ({
      kind: 'key',
      label: name,
      more: `${prefix}… · ${key_id} · ${status}`,
      href: linkTo('keys', { find: key_id }),
      Icon: IconKey
    })),
    (reviews.data?.reviews ?? []).map((review) => ({
      kind: 'review',
      label: `${subjectsOf(review).map(categoryName).join(', ') || review.surface}, ${review.status}`,
      // The words come first, because the end of a long line is cut off.
      more: [excerptOf(review), nameOfKey.get(review.key_id) ?? review.key_id, review.review_id]
        .filter(Boolean)
        .join(' · '),
      href: linkTo('reviews', { id: review.review_id }),
      Icon: IconGavel
    })),
    (policies.data?.constitutions ?? []).map(({ name }) => ({
      kind: 'constitution',
      label: name,
      href: linkTo('constitutions', { name }),
      Icon: IconScale
    })),
    (users.data?.users ?? []).map(({ login, role }) => ({
      kind: 'person',
      label: login,
      more: role,
      href: linkTo('people'),
      Icon: IconUser
    }))
  ]
  const found = kindsOf.flatMap((ofKind, i) =>
    // An empty search lists the pages.
    words.length === 0 ? (i === 0 ? ofKind : []) : ofKind.filter(matches).slice(0, maxOfKind)
  )
  if (anId.test(id)) {
    if (may.reviews && id.startsWith('rev_') && !found.some(({ href }) => href.includes(id)))
      found.push({ kind: 'review', label: id, href: linkTo('reviews', { id }), Icon: IconGavel })
    if (isAdmin)
      found.push({
        kind: 'audit',
        label: `Rows about ${id}`,
        href: linkTo('audit', { subject: id }),
        Icon: IconHistory
      })
  }
  return { targets: found, isWaiting: [keys, users, policies, reviews].some(({ isLoading }) => isLoading) }
}
