/** Context: values assumed when a caller sends none, and keys that a caller is asked for. */
import { ActionIcon, Button, Group, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { categoryName } from '../components/badges'
import { removeValue, setValue, valueAt } from './edits'
import type { FormPart } from './form-part'

export function ContextForm({ opened, effective, language, change }: FormPart) {
  const [key, setKey] = useState('')
  const [value, setValueOf] = useState('')
  const own = (valueAt(opened, ['assume']) ?? {}) as Record<string, string>
  const asked = language.categories.filter((category) => effective.categories[category].middle === 'ask')
  return (
    <Stack gap="md">
      <div>
        <Text size="sm" fw={500}>
          Assumed where a caller says nothing
        </Text>
        {Object.keys(effective.assume).length === 0 && (
          <Text size="xs" c="dimmed">
            Nothing. For a coding assistant, `topic: programming` settles “How do I kill it?” without a question.
          </Text>
        )}
        {Object.entries(effective.assume).map(([name, held]) => (
          <Group key={name} gap="xs" mt={4}>
            <Text size="sm" ff="monospace">
              {name}: {held}
            </Text>
            {name in own ? (
              <ActionIcon
                size="sm"
                variant="subtle"
                color="gray"
                aria-label={`Remove ${name}`}
                onClick={() => change(removeValue(opened, ['assume', name]))}
              >
                <IconX size={14} aria-hidden />
              </ActionIcon>
            ) : (
              <Text size="xs" c="dimmed">
                from the base
              </Text>
            )}
          </Group>
        ))}
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (key.trim() === '' || value.trim() === '') return
            change(setValue(opened, ['assume', key.trim()], value.trim()))
            setKey('')
            setValueOf('')
          }}
        >
          <Group gap="xs" mt="xs" align="flex-end">
            <TextInput
              size="xs"
              label="Key"
              placeholder="topic"
              flex={1}
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
            />
            <TextInput
              size="xs"
              label="Value"
              placeholder="programming"
              flex={1}
              value={value}
              onChange={(event) => setValueOf(event.currentTarget.value)}
            />
            <Button size="xs" variant="default" type="submit">
              Add
            </Button>
          </Group>
        </form>
      </div>
      <div>
        <Text size="sm" fw={500} mb={4}>
          Context that is asked for in the middle band
        </Text>
        <Stack gap="xs">
          {asked.map((category) => (
            <TagsInput
              key={category}
              size="xs"
              label={categoryName(category)}
              value={effective.categories[category].context ?? []}
              onChange={(keys) => change(setValue(opened, ['categories', category, 'context'], keys))}
            />
          ))}
        </Stack>
      </div>
    </Stack>
  )
}
