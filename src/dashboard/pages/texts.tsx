/** What people read in the place of what is stopped: the sentences of a language, whose they are, and one's own. */
import { Badge, Button, Card, Code, Group, SegmentedControl, Select, Stack, Table, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { categoryName } from '../components/badges'
import { DataTable } from '../components/data-table'
import { useMay } from '../components/may'
import { TextEditor } from '../components/text-editor'
import { HelpByRegion } from '../components/text-help'
import { languageName, occasions } from '../components/text-occasions'
import { Loaded, PageHeader } from '../components/view'
import type { Sentence } from '../types'

const whose = { shipped: 'shipped', api: 'yours', configuration: 'configuration' } as const
const audiences = [
  { value: 'end_user', label: 'End users' },
  { value: 'developer', label: 'Developers' }
]

export function Texts() {
  const [language, setLanguage] = useState('en')
  const [audience, setAudience] = useState<string>('end_user')
  const [editing, setEditing] = useState<Sentence>()
  const mayWrite = useMay('constitutions:write')
  const query = useQuery({
    queryKey: ['texts', language],
    queryFn: () => api.texts(language),
    placeholderData: (old) => old
  })
  return (
    <>
      <PageHeader
        title="Texts"
        about="What people read in the place of what is stopped: end users in the conversation, developers in errors."
      />
      <Loaded query={query}>
        {(texts) => {
          const shown = texts.sentences.filter((one) => one.audience === audience)
          return (
            <Stack>
              <Group justify="space-between" align="flex-end">
                <Group align="flex-end">
                  <SegmentedControl
                    aria-label="Who reads it"
                    data={audiences}
                    value={audience}
                    onChange={setAudience}
                  />
                  <Select
                    aria-label="Language"
                    w={220}
                    searchable
                    allowDeselect={false}
                    value={language}
                    onChange={(value) => value !== null && setLanguage(value)}
                    data={texts.languages.map((value) => ({ value, label: languageName(value) }))}
                  />
                </Group>
                {mayWrite && (
                  <Button
                    variant="default"
                    leftSection={<IconPlus size={16} aria-hidden />}
                    onClick={() =>
                      setEditing({
                        audience: audience as Sentence['audience'],
                        occasion: 'forbid',
                        category: '',
                        text: '',
                        from: 'shipped'
                      })
                    }
                  >
                    For one category
                  </Button>
                )}
              </Group>
              <Card withBorder padding={0}>
                {shown.length === 0 ? (
                  <Text p="md" size="sm" c="dimmed">
                    Nothing is written for them in {languageName(language)}: they read English.
                  </Text>
                ) : (
                  <DataTable
                    label={`Texts in ${languageName(language)}`}
                    columns={['When', 'Sentence', 'Whose', { name: 'Actions', as: 'unseen' }]}
                    minWidth={680}
                    horizontalSpacing="md"
                    verticalSpacing="sm"
                  >
                    {shown.map((one) => (
                      <Table.Tr key={`${one.occasion}/${one.category}`} style={{ verticalAlign: 'top' }}>
                        <Table.Td w={190}>
                          <div>
                            <Text size="sm" fw={600}>
                              {occasions[one.occasion]?.title ?? one.occasion}
                            </Text>
                            <Text size="xs" c="dimmed">
                              {one.category === 'default' ? 'every category' : categoryName(one.category)}
                            </Text>
                          </div>
                        </Table.Td>
                        <Table.Td>
                          <Text size="sm" lang={language} dir="auto" className="sentence">
                            <WithPlaces text={one.text} />
                          </Text>
                        </Table.Td>
                        <Table.Td w={130}>
                          <Badge color={one.from === 'shipped' ? 'gray' : 'teal'} variant="light" className="readable">
                            {whose[one.from]}
                          </Badge>
                        </Table.Td>
                        <Table.Td w={100} ta="right">
                          {mayWrite && one.from !== 'configuration' && (
                            <Button
                              size="xs"
                              variant="default"
                              aria-label={`Change: ${occasions[one.occasion]?.title ?? one.occasion}, ${one.category}`}
                              onClick={() => setEditing(one)}
                            >
                              Change
                            </Button>
                          )}
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </DataTable>
                )}
              </Card>
              <HelpByRegion texts={texts} mayWrite={mayWrite} />
              {editing !== undefined && (
                <TextEditor texts={texts} language={language} sentence={editing} close={() => setEditing(undefined)} />
              )}
            </Stack>
          )
        }}
      </Loaded>
    </>
  )
}

/** A sentence whose places stand out from its words. */
function WithPlaces({ text }: { text: string }) {
  return text.split(/(\{[a-z]+\})/).map((piece, i) =>
    /^\{[a-z]+\}$/.test(piece) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in its order
      <Code key={i} fz={12}>
        {piece}
      </Code>
    ) : (
      piece
    )
  )
}
