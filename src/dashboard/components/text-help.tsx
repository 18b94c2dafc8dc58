/** Whom a person in crisis can turn to, by region: the content of the place `{help}` in a sentence. */
import { ActionIcon, Button, Group, Stack, Table, Text, Textarea, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { SortedTable } from './data-table'
import { regionName } from './text-occasions'

type Help = Readonly<Record<string, string>>

interface HelpByRegionProps {
  help: Help
  /** Undefined: the list is read-only. */
  put: ((next: Help) => void) | undefined
  /** The label of the button that adds a region. */
  keeps: string
  isKeeping?: boolean
  /** Why the entry was not kept. */
  refusal?: string | undefined
}

export function HelpByRegion({ help, put, keeps, isKeeping = false, refusal }: HelpByRegionProps) {
  const [region, setRegion] = useState('')
  const [text, setText] = useState('')
  const [given, setGiven] = useState<string>()
  const code = region.trim().toLowerCase() === 'default' ? 'default' : region.trim().toUpperCase()
  // The entry is in the list now: clear the fields for the next one.
  if (given !== undefined && help[given] === text.trim()) {
    setGiven(undefined)
    setRegion('')
    setText('')
  }
  const isRegion = code === 'default' || /^[A-Z]{2}$/.test(code)
  return (
    <Stack gap="md">
      {Object.keys(help).length > 0 && (
        <SortedTable
          label="Help by region"
          rows={Object.entries(help)}
          worths={{ Region: ([name]) => regionName(name) }}
          columns={['Region', 'Help', { name: 'Actions', as: 'unseen' }]}
          minWidth={320}
        >
          {([name, said]) => (
            <Table.Tr key={name}>
              <Table.Td w={180}>
                {regionName(name)} {name !== 'default' && `(${name})`}
              </Table.Td>
              <Table.Td>
                <Text size="sm" dir="auto" className="sentence">
                  {said}
                </Text>
              </Table.Td>
              <Table.Td ta="right" w={60}>
                {put !== undefined && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`Remove the help of ${regionName(name)}`}
                    onClick={() => {
                      const { [name]: _, ...rest } = help
                      put(rest)
                    }}
                  >
                    <IconTrash size={16} aria-hidden />
                  </ActionIcon>
                )}
              </Table.Td>
            </Table.Tr>
          )}
        </SortedTable>
      )}
      {put !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (!isRegion || text.trim() === '') return
            setGiven(code)
            put({ ...help, [code]: text.trim() })
          }}
        >
          <Group align="flex-start">
            <TextInput
              label="Region"
              placeholder="DE, or default"
              required
              w={140}
              value={region}
              error={region.trim() === '' || isRegion || region.trim().length < 2 ? undefined : 'DE, US or default'}
              onChange={(event) => setRegion(event.currentTarget.value)}
            />
            <Textarea
              label="Help"
              placeholder="Whom to call, when, and at what cost"
              required
              flex="1 1 240px"
              autosize
              minRows={1}
              maxLength={500}
              dir="auto"
              value={text}
              error={refusal}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button type="submit" variant="default" mt={25} loading={isKeeping}>
              {keeps}
            </Button>
          </Group>
        </form>
      )}
    </Stack>
  )
}
