/** A chat as it is written for a run: messages with their roles, and the definitions of tools. */
import { ActionIcon, Button, Group, NativeSelect, Stack, Textarea } from '@mantine/core'
import { IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import type { Message, Said, Speaker } from './settings'
import { speakers } from './settings'

interface ChatProps {
  said: Said
  change(next: Partial<Said>): void
}

export function Chat({ said, change }: ChatProps) {
  const { messages, tools } = said
  const put = (i: number, next: Partial<Message>) =>
    change({ messages: messages.map((message, at) => (at === i ? { ...message, ...next } : message)) })
  const last = messages.at(-1)?.role
  return (
    <Stack gap="sm">
      <Stack component="ol" gap="sm" className="chat-messages" aria-label="Messages">
        {messages.map(({ role, text }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a message has no other name than its place
          <li key={i} className="chat-message" data-role={role}>
            <Group justify="space-between" mb={4} wrap="nowrap">
              <NativeSelect
                size="xs"
                aria-label={`Role of message ${i + 1}`}
                data={[...speakers]}
                value={role}
                onChange={(event) => put(i, { role: event.currentTarget.value as Speaker })}
              />
              <Group gap={4} wrap="nowrap">
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  disabled={i === 0}
                  aria-label={`Move message ${i + 1} up`}
                  onClick={() => {
                    const moved = [...messages]
                    moved.splice(i - 1, 0, ...moved.splice(i, 1))
                    change({ messages: moved })
                  }}
                >
                  <IconArrowUp size={16} aria-hidden />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  disabled={messages.length === 1}
                  aria-label={`Remove message ${i + 1}`}
                  onClick={() => change({ messages: messages.filter((_, at) => at !== i) })}
                >
                  <IconTrash size={16} aria-hidden />
                </ActionIcon>
              </Group>
            </Group>
            <Textarea
              aria-label={`Message ${i + 1}`}
              autosize
              minRows={2}
              maxRows={10}
              value={text}
              onChange={(event) => put(i, { text: event.currentTarget.value })}
            />
          </li>
        ))}
      </Stack>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => change({ messages: [...messages, { role: last === 'user' ? 'assistant' : 'user', text: '' }] })}
      >
        Add a message
      </Button>
      <Textarea
        label="Tools"
        description="JSON definitions, as in a request; their texts are judged too."
        placeholder='[{"type": "function", "function": {"name": "search", "description": "…"}}]'
        autosize
        minRows={2}
        maxRows={8}
        className="monospace"
        value={tools}
        onChange={(event) => change({ tools: event.currentTarget.value })}
      />
    </Stack>
  )
}
