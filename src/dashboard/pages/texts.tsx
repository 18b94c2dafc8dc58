/** What people read in the place of what is stopped: the sentences of a language, whose they are, and one's own. */
import { Badge, Button, Card, Group, Modal, Select, Stack, Table, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { DataTable } from '../components/data-table'
import { useMay } from '../components/may'
import { tell, tellError } from '../components/notify'
import { Loaded, PageHeader } from '../components/view'
import type { Sentence, Texts as TextsRecord } from '../types'

const whose = { shipped: 'ships', api: 'yours', configuration: 'configuration' } as const
const occasions: Readonly<Record<string, string>> = {
  any: 'Whatever happened',
  forbid: 'Refused',
  divert: 'A person decides',
  depends: 'The person is asked',
  unclear: 'Nothing can be asked',
  queue_full: 'The queue is full',
  answer_forbid: 'The answer is withheld',
  answer_divert: 'A person decides over the answer'
}

const names = new Intl.DisplayNames('en', { type: 'language' })
const nameOf = (language: string) => names.of(language) ?? language

export function Texts() {
  const [language, setLanguage] = useState('en')
  const [editing, setEditing] = useState<Sentence>()
  const mayWrite = useMay('constitutions:write')
  const query = useQuery({ queryKey: ['texts', language], queryFn: () => api.texts(language) })
  return (
    <>
      <PageHeader
        title="Texts"
        about="What people read in the place of what is stopped: developers in errors, end users in the conversation."
      />
      <Loaded query={query}>
        {(texts) => (
          <Stack>
            <Select
              label="Language"
              maw={260}
              searchable
              allowDeselect={false}
              value={language}
              onChange={(value) => value !== null && setLanguage(value)}
              data={texts.languages.map((value) => ({ value, label: nameOf(value) }))}
            />
            <Card withBorder padding={0}>
              <DataTable
                label={`Texts in ${nameOf(language)}`}
                columns={['When', 'For', 'Sentence', 'Whose', { name: 'Actions', as: 'unseen' }]}
                minWidth={760}
                horizontalSpacing="md"
                verticalSpacing="sm"
              >
                {texts.sentences.map((one) => (
                  <Table.Tr key={`${one.audience}/${one.occasion}/${one.category}`}>
                    <Table.Td>
                      <Text size="sm">{occasions[one.occasion]}</Text>
                      {one.category !== 'default' && (
                        <Text size="xs" c="dimmed">
                          {one.category}
                        </Text>
                      )}
                    </Table.Td>
                    <Table.Td>{one.audience === 'developer' ? 'developers' : 'end users'}</Table.Td>
                    <Table.Td maw={480} lang={language} dir="auto" style={{ whiteSpace: 'pre-line' }}>
                      {one.text}
                    </Table.Td>
                    <Table.Td>
                      <Badge color={one.from === 'shipped' ? 'gray' : 'teal'} variant="light" className="readable">
                        {whose[one.from]}
                      </Badge>
                    </Table.Td>
                    <Table.Td>
                      {mayWrite && one.from !== 'configuration' && (
                        <Button size="xs" variant="default" onClick={() => setEditing(one)}>
                          Change
                        </Button>
                      )}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
            </Card>
            {editing !== undefined && (
              <Editor texts={texts} language={language} sentence={editing} close={() => setEditing(undefined)} />
            )}
          </Stack>
        )}
      </Loaded>
    </>
  )
}

interface EditorProps {
  texts: TextsRecord
  language: string
  sentence: Sentence
  close(): void
}

function Editor({ texts: { texts, version }, language, sentence, close }: EditorProps) {
  const client = useQueryClient()
  const [text, setText] = useState(sentence.text)
  const save = useMutation({
    mutationFn: (own: string | undefined) => api.putTexts({ texts: changed(texts, language, sentence, own), version }),
    onError: tellError,
    onSuccess: () => {
      tell('The text is in force; other nodes follow within a second.')
      close()
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['texts'] })
  })
  return (
    <Modal opened onClose={close} title={`${occasions[sentence.occasion]}, in ${nameOf(language)}`} size="lg">
      <Stack>
        <Textarea
          label="Sentence"
          description="A line of which a place such as {help} stays empty is left out."
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autosize
          minRows={4}
          lang={language}
          dir="auto"
        />
        <Group justify="flex-end">
          {sentence.from === 'api' && (
            <Button variant="default" onClick={() => save.mutate(undefined)}>
              Back to what ships
            </Button>
          )}
          <Button loading={save.isPending} disabled={text.trim() === ''} onClick={() => save.mutate(text)}>
            Put in force
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

type Written = TextsRecord['texts']

/** The texts with one sentence replaced, or taken out. */
function changed(texts: Written, language: string, { audience, occasion, category }: Sentence, own?: string): Written {
  const before = texts.languages?.[language]?.[audience]?.[occasion]
  const { [category]: _, ...rest } = typeof before === 'string' ? { default: before } : (before ?? {})
  const byCategory = own === undefined ? rest : { ...rest, [category]: own }
  const { [occasion]: __, ...others } = texts.languages?.[language]?.[audience] ?? {}
  const sentences = Object.keys(byCategory).length === 0 ? others : { ...others, [occasion]: byCategory }
  const ofLanguage = { ...texts.languages?.[language], [audience]: sentences }
  return { ...texts, languages: { ...texts.languages, [language]: ofLanguage } }
}
