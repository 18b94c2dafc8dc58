/** The order of a table's rows, as last chosen in this browser. */
import { useLocalStorage } from '@mantine/hooks'

interface Order {
  column: string
  isDown: boolean
}

/** The current order of the rows, and the columns that can order them. */
export interface Sorting {
  order: Order | undefined
  columns: readonly string[]
  by(column: string): void
}

/** The value that a row is ordered by; rows without a value come last. */
export type Worth = string | number | null | undefined

/**
 * Rows in the order that was last chosen for a table, which this browser remembers.
 * @param table names it, as the label of the table does
 * @param worths by column name: the value that a row is ordered by; rows without a value come last in either direction
 */
export function useSorted<R>(
  table: string,
  rows: readonly R[],
  worths: Readonly<Record<string, (row: R) => Worth>>
): { rows: readonly R[]; sorting: Sorting } {
  const [stored, setOrder] = useStored(table)
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

/** The order of a table, for pages that request its rows from the gateway in that order. */
export function useOrder(table: string): Order | null {
  return useStored(table)[0]
}

function useStored(table: string) {
  return useLocalStorage<Order | null>({
    key: `sluicegate-order-${table}`,
    defaultValue: null,
    getInitialValueInEffect: false
  })
}

function compared(a: Worth, b: Worth, way: 1 | -1): number {
  if (a === null || a === undefined || b === null || b === undefined)
    return Number(a === null || a === undefined) - Number(b === null || b === undefined)
  const difference = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en')
  return difference * way
}
