/** A new constitution: laid over one that ships, as a draft that is stored when its author says so. */
import { Button, Modal, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { Loaded } from '../components/view'
import { overlayOf } from './overlay'

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
        ? 'Lower-case letters, digits, _ and -, at most 64 characters.'
        : taken.includes(name)
          ? 'This name is already taken.'
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
                description="Routes refer to the constitution by this name. It cannot be changed later."
                placeholder="support"
                required
                data-autofocus
                value={name}
                error={problem}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <Radio.Group label="Start from" value={over} onChange={setOver}>
                <Stack gap="xs" mt="xs">
                  {data.shipped.map(({ name, description }) => (
                    <Radio key={name} value={name} label={name} description={description} />
                  ))}
                </Stack>
              </Radio.Group>
              <Text size="sm" c="dimmed">
                The new constitution extends the shipped one: whatever you do not change follows it through upgrades. It
                is stored only when you store it, and judges no request until you put it in force and bind a route to
                it.
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
