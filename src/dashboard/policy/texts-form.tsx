/**
 * The constitution's own texts, which people read instead of stopped content. They take precedence over those of the
 * configuration and of the page Texts, which apply everywhere else.
 */
import { Anchor, Button, Group, MultiSelect, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { categoryName } from '../components/badges'
import { SentenceText, scopeName, TextEditor, type Written } from '../components/text-editor'
import { HelpByRegion } from '../components/text-help'
import { LanguageChoice } from '../components/text-language'
import { audienceNames, languageName, occasions, toldAt } from '../components/text-occasions'
import { linkTo } from '../router'
import { categories, type Sentence } from '../types'
import { type Opened, removeValue, setText, setValue, valueAt } from './edits'
import type { FormPart } from './form-part'

type ByLanguage = Record<string, Record<string, Record<string, unknown>>>
interface OwnTexts {
  language?: unknown
  region?: unknown
  help?: Record<string, unknown>
  ask?: unknown
  languages?: ByLanguage
}

export function TextsForm({ opened, change }: FormPart) {
  const own = mapOf(valueAt(opened, ['texts'])) as OwnTexts
  const byLanguage = mapOf(own.languages) as ByLanguage
  const [language, setLanguage] = useState(Object.keys(byLanguage)[0] ?? 'en')
  const [audience, setAudience] = useState<Sentence['audience']>('end_user')
  const [editing, setEditing] = useState<{ sentence: Written; isNew: boolean }>()
  const query = useQuery({ queryKey: ['texts', language], queryFn: () => api.texts(language) })
  const sentences = sentencesOf(mapOf(mapOf(byLanguage[language])[audience]))
  const elsewhere = (query.data?.sentences ?? []).filter((one) => one.audience === audience)
  const told = toldAt([
    ...sentences.map((one): Sentence => ({ ...one, audience, from: 'configuration' })),
    ...elsewhere
  ])
  const place = ['texts', 'languages', language, audience]
  const others = Object.keys(byLanguage).filter((one) => one !== language)
  return (
    <Stack gap="md">
      <Text size="xs" c="dimmed">
        These texts take precedence over those of the configuration and of the page{' '}
        <Anchor href={linkTo('texts')} inherit underline="always">
          Texts
        </Anchor>
        , which apply everywhere else.
      </Text>
      <Group gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="Who reads it"
          data={audienceNames}
          value={audience}
          onChange={(value) => setAudience(value as Sentence['audience'])}
        />
        <LanguageChoice
          size="xs"
          known={[...new Set([...(query.data?.languages ?? ['en']), ...Object.keys(byLanguage)])]}
          value={language}
          onChange={setLanguage}
        />
      </Group>
      {sentences.length === 0 ? (
        <Text size="sm" c="dimmed">
          No sentence of its own for them in {languageName(language)}.
          {others.length > 0 && ` There are some in ${others.map(languageName).join(', ')}.`}
        </Text>
      ) : (
        <Stack gap={0} component="ul" className="own-texts" aria-label="Sentences of its own">
          {sentences.map((one) => {
            const name = `${occasions[one.occasion]?.title ?? one.occasion}, ${scopeName(one.category)}`
            return (
              <li key={`${one.occasion}/${one.category}`}>
                <Group justify="space-between" wrap="nowrap" gap="xs">
                  <Text size="sm" fw={600}>
                    {name}
                  </Text>
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Change: ${name}`}
                    onClick={() => setEditing({ sentence: one, isNew: false })}
                  >
                    Change
                  </Button>
                </Group>
                <SentenceText text={one.text} language={language} />
              </li>
            )
          })}
        </Stack>
      )}
      <Button
        size="xs"
        variant="default"
        style={{ alignSelf: 'flex-start' }}
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => {
          const sentence = { occasion: 'forbid', category: 'default', text: told('forbid', 'default') ?? '' }
          setEditing({ sentence, isNew: true })
        }}
      >
        Write a sentence
      </Button>
      <div>
        <Text size="sm" fw={500} mb={4}>
          Help by region
        </Text>
        <Text size="xs" c="dimmed" mb="xs">
          Whom a person in need can turn to. The entry fills the place {'{help}'}.
        </Text>
        <HelpByRegion
          help={Object.fromEntries(Object.entries(mapOf(own.help)).map(([name, text]) => [name, String(text)]))}
          put={(next) => change(withHelp(opened, next))}
          keeps="Add"
        />
      </div>
      <Group grow align="flex-start">
        <Select
          size="xs"
          label="Usual language"
          placeholder="as elsewhere"
          clearable
          searchable
          value={typeof own.language === 'string' ? own.language : null}
          data={[
            ...new Set([
              ...(query.data?.languages ?? ['en']),
              ...(own.language === undefined ? [] : [String(own.language)])
            ])
          ].map((value) => ({ value, label: languageName(value) }))}
          onChange={(value) => change(put(opened, 'language', value ?? ''))}
        />
        <TextInput
          key={String(own.region ?? '')}
          size="xs"
          label="Usual region"
          placeholder="as elsewhere"
          maxLength={2}
          defaultValue={String(own.region ?? '')}
          onBlur={(event) => {
            const region = event.currentTarget.value.trim().toUpperCase()
            if (region !== String(own.region ?? '')) change(put(opened, 'region', region))
          }}
        />
      </Group>
      <MultiSelect
        size="xs"
        label="Categories in which people are asked what they mean"
        placeholder={Array.isArray(own.ask) && own.ask.length > 0 ? undefined : 'every category'}
        clearable
        value={Array.isArray(own.ask) ? own.ask.map(String) : []}
        data={categories.map((value) => ({ value, label: categoryName(value) }))}
        onChange={(value) =>
          change(value.length === 0 ? removeValue(opened, ['texts', 'ask']) : setValue(opened, ['texts', 'ask'], value))
        }
      />
      {editing !== undefined && (
        <TextEditor
          language={language}
          sentence={editing.sentence}
          isNew={editing.isNew}
          told={told}
          keeps="Write into the draft"
          keep={(sentence) => {
            change(withSentence(opened, place, sentence))
            setEditing(undefined)
          }}
          remove={
            editing.isNew
              ? undefined
              : {
                  label: 'As elsewhere',
                  run() {
                    change(withoutSentence(opened, place, editing.sentence))
                    setEditing(undefined)
                  }
                }
          }
          close={() => setEditing(undefined)}
        />
      )}
    </Stack>
  )
}

function mapOf(value: unknown): Record<string, Record<string, unknown>> {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isMap ? (value as Record<string, Record<string, unknown>>) : {}
}

/** In the order of the occasions, `default` before the categories. */
function sentencesOf(written: Readonly<Record<string, unknown>>): Written[] {
  return Object.keys(occasions).flatMap((occasion) => {
    const sentence = written[occasion]
    if (typeof sentence === 'string') return [{ occasion, category: 'default', text: sentence }]
    const found = mapOf(sentence) as Record<string, unknown>
    return ['default', ...categories].flatMap((category) => {
      const text = found[category]
      return typeof text === 'string' ? [{ occasion, category, text }] : []
    })
  })
}

/** One sentence for all categories stands by itself; beside those of categories it is called `default`. */
function withSentence(opened: Opened, place: readonly string[], { occasion, category, text }: Written): string {
  const path = [...place, occasion]
  const before = valueAt(opened, path)
  const isOne = before === undefined || before === null || typeof before === 'string'
  if (!isOne) return setText(opened, [...path, category], text)
  if (category === 'default') return setText(opened, path, text)
  return setText(
    opened,
    path,
    typeof before === 'string' ? { default: before, [category]: text } : { [category]: text }
  )
}

function withoutSentence(opened: Opened, place: readonly string[], { occasion, category }: Written): string {
  const path = [...place, occasion]
  return removeValue(opened, typeof valueAt(opened, path) === 'string' ? path : [...path, category])
}

function withHelp(opened: Opened, help: Readonly<Record<string, string>>): string {
  return Object.keys(help).length === 0
    ? removeValue(opened, ['texts', 'help'])
    : setText(opened, ['texts', 'help'], help)
}

function put(opened: Opened, name: string, value: string): string {
  return value === '' ? removeValue(opened, ['texts', name]) : setText(opened, ['texts', name], value)
}
