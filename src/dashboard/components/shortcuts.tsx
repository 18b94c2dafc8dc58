/** The keyboard shortcuts, and the switch to turn them off (WCAG 2.2, 2.1.4). */
import { ActionIcon, Group, Kbd, Popover, Stack, Switch, Text } from '@mantine/core'
import { IconKeyboard } from '@tabler/icons-react'

const keys: [string, string][] = [
  ['j', 'next review'],
  ['k', 'previous review'],
  ['p', 'permit: then a note, then Enter'],
  ['f', 'forbid: then a note, then Enter'],
  ['x', 'select for a bulk decision'],
  ['Esc', 'leave the note']
]

export function Shortcuts({ on, set }: { on: boolean; set(on: boolean): void }) {
  return (
    <Popover position="bottom-end" withArrow trapFocus>
      <Popover.Target>
        <ActionIcon variant="default" size="lg" aria-label="Keyboard shortcuts">
          <IconKeyboard size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={8}>
          <Switch
            label="Single keys act on this page"
            checked={on}
            onChange={(event) => set(event.currentTarget.checked)}
          />
          {keys.map(([key, meaning]) => (
            <Group key={key} gap="sm">
              <Kbd miw={36} ta="center">
                {key}
              </Kbd>
              <Text size="sm">{meaning}</Text>
            </Group>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
