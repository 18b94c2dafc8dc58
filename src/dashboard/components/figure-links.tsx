/** Figures that lead to the rows of the audit behind them, for those who may read it; plain figures for everyone else. */
import { Anchor, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { linkTo } from '../router'
import { useMay } from './may'

type Filter = Record<string, string>

export function RowsLink({ filter, children }: { filter: Filter; children: ReactNode }) {
  const may = useMay('*')
  if (!may) return children
  return (
    <Anchor
      href={linkTo('audit', filter)}
      inherit
      underline="hover"
      c="inherit"
      title="Show the audit rows of this figure"
    >
      {children}
    </Anchor>
  )
}

interface FigureLinksProps {
  /** Names the list for screen readers. */
  label: string
  figures: readonly { name: string; count: number; filter: Filter }[]
}

/** The figures of a chart as text links, which the keyboard reaches too. */
export function FigureLinks({ label, figures }: FigureLinksProps) {
  return (
    <Group component="ul" aria-label={label} gap="md" mt="xs" mb={0} p={0} style={{ listStyle: 'none' }}>
      {figures.map(({ name, count, filter }) => (
        <Text key={name} component="li" size="xs">
          <RowsLink filter={filter}>
            {name} <b>{count.toLocaleString('en')}</b>
          </RowsLink>
        </Text>
      ))}
    </Group>
  )
}
