/** Whom a person in crisis can turn to, by region: what stands in the place `{help}` of a sentence. */
import { ActionIcon, Button, Group, Stack, Table, Text, Textarea, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import type { Texts } from '../types'
import { DataTable } from './data-table'
import { messageOf, tell, tellError } from './notify'
import { regionName } from './text-occasions'
import { Section } from './view'

export function HelpByRegion({ texts: { texts, version }, mayWrite }: { texts: Texts; mayWrite: boolean }) {
  const client = useQueryClient()
  const [region, setRegion] = useState('')
  const [text, setText] = useState('')
  const help = texts.help ?? {}
  const save = useMutation({
    mutationFn: (next: Record<string, string>) => {
      const { help: _, ...others } = texts
      return api.putTexts({ texts: Object.keys(next).length === 0 ? others : { ...others, help: next }, version })
    },
    onSuccess: () => {
      setRegion('')
      setText('')
      tell('In force; other nodes follow within a second.')
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['texts'] })
  })
  const remove = (name: string) => {
    const { [name]: _, ...rest } = help
    save.mutate(rest, { onError: tellError })
  }
  const code = region.trim().toLowerCase() === 'default' ? 'default' : region.trim().toUpperCase()
  return (
    <Section title="Help by region">
      <Stack gap="md">
        <Text size="sm" c="dimmed" maw={760}>
          It stands in the place {'{help}'}, for the region that the client’s Accept-Language names. Without one, people
          are pointed to emergency services in general. What the configuration file says comes first.
        </Text>
        {Object.keys(help).length > 0 && (
          <DataTable
            label="Help by region"
            columns={['Region', 'Help', { name: 'Actions', as: 'unseen' }]}
            minWidth={420}
          >
            {Object.entries(help).map(([name, said]) => (
              <Table.Tr key={name}>
                <Table.Td w={200}>
                  {regionName(name)} {name !== 'default' && `(${name})`}
                </Table.Td>
                <Table.Td>
                  <Text size="sm" dir="auto" className="sentence">
                    {said}
                  </Text>
                </Table.Td>
                <Table.Td ta="right" w={60}>
                  {mayWrite && (
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={`Remove the help of ${regionName(name)}`}
                      onClick={() => remove(name)}
                    >
                      <IconTrash size={16} aria-hidden />
                    </ActionIcon>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
        {mayWrite && (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              save.mutate({ ...help, [code]: text.trim() })
            }}
          >
            <Group align="flex-start">
              <TextInput
                label="Region"
                placeholder="DE, or default"
                required
                w={160}
                value={region}
                onChange={(event) => setRegion(event.currentTarget.value)}
              />
              <Textarea
                label="Help"
                placeholder="Whom to call, when, at what price"
                required
                flex="1 1 260px"
                autosize
                minRows={1}
                maxLength={500}
                dir="auto"
                value={text}
                error={save.error === null ? undefined : messageOf(save.error)}
                onChange={(event) => setText(event.currentTarget.value)}
              />
              <Button type="submit" variant="default" mt={25} loading={save.isPending}>
                Put in force
              </Button>
            </Group>
          </form>
        )}
      </Stack>
    </Section>
  )
}
