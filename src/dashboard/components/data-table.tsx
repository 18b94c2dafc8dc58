/**
 * A table with a head, which scrolls sideways where the page is narrow, by the keyboard too. On a phone each row is a block
 * of its own, its cells one under the other with the names of their columns.
 */
import { Table, type TableProps, UnstyledButton } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { CSSProperties, ReactNode } from 'react'
import { type Sorting, useSorted, type Worth } from './sorting'
import { TableMenu } from './table-menu'

/** `end`: right-aligned numbers. `unseen`: a column of buttons, with a name only for screen readers. */
type Column = string | { name: string; as: 'end' | 'unseen' }

interface DataTableProps extends Omit<TableProps, 'data'> {
  /** Names the table for screen readers. */
  label: string
  /** The name under which this browser remembers the columns. Default: the label. */
  name?: string
  columns: readonly Column[]
  /** Pixels below which the table scrolls. */
  minWidth: number
  /** Height in pixels beyond which it scrolls vertically. */
  maxHeight?: number
  sorting?: Sorting
  /** The rows. */
  children: ReactNode
}

export function DataTable(given: DataTableProps) {
  const { label, name = label, columns, minWidth, maxHeight, sorting, children, ...table } = given
  const [hidden, setHidden] = useLocalStorage<string[]>({
    key: `sluicegate-columns-${name.toLowerCase()}`,
    defaultValue: [],
    getInitialValueInEffect: false
  })
  const titles = columns.map(nameOf)
  // The first column identifies a row, and the column of buttons must stay reachable.
  const optional = titles.slice(1).filter((title) => title !== '')
  const hasMenu = columns.length > 2
  // Read by dashboard.css, where the head is not seen.
  const names = Object.fromEntries(titles.map((title, i) => [`--column-${i + 1}`, JSON.stringify(title)]))
  const places = titles.flatMap((title, i) => (optional.includes(title) && hidden.includes(title) ? [i + 1] : []))
  return (
    <div className="stacking" data-menu={hasMenu || undefined} data-hidden={places.join(' ') || undefined}>
      {hasMenu && <TableMenu label={label} columns={optional} hidden={hidden} change={setHidden} sorting={sorting} />}
      <Table.ScrollContainer
        style={names as CSSProperties}
        minWidth={minWidth}
        {...(maxHeight !== undefined && { mah: maxHeight })}
        // No room is kept for a bar that only shows while it scrolls.
        scrollAreaProps={{
          offsetScrollbars: false,
          viewportProps: { tabIndex: 0, 'aria-label': label, role: 'region' }
        }}
      >
        <Table {...table}>
          <Table.Thead>
            <Table.Tr>{columns.map((column) => head(column, sorting))}</Table.Tr>
          </Table.Thead>
          <Table.Tbody>{children}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  )
}

interface SortedTableProps<R> extends Omit<DataTableProps, 'children' | 'sorting'> {
  rows: readonly R[]
  /** By column name: the value that a row is ordered by. */
  worths: Readonly<Record<string, (row: R) => Worth>>
  /** One row. */
  children(row: R, index: number): ReactNode
}

/** A table of rows that are all there. */
export function SortedTable<R>({ rows, worths, children, ...table }: SortedTableProps<R>) {
  const { label, name = label } = table
  const sorted = useSorted(name.toLowerCase(), rows, worths)
  return (
    <DataTable {...table} sorting={sorted.sorting}>
      {sorted.rows.map(children)}
    </DataTable>
  )
}

/** Empty for a column of buttons, which have their own names. */
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
