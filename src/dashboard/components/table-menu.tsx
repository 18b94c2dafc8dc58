/** The menu of a table: its order and its visible columns. Also works on touch screens, where the head is not shown. */
import { ActionIcon, Button, Checkbox, Popover, Stack, Text } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { Sorting } from './sorting'

interface TableMenuProps {
  /** Of the table. */
  label: string
  /** Those that may be hidden. */
  columns: readonly string[]
  hidden: readonly string[]
  change(hidden: string[]): void
  sorting: Sorting | undefined
}

export function TableMenu({ label, columns, hidden, change, sorting }: TableMenuProps) {
  const name = `Order and columns of ${label}`
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon className="table-menu" variant="subtle" color="gray" size="sm" aria-label={name}>
          <IconAdjustmentsHorizontal size={15} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={name} p="sm">
        {sorting !== undefined && (
          <Stack gap={2} mb="sm" role="group" aria-label="Order by">
            <Text size="xs" c="dimmed" aria-hidden>
              Order by
            </Text>
            {sorting.columns.map((column) => (
              <OrderBy key={column} column={column} sorting={sorting} />
            ))}
          </Stack>
        )}
        <Stack gap={8} role="group" aria-label="Columns">
          <Text size="xs" c="dimmed" aria-hidden>
            Columns
          </Text>
          {columns.map((column) => (
            <Checkbox
              key={column}
              size="xs"
              label={column}
              checked={!hidden.includes(column)}
              onChange={(event) =>
                change(event.currentTarget.checked ? hidden.filter((other) => other !== column) : [...hidden, column])
              }
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

function OrderBy({ column, sorting }: { column: string; sorting: Sorting }) {
  const { order, by } = sorting
  const isChosen = order?.column === column
  const Icon = !isChosen ? IconArrowsSort : order.isDown ? IconArrowDown : IconArrowUp
  return (
    <Button
      size="compact-sm"
      variant={isChosen ? 'light' : 'subtle'}
      color={isChosen ? undefined : 'gray'}
      justify="flex-start"
      leftSection={<Icon size={14} aria-hidden />}
      aria-pressed={isChosen}
      onClick={() => by(column)}
    >
      {column}
      {isChosen && <span className="visually-hidden">{order.isDown ? ', descending' : ', ascending'}</span>}
    </Button>
  )
}
