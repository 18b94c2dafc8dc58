/** A new constitution: laid over one that ships, as a draft that is stored when its author says so. */
import { Button, Modal, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { Loaded } from '../components/view'
import type { Language } from '../constitution-types'

interface NewConstitutionProps {
  /** Names that are taken, drafts included. */
  taken: string[]
  onClose(): void
  begin(name: string, source: string): void
}

export function NewConstitution({ taken, onClose, begin }: NewConstitutionProps) {
  const language = useQuery({ queryKey: ['language'], queryFn: api.language, staleTime: Number.POSITIVE_INFINITY })
  const [name, setName] = useState('')
  const [over, setOver] = useState('default')
  const problem =
    name === ''
      ? undefined
      : !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)
        ? 'Small letters, digits, _ and -, at most 64.'
        : taken.includes(name)
          ? 'There is one of this name already.'
          : undefined
  return (
    <Modal opened onClose={onClose} title="New constitution" size="lg">
      <Loaded query={language}>
        {(data) => (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              if (name !== '' && problem === undefined) begin(name, overlayOf(data, over, name))
            }}
          >
            <Stack>
              <TextInput
                label="Name"
                description="Routes ask for it by this name. It cannot be changed later."
                placeholder="support"
                required
                data-autofocus
                value={name}
                error={problem}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <Radio.Group label="Begin from" value={over} onChange={setOver}>
                <Stack gap="xs" mt="xs">
                  {data.shipped.map(({ name, description }) => (
                    <Radio key={name} value={name} label={name} description={description} />
                  ))}
                </Stack>
              </Radio.Group>
              <Text size="sm" c="dimmed">
                It is laid over the shipped one: what you do not change follows that one over upgrades. Nothing is
                stored until you store it, and nothing judges until you put it in force and bind a route to it.
              </Text>
              <Button type="submit" disabled={name === '' || problem !== undefined}>
                Begin the draft
              </Button>
            </Stack>
          </form>
        )}
      </Loaded>
    </Modal>
  )
}

/** A shipped overlay is taken as it is, under the new name; of a whole one nothing but that it is extended. */
function overlayOf({ shipped }: Language, over: string, name: string): string {
  const source = shipped.find((one) => one.name === over)?.source ?? ''
  if (/^extends:/m.test(source))
    return source
      .replace(/^(?:#.*\n)+\n?/, `# ${name}, begun from ${over}, which ships.\n\n`)
      .replace(/^name: .*$/m, `name: ${name}`)
      .replace(/^version: .*$/m, "version: '1'")
  return `# ${name}: what differs from ${over}, which it follows over upgrades.

name: ${name}
version: '1'
description: What it is for.
extends: ${over}

# Each word is explained where the pointer rests on it.
# Ctrl and space offers what may stand at a place. For example:
# categories:
#   profanity: { high: forbid, middle: divert }
`
}
