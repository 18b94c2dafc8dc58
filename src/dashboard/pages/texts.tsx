/** What people read in the place of what is stopped: the sentences of a language, whose they are, and one's own. */
import { Badge, Button, Card, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { SortedTable } from '../components/data-table'
import { useMay } from '../components/may'
import { messageOf, tell } from '../components/notify'
import { SentenceText, scopeName, TextEditor, type Written } from '../components/text-editor'
import { HelpByRegion } from '../components/text-help'
import { LanguageChoice } from '../components/text-language'
import { audienceNames, languageName, occasions, toldAt } from '../components/text-occasions'
import { Loaded, PageHeader, Section } from '../components/view'
import type { Sentence, Texts as TextsInForce } from '../types'

type Own = TextsInForce['texts']
type Audience = Sentence['audience']

const whose = { shipped: 'shipped', api: 'yours', configuration: 'configuration' } as const

export function Texts() {
  const client = useQueryClient()
  const [language, setLanguage] = useState('en')
  const [audience, setAudience] = useState<Audience>('end_user')
  const [editing, setEditing] = useState<{ sentence: Written; isNew: boolean; isOwn: boolean }>()
  const mayWrite = useMay('constitutions:write')
  const query = useQuery({
    queryKey: ['texts', language],
    queryFn: () => api.texts(language),
    placeholderData: (old) => old
  })
  const save = useMutation({
    mutationFn: (texts: Own) => api.putTexts({ texts, version: query.data!.version }),
    onSuccess: () => {
      tell('In force; other nodes follow within a second.')
      setEditing(undefined)
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['texts'] })
  })
  const begin = (next: NonNullable<typeof editing>) => {
    save.reset()
    setEditing(next)
  }
  const refusal = save.error === null ? undefined : messageOf(save.error)
  return (
    <>
      <PageHeader
        title="Texts"
        about="The texts that people read instead of stopped content: end users in the conversation, developers in errors. A constitution may have its own texts, which take precedence."
      />
      <Loaded query={query}>
        {({ texts, languages, sentences }) => {
          const shown = sentences.filter((one) => one.audience === audience)
          const told = toldAt(shown)
          return (
            <Stack>
              <Group justify="space-between" align="flex-end">
                <Group align="flex-end">
                  <SegmentedControl
                    aria-label="Who reads it"
                    data={audienceNames}
                    value={audience}
                    onChange={(value) => setAudience(value as Audience)}
                  />
                  <LanguageChoice known={languages} value={language} onChange={setLanguage} />
                </Group>
                {mayWrite && (
                  <Button
                    variant="default"
                    leftSection={<IconPlus size={16} aria-hidden />}
                    onClick={() => {
                      const sentence = {
                        occasion: 'forbid',
                        category: 'default',
                        text: told('forbid', 'default') ?? ''
                      }
                      begin({ sentence, isNew: true, isOwn: false })
                    }}
                  >
                    Write a sentence
                  </Button>
                )}
              </Group>
              <Card withBorder padding={0}>
                {shown.length === 0 ? (
                  <Text p="md" size="sm" c="dimmed">
                    Nothing is written for them in {languageName(language)}: they read English.
                  </Text>
                ) : (
                  <SortedTable
                    label={`Texts in ${languageName(language)}`}
                    name="texts"
                    rows={shown}
                    worths={{
                      When: ({ occasion, category }) => `${occasions[occasion]?.title ?? occasion} ${category}`,
                      Sentence: ({ text }) => text,
                      Whose: ({ from }) => whose[from]
                    }}
                    columns={['When', 'Sentence', 'Whose', { name: 'Actions', as: 'unseen' }]}
                    minWidth={680}
                    horizontalSpacing="md"
                    verticalSpacing="sm"
                  >
                    {(one) => (
                      <Table.Tr key={`${one.occasion}/${one.category}`} style={{ verticalAlign: 'top' }}>
                        <Table.Td w={190}>
                          <div>
                            <Text size="sm" fw={600}>
                              {occasions[one.occasion]?.title ?? one.occasion}
                            </Text>
                            <Text size="xs" c="dimmed">
                              {scopeName(one.category)}
                            </Text>
                          </div>
                        </Table.Td>
                        <Table.Td>
                          <SentenceText text={one.text} language={language} />
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
                              onClick={() => begin({ sentence: one, isNew: false, isOwn: one.from === 'api' })}
                            >
                              Change
                            </Button>
                          )}
                        </Table.Td>
                      </Table.Tr>
                    )}
                  </SortedTable>
                )}
              </Card>
              <Section title="Help by region">
                <Text size="sm" c="dimmed" maw={760} mb="md">
                  The entry fills the place {'{help}'} for clients whose Accept-Language names the region. Without an
                  entry, people are pointed to emergency services in general. The configuration file takes precedence.
                </Text>
                <HelpByRegion
                  help={texts.help ?? {}}
                  put={
                    mayWrite
                      ? (help) => {
                          const { help: _, ...others } = texts
                          save.mutate(Object.keys(help).length === 0 ? others : { ...others, help })
                        }
                      : undefined
                  }
                  keeps="Put in force"
                  isKeeping={save.isPending && editing === undefined}
                  refusal={editing === undefined ? refusal : undefined}
                />
              </Section>
              {editing !== undefined && (
                <TextEditor
                  language={language}
                  sentence={editing.sentence}
                  isNew={editing.isNew}
                  told={told}
                  keeps="Put in force"
                  keep={(sentence) => save.mutate(changed(texts, language, audience, sentence, sentence.text))}
                  isKeeping={save.isPending}
                  refusal={refusal}
                  remove={
                    editing.isOwn
                      ? {
                          label: 'Back to what ships',
                          run: () => save.mutate(changed(texts, language, audience, editing.sentence))
                        }
                      : undefined
                  }
                  close={() => setEditing(undefined)}
                />
              )}
            </Stack>
          )
        }}
      </Loaded>
    </>
  )
}

/** The texts with one sentence replaced, or taken out. */
function changed(texts: Own, language: string, audience: Audience, { occasion, category }: Written, own?: string): Own {
  const before = texts.languages?.[language]?.[audience]?.[occasion]
  const { [category]: _, ...rest } = typeof before === 'string' ? { default: before } : (before ?? {})
  const byCategory = own === undefined ? rest : { ...rest, [category]: own }
  const { [occasion]: __, ...others } = texts.languages?.[language]?.[audience] ?? {}
  const sentences = Object.keys(byCategory).length === 0 ? others : { ...others, [occasion]: byCategory }
  const ofLanguage = { ...texts.languages?.[language], [audience]: sentences }
  return { ...texts, languages: { ...texts.languages, [language]: ofLanguage } }
}
