/** One sentence that people read, written anew: its places can be put in by a button, and what is refused is said beside it. */
import { Button, Group, Modal, Select, Stack, Text, Textarea, Tooltip } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { api } from '../api'
import { categories, type Sentence, type Texts } from '../types'
import { categoryName } from './badges'
import { messageOf, tell } from './notify'
import { languageName, occasions, places } from './text-occasions'

interface TextEditorProps {
  texts: Texts
  language: string
  /** Without a category: one for a category that is still to be chosen. */
  sentence: Sentence
  close(): void
}

export function TextEditor({ texts: { texts, version }, language, sentence, close }: TextEditorProps) {
  const client = useQueryClient()
  const isNew = sentence.category === ''
  const [text, setText] = useState(sentence.text)
  const [occasion, setOccasion] = useState(sentence.occasion)
  const [category, setCategory] = useState(sentence.category)
  const field = useRef<HTMLTextAreaElement>(null)
  const save = useMutation({
    mutationFn: (own: string | undefined) =>
      api.putTexts({ texts: changed(texts, language, { ...sentence, occasion, category }, own), version }),
    onSuccess: () => {
      tell('The text is in force; other nodes follow within a second.')
      close()
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['texts'] })
  })
  const known = occasions[occasion]
  const insert = (place: string) => {
    const { selectionStart = text.length, selectionEnd = text.length } = field.current ?? {}
    setText(`${text.slice(0, selectionStart)}{${place}}${text.slice(selectionEnd)}`)
    field.current?.focus()
  }
  const title = isNew
    ? `A sentence for one category, in ${languageName(language)}`
    : `${known?.title ?? occasion}, in ${languageName(language)}`
  return (
    <Modal opened onClose={close} title={title} size="lg" closeOnClickOutside={text === sentence.text}>
      <Stack>
        {isNew && (
          <Group grow align="flex-start">
            <Select
              label="When"
              allowDeselect={false}
              value={occasion}
              onChange={(value) => value !== null && setOccasion(value)}
              data={Object.entries(occasions).map(([value, { title }]) => ({ value, label: title }))}
            />
            <Select
              label="Category"
              searchable
              required
              value={category === '' ? null : category}
              onChange={(value) => setCategory(value ?? '')}
              data={categories.map((value) => ({ value, label: categoryName(value) }))}
            />
          </Group>
        )}
        <Textarea
          ref={field}
          data-autofocus
          label="Sentence"
          description="A line of which a place such as {help} stays empty is left out."
          value={text}
          error={save.error === null ? undefined : messageOf(save.error)}
          onChange={(event) => setText(event.currentTarget.value)}
          autosize
          minRows={4}
          maxLength={2000}
          lang={language}
          dir="auto"
        />
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            Places:
          </Text>
          {(known?.places ?? []).map((place) => (
            <Tooltip key={place} label={places[place]}>
              <Button size="compact-xs" variant="default" ff="monospace" onClick={() => insert(place)}>
                {`{${place}}`}
              </Button>
            </Tooltip>
          ))}
        </Group>
        <Group justify="flex-end">
          {sentence.from === 'api' && (
            <Button variant="default" onClick={() => save.mutate(undefined)}>
              Back to what ships
            </Button>
          )}
          <Button
            loading={save.isPending}
            disabled={text.trim() === '' || category === ''}
            onClick={() => save.mutate(text)}
          >
            Put in force
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

type Written = Texts['texts']

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
