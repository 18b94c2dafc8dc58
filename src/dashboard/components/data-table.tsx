/** A table with a head, which scrolls sideways where the page is narrow, by the keyboard too. */
import { Table, type TableProps } from '@mantine/core'
import type { ReactNode } from 'react'

/** `end`: numbers, one under the other. `unseen`: a column of buttons, named for those who hear the page. */
type Column = string | { name: string; as: 'end' | 'unseen' }

interface DataTableProps extends Omit<TableProps, 'data'> {
  /** Names the table for those who hear the page. */
  label: string
  columns: readonly Column[]
  /** Pixels below which the table scrolls. */
  minWidth: number
  /** Pixels beyond which it scrolls downwards. */
  maxHeight?: number
  /** The rows. */
  children: ReactNode
}

export function DataTable({ label, columns, minWidth, maxHeight, children, ...table }: DataTableProps) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      {...(maxHeight !== undefined && { mah: maxHeight })}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': label, role: 'region' } }}
    >
      <Table {...table}>
        <Table.Thead>
          <Table.Tr>{columns.map(head)}</Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function head(column: Column) {
  if (typeof column === 'string') return <Table.Th key={column}>{column}</Table.Th>
  const { name, as } = column
  return as === 'end' ? (
    <Table.Th key={name} ta="right">
      {name}
    </Table.Th>
  ) : (
    <Table.Th key={name}>
      <span className="visually-hidden">{name}</span>
    </Table.Th>
  )
}
