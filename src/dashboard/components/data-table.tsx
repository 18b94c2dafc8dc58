/**
 * A table with a head, which scrolls sideways where the page is narrow, by the keyboard too. On a phone each row is a block
 * of its own, its cells one under the other with the names of their columns.
 */
import { Table, type TableProps } from '@mantine/core'
import type { CSSProperties, ReactNode } from 'react'

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
  // Read by dashboard.css, where the head is not seen.
  const names = Object.fromEntries(columns.map((column, i) => [`--column-${i + 1}`, JSON.stringify(nameOf(column))]))
  return (
    <Table.ScrollContainer
      className="stacking"
      style={names as CSSProperties}
      minWidth={minWidth}
      {...(maxHeight !== undefined && { mah: maxHeight })}
      // No room is kept for a bar that only shows while it scrolls.
      scrollAreaProps={{ offsetScrollbars: false, viewportProps: { tabIndex: 0, 'aria-label': label, role: 'region' } }}
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

/** Empty for buttons, which say themselves what they do. */
function nameOf(column: Column): string {
  return typeof column === 'string' ? column : column.as === 'unseen' ? '' : column.name
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
