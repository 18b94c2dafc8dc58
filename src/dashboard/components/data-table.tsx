/**
 * A table with a head, which scrolls sideways where the page is narrow, by the keyboard too. On a phone each row is a block
 * of its own, its cells one under the other with the names of their columns.
 */
import { Table, type TableProps, UnstyledButton } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { CSSProperties, ReactNode } from 'react'

/** `end`: numbers, one under the other. `unseen`: a column of buttons, named for those who hear the page. */
type Column = string | { name: string; as: 'end' | 'unseen' }

interface Order {
  column: string
  isDown: boolean
}

/** How rows are ordered, and by what they can be. */
export interface Sorting {
  order: Order | undefined
  columns: readonly string[]
  by(column: string): void
}

type Worth = string | number | null | undefined

/**
 * Rows in the order that was last chosen for a table, which this browser remembers.
 * @param table names it, as the label of the table does
 * @param worths by the names of columns: what a row is ordered by; what has none comes last, whichever way
 */
export function useSorted<R>(
  table: string,
  rows: readonly R[],
  worths: Readonly<Record<string, (row: R) => Worth>>
): { rows: readonly R[]; sorting: Sorting } {
  const [stored, setOrder] = useLocalStorage<Order | null>({
    key: `sluicegate-order-${table}`,
    defaultValue: null,
    getInitialValueInEffect: false
  })
  const worth = stored === null ? undefined : worths[stored.column]
  const order = worth === undefined || stored === null ? undefined : stored
  const sorted =
    order === undefined || worth === undefined
      ? rows
      : [...rows].sort((a, b) => compared(worth(a), worth(b), order.isDown ? -1 : 1))
  const by = (column: string) => {
    if (order?.column !== column) setOrder({ column, isDown: false })
    else setOrder(order.isDown ? null : { column, isDown: true })
  }
  return { rows: sorted, sorting: { order, columns: Object.keys(worths), by } }
}

function compared(a: Worth, b: Worth, way: 1 | -1): number {
  if (a === null || a === undefined || b === null || b === undefined)
    return Number(a === null || a === undefined) - Number(b === null || b === undefined)
  const difference = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en')
  return difference * way
}

interface DataTableProps extends Omit<TableProps, 'data'> {
  /** Names the table for those who hear the page. */
  label: string
  columns: readonly Column[]
  /** Pixels below which the table scrolls. */
  minWidth: number
  /** Pixels beyond which it scrolls downwards. */
  maxHeight?: number
  sorting?: Sorting
  /** The rows. */
  children: ReactNode
}

export function DataTable({ label, columns, minWidth, maxHeight, sorting, children, ...table }: DataTableProps) {
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
          <Table.Tr>{columns.map((column) => head(column, sorting))}</Table.Tr>
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

function head(column: Column, sorting: Sorting | undefined) {
  const { name, as } = typeof column === 'string' ? { name: column, as: undefined } : column
  if (as === 'unseen') {
    return (
      <Table.Th key={name}>
        <span className="visually-hidden">{name}</span>
      </Table.Th>
    )
  }
  const order = sorting?.order?.column === name ? sorting.order : undefined
  const Icon = order === undefined ? IconArrowsSort : order.isDown ? IconArrowDown : IconArrowUp
  return (
    <Table.Th
      key={name}
      ta={as === 'end' ? 'right' : undefined}
      aria-sort={order === undefined ? undefined : order.isDown ? 'descending' : 'ascending'}
    >
      {sorting?.columns.includes(name) ? (
        <UnstyledButton
          className="sorter"
          data-chosen={order !== undefined || undefined}
          onClick={() => sorting.by(name)}
        >
          {name}
          <Icon size={14} aria-hidden />
        </UnstyledButton>
      ) : (
        name
      )}
    </Table.Th>
  )
}
