/** The editor of one sentence that people read: buttons insert its places, and a refusal is shown beside the field. */
import { Button, Code, Group, Modal, Select, Stack, Text, Textarea, Tooltip } from '@mantine/core'
import { useRef, useState } from 'react'
import { categories, type Sentence } from '../types'
import { categoryName } from './badges'
import { languageName, occasions, places } from './text-occasions'

/** A sentence, and when it is read. */
export type Written = Pick<Sentence, 'occasion' | 'category' | 'text'>

interface TextEditorProps {
  language: string
  sentence: Written
  /** Whether the occasion and the category are still to be chosen. */
  isNew: boolean
  /** The text used now for another choice: a new sentence starts from it. */
  told(occasion: string, category: string): string | undefined
  /** The label of the button that keeps the sentence. */
  keeps: string
  keep(sentence: Written): void
  isKeeping?: boolean
  /** Why the sentence was not kept. */
  refusal?: string | undefined
  /** Removes the sentence, so that another counts in its place. */
  remove?: { label: string; run(): void } | undefined
  close(): void
}

export function TextEditor({ language, sentence, isNew, told, ...act }: TextEditorProps) {
  const { keeps, keep, isKeeping = false, refusal, remove, close } = act
  const [begun, setBegun] = useState(sentence.text)
  const [text, setText] = useState(sentence.text)
  const [occasion, setOccasion] = useState(sentence.occasion)
  const [category, setCategory] = useState(sentence.category)
  const field = useRef<HTMLTextAreaElement>(null)
  const known = occasions[occasion]
  const choose = (occasion: string, category: string) => {
    setOccasion(occasion)
    setCategory(category)
    if (text !== begun) return
    const next = told(occasion, category) ?? ''
    setBegun(next)
    setText(next)
  }
  const insert = (place: string) => {
    const { selectionStart = text.length, selectionEnd = text.length } = field.current ?? {}
    setText(`${text.slice(0, selectionStart)}{${place}}${text.slice(selectionEnd)}`)
    field.current?.focus()
  }
  const wrong = wrongPlace(text, known?.places ?? [])
  const title = isNew
    ? `A sentence in ${languageName(language)}`
    : `${known?.title ?? occasion}, in ${languageName(language)}`
  return (
    <Modal opened onClose={close} title={title} size="lg" closeOnClickOutside={text === begun}>
      <Stack>
        {isNew && (
          <Group grow align="flex-start">
            <Select
              label="When"
              allowDeselect={false}
              value={occasion}
              onChange={(value) => value !== null && choose(value, category)}
              data={Object.entries(occasions).map(([value, { title }]) => ({ value, label: title }))}
            />
            <Select
              label="Category"
              searchable
              allowDeselect={false}
              value={category}
              onChange={(value) => value !== null && choose(occasion, value)}
              data={['default', ...categories].map((value) => ({ value, label: scopeName(value) }))}
            />
          </Group>
        )}
        <Textarea
          ref={field}
          data-autofocus
          label="Sentence"
          description="A line is left out where one of its places, such as {help}, is empty."
          value={text}
          error={wrong ?? refusal}
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
          {remove !== undefined && (
            <Button variant="default" onClick={remove.run}>
              {remove.label}
            </Button>
          )}
          <Button
            loading={isKeeping}
            disabled={text.trim() === '' || wrong !== undefined}
            onClick={() => keep({ occasion, category, text })}
          >
            {keeps}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Which categories a sentence is for. */
export function scopeName(category: string): string {
  return category === 'default' ? 'every category' : categoryName(category)
}

function wrongPlace(text: string, accepted: readonly string[]): string | undefined {
  for (const [shown, name] of text.matchAll(/\{([^{}]*)\}/g)) {
    if (accepted.includes(name!)) continue
    return `${shown} is no place of this sentence: ${accepted.map((place) => `{${place}}`).join(', ')}.`
  }
  return undefined
}

/** A sentence whose places stand out from its words. */
export function SentenceText({ text, language }: { text: string; language: string }) {
  return (
    <Text size="sm" lang={language} dir="auto" className="sentence">
      {text.split(/(\{[a-z]+\})/).map((piece, i) =>
        /^\{[a-z]+\}$/.test(piece) ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in its order
          <Code key={i} fz={12}>
            {piece}
          </Code>
        ) : (
          piece
        )
      )}
    </Text>
  )
}
